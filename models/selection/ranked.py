"""The common face of the selectors that put features in an order."""

from abc import abstractmethod
from numbers import Integral
from typing import Any
from warnings import warn

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from ...features.errors import DataError, ParameterError

TASKS = ("auto", "classification", "regression")


class RankedSelector(SelectorMixin, BaseEstimator):
    """Base of selectors that return an order; subclasses give `_order`.

    Attributes
    ----------
    support_ : ndarray of shape (n_features,), bool
    ranking_ : ndarray of shape (n_features,), int64
        1 for the selected features, then 2, 3, ... for the others in their order; those that the method
        never looked at share the last rank.
    order_ : ndarray of int64
        Features, best first.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    """

    k: int
    task: str

    def fit(self, X, y):
        """Select features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels, or numbers for regression.

        Returns
        -------
        self
        """
        if self.task not in TASKS:
            raise ParameterError(f"task must be one of {TASKS}, got {self.task!r}")
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        k = attainable(self.k, X.shape[1])
        target, classes = self._target(y)
        varying_columns(X)  # complains if there is none
        self.order_ = np.asarray(self._order(X, target, classes, k), dtype=np.int64)
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[self.order_[:k]] = True
        rest = self.order_[k:]
        self.ranking_ = np.full(X.shape[1], len(rest) + 2, dtype=np.int64)
        self.ranking_[self.support_] = 1
        self.ranking_[rest] = np.arange(2, len(rest) + 2)
        return self

    def _target(self, y: np.ndarray) -> tuple[np.ndarray, bool]:
        """Return class numbers and True, or float targets and False."""
        kind = type_of_target(y, input_name="y")
        classes = kind in ("binary", "multiclass") if self.task == "auto" else self.task == "classification"
        if not classes:
            try:
                return np.asarray(y, dtype=np.float64), False
            except ValueError:
                raise DataError("y must be numbers for regression") from None
        if kind not in ("binary", "multiclass"):
            raise DataError(f"y must hold class labels for classification, found {kind} values")
        labels, code = np.unique(y, return_inverse=True)
        if len(labels) < 2:
            raise DataError(f"y must hold at least two classes, got one class: {labels[0]!r}")
        return code, True

    @abstractmethod
    def _order(self, X: np.ndarray, y: np.ndarray, classes: bool, k: int) -> np.ndarray:
        """Return at least k features, best first."""

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def attainable(k: Any, n_features: int) -> int:
    """Return k, or the number of features (with a warning) where that is less."""
    if not isinstance(k, Integral) or isinstance(k, bool) or int(k) < 1:
        raise ParameterError(f"k must be an integer of at least 1, got {k!r}")
    if int(k) > n_features:
        warn(f"k = {k} exceeds the {n_features} features of X; all are kept", stacklevel=3)
    return min(int(k), n_features)


def varying_columns(X) -> np.ndarray:
    """Return the columns that are not constant, of an array or sparse array (n_samples, n_features).

    Raises
    ------
    DataError
        There is none.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    varying = np.flatnonzero(high > low)
    if len(varying) == 0:
        raise DataError("every feature is constant: there is nothing to select by")
    return varying


def descending(scores: np.ndarray) -> np.ndarray:
    """Return the order of scores, largest first, ties by index; what is not a number comes last."""
    return np.argsort(-np.where(np.isnan(scores), -np.inf, scores), kind="stable")


def standardized(X: np.ndarray) -> np.ndarray:
    """Return X with columns of mean 0 and variance 1; constant columns become zero."""
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    deviation[deviation <= 1e-12 * np.abs(mean)] = np.inf
    return (X - mean) / deviation


def one_hot(y: np.ndarray, classes: bool) -> np.ndarray:
    """Return -1/+1 columns for classes (one column for two), or the standardised target as one column."""
    if not classes:
        return standardized(y[:, None])
    n_classes = int(y.max()) + 1
    wanted = np.array([1]) if n_classes == 2 else np.arange(n_classes)
    return np.where(y[:, None] == wanted, 1.0, -1.0)
