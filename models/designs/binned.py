"""Piecewise linear responses on one-byte codes (section 2.5.1).

A value is stored as a code: its position in the feature's own range, in 255 steps. A feature's
response is then a lookup in a table of 256 entries made from its B + 1 knots, and its gradient a
histogram of the residuals over the codes, folded back onto the knots. The N x M(B + 1) matrix of the
paper is never built. The basis is centred, see `knots.py`.
"""

import numpy as np
from numba import get_num_threads, njit, prange

from ...features.codes import N_CODES
from ..knots import code_positions, fill_table
from .design import PARALLEL_VISITS, FeatureRows, ResidentDesign

# Rows that share one table: enough to pay for building it, and few enough for every thread to get some.
LEAST_TABLE_ROWS, MOST_TABLE_ROWS = 512, 4096
SPARSE_SHARE = 0.6  # of residuals that are not zero, up to which reading them by index is quicker


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
        self._first_codes, self._position = code_positions(n_bins)
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
        kernel(
            self._codes.values,
            self._codes.rows,
            self._first_codes,
            self._position,
            beta,
            base,
            start,
            _table_rows(stop - start),
            out,
        )
        return out

    def gradient(self, residual: np.ndarray, start: int, stop: int) -> np.ndarray:
        out = np.empty((len(residual), self.n_features, self.block_size))
        parallel = self.n_features * (stop - start) >= PARALLEL_VISITS
        kernel = _gradient_parallel if parallel else _gradient
        for residual_of_one, out_of_one in zip(residual, out, strict=True):
            rows = np.flatnonzero(residual_of_one)
            kernel(
                self._codes.values,
                self._codes.rows,
                self._first_codes,
                self._position,
                residual_of_one,
                rows,
                start,
                out_of_one,
            )
        out -= residual.sum(axis=1)[:, None, None] * self.means
        return out


def _table_rows(n_rows: int) -> int:
    """Rows that share one table; the sums do not depend on it."""
    return min(max(-(-n_rows // get_num_threads()), LEAST_TABLE_ROWS), MOST_TABLE_ROWS)


@njit(cache=True)
def _respond_rows(codes, rows, first_codes, position, beta, start, out):
    """out += responses of all features, one table lookup each, four features a sweep."""
    n = len(out)
    m = len(rows)
    tables = np.empty((4, N_CODES))
    quads = m - m % 4
    for j in range(0, quads, 4):
        for q in range(4):
            fill_table(first_codes, position, beta[j + q], tables[q])
        a = codes[rows[j]][start : start + n]
        b = codes[rows[j + 1]][start : start + n]
        c = codes[rows[j + 2]][start : start + n]
        d = codes[rows[j + 3]][start : start + n]
        for i in range(n):
            out[i] += (tables[0, a[i]] + tables[1, b[i]]) + (tables[2, c[i]] + tables[3, d[i]])
    for j in range(quads, m):
        fill_table(first_codes, position, beta[j], tables[0])
        a = codes[rows[j]][start : start + n]
        for i in range(n):
            out[i] += tables[0, a[i]]


@njit(cache=True)
def _response(codes, rows, first_codes, position, beta, base, start, table_rows, out):
    for o in range(out.shape[0]):
        out[o] = base[o]
        for first in range(0, out.shape[1], table_rows):
            chunk = out[o][first : first + table_rows]
            _respond_rows(codes, rows, first_codes, position, beta[o], start + first, chunk)


@njit(cache=True, parallel=True)
def _response_parallel(codes, rows, first_codes, position, beta, base, start, table_rows, out):
    n_chunks = (out.shape[1] + table_rows - 1) // table_rows
    for task in prange(out.shape[0] * n_chunks):
        o, first = task // n_chunks, task % n_chunks * table_rows
        chunk = out[o][first : first + table_rows]
        chunk[:] = base[o]
        _respond_rows(codes, rows, first_codes, position, beta[o], start + first, chunk)


@njit(cache=True)
def _fold(histogram, first_codes, position, out):
    """out[k] = sum_c histogram[c] u_k(c)."""
    out[:] = 0.0
    for k in range(len(first_codes) - 1):
        total = 0.0
        upper = 0.0
        for c in range(first_codes[k], first_codes[k + 1]):
            total += histogram[c]
            upper += histogram[c] * position[c]
        out[k] += total - upper
        out[k + 1] += upper


@njit(cache=True)
def _gradient_quad(codes, features, first_codes, position, residual, rows, start, out):
    """Gradients of up to four features: their sums are independent and overlap in time.

    `rows` are those whose residual is not zero. A loss with a margin leaves few of them, and then the
    others are passed over.
    """
    last = len(features) - 1
    a = codes[features[0]][start:]
    b = codes[features[min(1, last)]][start:]
    c = codes[features[min(2, last)]][start:]
    d = codes[features[last]][start:]
    histograms = np.zeros((4, N_CODES))
    if len(rows) < SPARSE_SHARE * len(residual):
        for row in rows:
            i = np.uintp(row)
            r = residual[i]
            histograms[0, a[i]] += r
            histograms[1, b[i]] += r
            histograms[2, c[i]] += r
            histograms[3, d[i]] += r
    else:
        for i in range(len(residual)):
            r = residual[i]
            histograms[0, a[i]] += r
            histograms[1, b[i]] += r
            histograms[2, c[i]] += r
            histograms[3, d[i]] += r
    for q in range(len(features)):
        _fold(histograms[q], first_codes, position, out[q])


@njit(cache=True)
def _gradient(codes, features, first_codes, position, residual, rows, start, out):
    for j in range(0, len(features), 4):
        quad = features[j : j + 4]
        _gradient_quad(codes, quad, first_codes, position, residual, rows, start, out[j : j + 4])


@njit(cache=True, parallel=True)
def _gradient_parallel(codes, features, first_codes, position, residual, rows, start, out):
    for task in prange((len(features) + 3) // 4):
        j = task * 4
        quad = features[j : j + 4]
        _gradient_quad(codes, quad, first_codes, position, residual, rows, start, out[j : j + 4])
