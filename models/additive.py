"""Fitted models as functions of the input: sums of one-variable responses (equation 12).

Coefficients are in the input's own units; only the selected features are looked at.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .designs.binned import SMALLEST_SPAN


@dataclass(frozen=True)
class LinearModel:
    """f(x) = intercept + sum_j coef_j x_j.

    Attributes
    ----------
    features : ndarray of shape (n_selected,), int64
    coef : ndarray of shape (n_outputs, n_selected), float64
    intercept : ndarray of shape (n_outputs,), float64
    """

    features: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray

    def __call__(self, X) -> np.ndarray:
        """Return f for each row of a dense or sparse `X`, shape (n_samples, n_outputs)."""
        return np.asarray(X[:, self.features] @ self.coef.T + self.intercept)

    def rescaled(self, scale: np.ndarray, shift: np.ndarray) -> "LinearModel":
        """Return scale * f + shift, one scale and shift per output."""
        return LinearModel(self.features, self.coef * scale[:, None], self.intercept * scale + shift)

    def importance(self) -> np.ndarray:
        """Return the norm of each selected feature's coefficients."""
        return np.sqrt(np.sum(self.coef**2, axis=0))


@dataclass(frozen=True)
class PiecewiseModel:
    """f(x) = intercept + sum_j g_j(x_j), with g_j linear between knots (section 2.5.1).

    Attributes
    ----------
    features : ndarray of shape (n_selected,), int64
    low, high : ndarray of shape (n_selected,), float64
        First and last knot; values outside clamp.
    values : ndarray of shape (n_outputs, n_selected, n_bins + 1), float64
        g_j at equally spaced knots, with mean zero over the training samples.
    intercept : ndarray of shape (n_outputs,), float64
    """

    features: np.ndarray
    low: np.ndarray
    high: np.ndarray
    values: np.ndarray
    intercept: np.ndarray

    def knots(self) -> np.ndarray:
        """Return the knots' positions, shape (n_selected, n_bins + 1)."""
        share = np.linspace(0, 1, self.values.shape[2])
        return self.low[:, None] * (1 - share) + self.high[:, None] * share

    def terms(self, X: np.ndarray) -> np.ndarray:
        """Return g_j(x_j), shape (n_outputs, n_samples, n_selected)."""
        n_bins = self.values.shape[2] - 1
        # Half of everything: the difference of two huge numbers would overflow.
        span = self.high / 2 - self.low / 2
        span[span <= SMALLEST_SPAN] = 1.0
        position = np.clip((X[:, self.features] / 2 - self.low / 2) * (n_bins / span), 0, n_bins)
        knot = np.minimum(position.astype(np.int64), n_bins - 1)
        weight = position - knot
        column = np.arange(len(self.features))
        return self.values[:, column, knot] * (1 - weight) + self.values[:, column, knot + 1] * weight

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return f for each row of `X`, shape (n_samples, n_outputs)."""
        return self.terms(X).sum(axis=2).T + self.intercept

    def rescaled(self, scale: np.ndarray, shift: np.ndarray) -> "PiecewiseModel":
        """Return scale * f + shift, one scale and shift per output."""
        values = self.values * scale[:, None, None]
        return PiecewiseModel(self.features, self.low, self.high, values, self.intercept * scale + shift)

    def importance(self) -> np.ndarray:
        """Return the norm of each selected feature's knot values."""
        return np.sqrt(np.sum(self.values**2, axis=(0, 2)))


Model = LinearModel | PiecewiseModel


def is_sparse(X) -> bool:
    """Whether `X` is a SciPy sparse matrix or array."""
    return sparse.issparse(X)
