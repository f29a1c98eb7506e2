"""Weak learners on single variables: all of them fitted by weighted least squares in one pass.

A kind of learner answers three questions: by how much each wanted variable lowers the weighted squared
error (`gains`), what the best one's function is (`fit`), and what the sum of all functions added so far
is (`add`, then read off). Kernels go through `COLUMNS_AT_ONCE` variables by blocks of rows, so that weights
and targets stay in the cache; every thread owns its variables, and sums run in the order of the rows.
"""

from typing import Protocol

import numpy as np
from numba import njit

from .thresholds import (
    COLUMNS_AT_ONCE,
    dense_column_blocks,
    equal_thresholds,
    share_columns,
    threshold_codes,
    value_ranges,
)

_ROWS_AT_ONCE = 2048
_TINY_VARIANCE = 1e-12  # of the second moment: what rounding leaves of a float32 column of one value
"""Share of a variable's second moment below which its variance is rounding error."""


class WeakLearners(Protocol):
    """What `LogitBoost` asks of a kind of weak learner.

    Shared shapes: ``w`` and ``wz`` are float64 of shape (n_samples,), the weights and the weights times
    the targets; ``features`` is int64 of shape (n_wanted,).
    """

    def gains(self, w: np.ndarray, wz: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Return the drop of the weighted squared error below that of a constant, shape (n_wanted,)."""

    def fit(self, feature: int, w: np.ndarray, wz: np.ndarray) -> np.ndarray:
        """Return the parameters of the best function of one variable."""

    def response(self, feature: int, parameters: np.ndarray) -> np.ndarray:
        """Return the function's values on the training rows, shape (n_samples,)."""

    def add(self, output: int, feature: int, parameters: np.ndarray) -> None:
        """Add the function to the sum that belongs to an output."""


class LinearLearners:
    """Straight lines ``a + b x_j`` (the paper's LB and LB1 of section 3.1.2).

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features), float
    n_outputs : int

    Attributes
    ----------
    intercept : ndarray of shape (n_outputs,), float64
    coef : ndarray of shape (n_outputs, n_features), float64, for variables in their own units
    """

    def __init__(self, X, n_outputs: int) -> None:
        low, high = value_ranges(X)
        self._middle = low / 2 + high / 2
        half = high / 2 - low / 2
        self._unit = np.where(half > 0, half, 1.0)
        self._values = _centred_columns(X, self._middle, self._unit)
        self.intercept = np.zeros(n_outputs)
        self.coef = np.zeros((n_outputs, X.shape[1]))

    def gains(self, w: np.ndarray, wz: np.ndarray, features: np.ndarray) -> np.ndarray:
        gains = np.empty(len(features))
        n_samples = self._values.shape[1]
        share_columns(n_samples, len(features), _linear_gains, self._values, features, w, wz, gains)
        return gains

    def fit(self, feature: int, w: np.ndarray, wz: np.ndarray) -> np.ndarray:
        x = self._values[feature].astype(np.float64)
        total, mean = w.sum(), wz.sum() / w.sum()
        centred = x - w @ x / total
        variance = w @ centred**2
        slope = wz @ centred / variance if variance > _TINY_VARIANCE * (w @ x**2) else 0.0
        return np.array([mean - slope * (w @ x) / total, slope])

    def response(self, feature: int, parameters: np.ndarray) -> np.ndarray:
        return parameters[0] + parameters[1] * self._values[feature].astype(np.float64)

    def add(self, output: int, feature: int, parameters: np.ndarray) -> None:
        slope = parameters[1] / self._unit[feature]
        self.coef[output, feature] += slope
        self.intercept[output] += parameters[0] - slope * self._middle[feature]


class ConstantLearners:
    """Piecewise constant functions over equal bins of a variable's range (section 3.3.1).

    A bin without training weight answers zero: the learner says nothing there.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features), float
    n_outputs, n_bins : int

    Attributes
    ----------
    thresholds : ndarray of shape (n_features, n_bins - 1), float64
        Borders between the bins; values outside the training range belong to the first or last bin.
    tables : dict of int to ndarray of shape (n_outputs, n_bins), float64
        The sum of the functions of each variable that was added.
    """

    def __init__(self, X, n_outputs: int, n_bins: int) -> None:
        self.thresholds = equal_thresholds(*value_ranges(X), n_bins - 1)
        self._codes = threshold_codes(X, self.thresholds)
        self._shape = (n_outputs, n_bins)
        self.tables: dict[int, np.ndarray] = {}

    def gains(self, w: np.ndarray, wz: np.ndarray, features: np.ndarray) -> np.ndarray:
        gains = np.empty(len(features))
        n_samples, n_bins = self._codes.shape[1], self._shape[1]
        share_columns(n_samples, len(features), _constant_gains, self._codes, features, w, wz, n_bins, gains)
        # A constant alone explains this much, whatever the variable.
        return gains - wz.sum() ** 2 / w.sum()

    def fit(self, feature: int, w: np.ndarray, wz: np.ndarray) -> np.ndarray:
        codes, n_bins = self._codes[feature], self._shape[1]
        weight = np.bincount(codes, weights=w, minlength=n_bins)
        target = np.bincount(codes, weights=wz, minlength=n_bins)
        return np.divide(target, weight, out=np.zeros(n_bins), where=weight > 0)

    def response(self, feature: int, parameters: np.ndarray) -> np.ndarray:
        return parameters[self._codes[feature]]

    def add(self, output: int, feature: int, parameters: np.ndarray) -> None:
        self.tables.setdefault(int(feature), np.zeros(self._shape))[output] += parameters


def _centred_columns(X, middle: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Return (X - middle) / unit by variables, float32 of shape (n_features, n_samples) in [-1, 1]."""
    values = np.empty(X.shape[::-1], dtype=np.float32)
    for columns, dense in dense_column_blocks(X):
        arguments = dense, middle[columns], unit[columns], values[columns]
        share_columns(len(dense), dense.shape[1], _centre_columns, *arguments)
    return values


@njit(cache=True, nogil=True)
def _centre_columns(X, middle, unit, values, first_chunk, last_chunk):
    """Fill values[j, i] of some chunks of columns of X, which are rows of values."""
    n_samples, n_features = X.shape
    for chunk in range(first_chunk, last_chunk):
        first = chunk * COLUMNS_AT_ONCE
        last = min(first + COLUMNS_AT_ONCE, n_features)
        for i in range(n_samples):
            for j in range(first, last):
                values[j, i] = (X[i, j] - middle[j]) / unit[j]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _linear_gains(values, features, w, wz, gains, first_chunk, last_chunk):
    """Fill gains[c] = cov(x, z)^2 / var(x), weighted, for x = values[features[c]] and some chunks of c.

    Sums may be reordered (fastmath) to run in vector lanes; inputs are finite.
    """
    n_samples = values.shape[1]
    n_wanted = features.shape[0]
    sum_w, sum_wz = w.sum(), wz.sum()
    for chunk in range(first_chunk, last_chunk):
        first = chunk * COLUMNS_AT_ONCE
        last = min(first + COLUMNS_AT_ONCE, n_wanted)
        sums = np.zeros((COLUMNS_AT_ONCE, 3))
        for start in range(0, n_samples, _ROWS_AT_ONCE):
            stop = min(start + _ROWS_AT_ONCE, n_samples)
            block_w, block_wz = w[start:stop], wz[start:stop]
            for c in range(first, last):
                x = values[features[c], start:stop]
                wx = wxx = wxz = 0.0
                for i in range(stop - start):
                    weighted = block_w[i] * x[i]
                    wx += weighted
                    wxx += weighted * x[i]
                    wxz += block_wz[i] * x[i]
                sums[c - first, 0] += wx
                sums[c - first, 1] += wxx
                sums[c - first, 2] += wxz
        for c in range(first, last):
            wx, wxx, wxz = sums[c - first]
            variance = wxx - wx * wx / sum_w
            covariance = wxz - wx * sum_wz / sum_w
            gains[c] = covariance * covariance / variance if variance > _TINY_VARIANCE * wxx else 0.0


@njit(cache=True, nogil=True)
def _constant_gains(codes, features, w, wz, n_bins, gains, first_chunk, last_chunk):
    """Fill gains[c] = sum over bins of (sum of wz)^2 / (sum of w) for the codes of variable features[c]."""
    n_samples = codes.shape[1]
    n_wanted = features.shape[0]
    for chunk in range(first_chunk, last_chunk):
        first = chunk * COLUMNS_AT_ONCE
        last = min(first + COLUMNS_AT_ONCE, n_wanted)
        # Weight and target of a bin lie side by side: one cache line for both additions.
        histograms = np.zeros((COLUMNS_AT_ONCE, n_bins, 2))
        for start in range(0, n_samples, _ROWS_AT_ONCE):
            stop = min(start + _ROWS_AT_ONCE, n_samples)
            # Slices that start at zero spare the loop the checks for negative indices: 1.2, not 1.9 ns.
            block_w, block_wz = w[start:stop], wz[start:stop]
            for c in range(first, last):
                row = codes[features[c], start:stop]
                histogram = histograms[c - first]
                for i in range(stop - start):
                    code = row[i]
                    histogram[code, 0] += block_w[i]
                    histogram[code, 1] += block_wz[i]
        for c in range(first, last):
            gain = 0.0
            for b in range(n_bins):
                weight, target = histograms[c - first, b]
                if weight > 0:
                    gain += target * target / weight
            gains[c] = gain
