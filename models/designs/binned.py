"""Piecewise linear responses on one-byte codes (section 2.5.1).

A value is stored as a code: its position in the feature's own range, in 255 steps. A feature's
response is then a lookup in a table of 256 entries made from its B + 1 knots, and its gradient a
histogram of the residuals over the codes, folded back onto the knots. The N x M(B + 1) matrix of the
paper is never built.

The basis is centred: each knot's mean over the training samples is subtracted, so that a response
function has mean zero and the intercept carries the level. The functions that can be represented are
the same; without it every feature would carry the same constant direction, whose curvature grows
with the number of features and would force tiny steps.
"""

import numpy as np
from numba import njit, prange

from .base import PARALLEL_VISITS, FeatureRows, ResidentDesign

N_CODES = 256
# Rows that share one table: long enough to pay for building it, short enough to share the work.
TABLE_ROWS = 4096


def encode(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Turn values into codes, the position in [low, high] in 255 steps; values outside clamp.

    Parameters
    ----------
    values : ndarray of shape (n_features, n_rows), float
    low, high : ndarray of shape (n_features,), float
        A feature with low == high has the code 0 throughout.

    Returns
    -------
    ndarray of shape (n_features, n_rows), uint8
    """
    codes = np.empty(values.shape, dtype=np.uint8)
    span = high - low
    per_step = np.divide(N_CODES - 1, span, out=np.zeros_like(span, dtype=np.float64), where=span > 0)
    _encode(np.ascontiguousarray(values), np.asarray(low, np.float64), per_step, codes)
    return codes


@njit(cache=True, parallel=True)
def _encode(values, low, per_step, codes):
    for j in prange(values.shape[0]):
        for i in range(values.shape[1]):
            position = (values[j, i] - low[j]) * per_step[j]
            codes[j, i] = np.uint8(min(max(position, 0.0), 255.0) + 0.5)


def knot_weights(n_bins: int) -> np.ndarray:
    """Return u_k at every code, the basis responses, shape (N_CODES, n_bins + 1), float64."""
    position = np.arange(N_CODES) * (n_bins / (N_CODES - 1))
    return np.maximum(0.0, 1 - np.abs(position[:, None] - np.arange(n_bins + 1)))


def knot_means(codes: np.ndarray, n_bins: int, weight: np.ndarray | None = None) -> np.ndarray:
    """Return the mean of each basis function over the rows, shape (n_features, n_bins + 1).

    Parameters
    ----------
    codes : ndarray of shape (n_features, n_rows), uint8
    n_bins : int
    weight : ndarray of shape (n_rows,), optional
        Sample weights of mean one.
    """
    n_rows = codes.shape[1]
    weight = np.ones(n_rows) if weight is None else np.asarray(weight, dtype=np.float64)
    raw = BinnedDesign(codes, n_bins, np.zeros((len(codes), n_bins + 1)))
    return raw.gradient(weight[None] / n_rows, 0, n_rows)[0]


class BinnedDesign(ResidentDesign):
    """Codes in memory, one byte a value.

    Parameters
    ----------
    codes : ndarray of shape (n_features, n_rows), uint8, C order
    n_bins : int
        B, from 1 to 255; a feature has B + 1 coefficients.
    means : ndarray of shape (n_features, n_bins + 1), optional
        Mean of each basis function over all training rows; computed from `codes` by default. A block
        of a larger design takes the means of the whole.
    """

    def __init__(self, codes: np.ndarray, n_bins: int, means: np.ndarray | None = None) -> None:
        self._codes = FeatureRows(codes)
        self.n_features, self.n_rows = codes.shape
        self.block_size = n_bins + 1
        self._weights = knot_weights(n_bins)
        self._knots = np.minimum(np.arange(N_CODES) * n_bins // (N_CODES - 1), n_bins - 1)
        self.means = knot_means(codes, n_bins) if means is None else means

    def keep(self, indices: np.ndarray) -> None:
        self._codes.keep(indices)
        self.n_features = len(indices)
        self.means = self.means[indices]

    def response(self, beta: np.ndarray, intercept: np.ndarray, start: int, stop: int) -> np.ndarray:
        out = np.empty((len(beta), stop - start))
        base = intercept - np.einsum("ojk,jk->o", beta, self.means)
        parallel = self.n_features * (stop - start) >= PARALLEL_VISITS
        kernel = _response_parallel if parallel else _response
        kernel(self._codes.values, self._codes.rows, self._knots, self._weights, beta, base, start, out)
        return out

    def gradient(self, residual: np.ndarray, start: int, stop: int) -> np.ndarray:
        out = np.empty((len(residual), self.n_features, self.block_size))
        parallel = self.n_features * (stop - start) >= PARALLEL_VISITS
        kernel = _gradient_parallel if parallel else _gradient
        kernel(self._codes.values, self._codes.rows, self._knots, self._weights, residual, start, out)
        out -= residual.sum(axis=1)[:, None, None] * self.means
        return out


@njit(cache=True)
def _fill_table(knots, weights, beta, table):
    """table[c] = u(c) . beta: a code touches two neighbouring knots."""
    for c in range(N_CODES):
        k = knots[c]
        table[c] = weights[c, k] * beta[k] + weights[c, k + 1] * beta[k + 1]


@njit(cache=True)
def _respond_rows(codes, rows, knots, weights, beta, start, out):
    """out += responses of all features, one table lookup each."""
    table = np.empty(N_CODES)
    n = len(out)
    for j in range(len(rows)):
        _fill_table(knots, weights, beta[j], table)
        code = codes[rows[j]][start : start + n]
        for i in range(n):
            out[i] += table[code[i]]


@njit(cache=True)
def _response(codes, rows, knots, weights, beta, base, start, out):
    for o in range(out.shape[0]):
        out[o] = base[o]
        _respond_rows(codes, rows, knots, weights, beta[o], start, out[o])


@njit(cache=True, parallel=True)
def _response_parallel(codes, rows, knots, weights, beta, base, start, out):
    n_chunks = (out.shape[1] + TABLE_ROWS - 1) // TABLE_ROWS
    for task in prange(out.shape[0] * n_chunks):
        o, first = task // n_chunks, task % n_chunks * TABLE_ROWS
        chunk = out[o][first : first + TABLE_ROWS]
        chunk[:] = base[o]
        _respond_rows(codes, rows, knots, weights, beta[o], start + first, chunk)


@njit(cache=True)
def _fold_histogram(code, knots, weights, residual, out):
    """out[k] = sum_i residual_i u_k(code_i), by way of a histogram over the codes.

    Two interleaved histograms: equal neighbouring codes then do not wait for each other's sum.
    """
    histogram = np.zeros((2, N_CODES))
    n = len(residual)
    pairs = n - n % 2
    for i in range(0, pairs, 2):
        histogram[0, code[i]] += residual[i]
        histogram[1, code[i + 1]] += residual[i + 1]
    if pairs < n:
        histogram[0, code[n - 1]] += residual[n - 1]
    out[:] = 0.0
    for c in range(N_CODES):
        total = histogram[0, c] + histogram[1, c]
        k = knots[c]
        out[k] += weights[c, k] * total
        out[k + 1] += weights[c, k + 1] * total


@njit(cache=True)
def _gradient(codes, rows, knots, weights, residual, start, out):
    n = residual.shape[1]
    for j in range(len(rows)):
        code = codes[rows[j]][start : start + n]
        for o in range(out.shape[0]):
            _fold_histogram(code, knots, weights, residual[o], out[o, j])


@njit(cache=True, parallel=True)
def _gradient_parallel(codes, rows, knots, weights, residual, start, out):
    n = residual.shape[1]
    for j in prange(len(rows)):
        code = codes[rows[j]][start : start + n]
        for o in range(out.shape[0]):
            _fold_histogram(code, knots, weights, residual[o], out[o, j])
