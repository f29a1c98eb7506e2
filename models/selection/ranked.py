"""The common face of the selectors that put features in an order."""

from abc import abstractmethod
from numbers import Integral
from typing import Any
from warnings import warn

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

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

    def fit(self, X, y, sample_weight=None):
        """Select features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels, or numbers for regression.
        sample_weight : array-like of shape (n_samples,), optional
            Of the methods that can: an integer is that many repetitions of a sample.

        Returns
        -------
        self
        """
        if self.task not in TASKS:
            raise ParameterError(f"task must be one of {TASKS}, got {self.task!r}")
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        X, y, weight = self._weighted(X, y, sample_weight)
        k = attainable(self.k, X.shape[1])
        target, classes = self._target(y)
        varying_columns(X)  # complains if there is none
        self.order_ = np.asarray(self._order(X, target, classes, k, weight), dtype=np.int64)
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[self.order_[:k]] = True
        rest = self.order_[k:]
        self.ranking_ = np.full(X.shape[1], len(rest) + 2, dtype=np.int64)
        self.ranking_[self.support_] = 1
        self.ranking_[rest] = np.arange(2, len(rest) + 2)
        return self

    def _weighted(self, X, y, sample_weight) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return the samples that weigh something, and what they weigh; None where all weigh the same."""
        if sample_weight is None:
            return X, y, None
        weight = np.asarray(_check_sample_weight(sample_weight, X, ensure_non_negative=True), np.float64)
        counts = weight > 0
        if not counts.any():
            raise DataError("sample_weight is zero for every sample")
        X, y, weight = X[counts], y[counts], weight[counts]
        if np.ptp(weight) == 0:
            return X, y, None
        if not self._takes_weights():
            raise ParameterError(f"{self!r} takes no sample_weight: its method knows none")
        return X, y, weight

    def _takes_weights(self) -> bool:
        """Return whether the method can weigh samples."""
        return False

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
    def _order(
        self, X: np.ndarray, y: np.ndarray, classes: bool, k: int, weight: np.ndarray | None
    ) -> np.ndarray:
        """Return at least k features, best first; the weight is positive, or None for equal ones."""

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


def standardized(X: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Return X with columns of (weighted) mean 0 and variance 1; constant columns become zero."""
    if weight is None:
        mean, deviation = X.mean(axis=0), X.std(axis=0)
    else:
        mean = weight @ X / weight.sum()
        deviation = np.sqrt(weight @ (X - mean) ** 2 / weight.sum())
    deviation[is_constant(deviation, mean)] = np.inf
    return (X - mean) / deviation


def one_hot(y: np.ndarray, classes: bool, weight: np.ndarray | None = None) -> np.ndarray:
    """Return -1/+1 columns for classes (one column for two), or the standardised target as one column."""
    if not classes:
        return standardized(y[:, None], weight)
    return signs(y, int(y.max()) + 1).T
