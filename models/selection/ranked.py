"""The common face of the selectors that put features in an order."""

from abc import abstractmethod
from numbers import Integral
from typing import Any
from warnings import warn

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from ...features.errors import DataError, ParameterError
from ..columns import is_constant, varying_columns
from ..target_kinds import CLASSIFICATION, encode_classes, holds_classes, signs

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
        classes = holds_classes(y) if self.task == "auto" else self.task == CLASSIFICATION
        if not classes:
            try:
                return np.asarray(y, dtype=np.float64), False
            except ValueError:
                raise DataError("y must be numbers for regression") from None
        if not holds_classes(y):
            raise DataError(f"y must hold class labels for classification, found {type_of_target(y)} values")
        return encode_classes(y)[1], True

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


def descending(scores: np.ndarray) -> np.ndarray:
    """Return the order of scores, largest first, ties by index; what is not a number comes last."""
    return np.argsort(-np.where(np.isnan(scores), -np.inf, scores), kind="stable")


def standardized(X: np.ndarray) -> np.ndarray:
    """Return X with columns of mean 0 and variance 1; constant columns become zero."""
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    deviation[is_constant(deviation, mean)] = np.inf
    return (X - mean) / deviation


def one_hot(y: np.ndarray, classes: bool) -> np.ndarray:
    """Return -1/+1 columns for classes (one column for two), or the standardised target as one column."""
    if not classes:
        return standardized(y[:, None])
    return signs(y, int(y.max()) + 1).T
