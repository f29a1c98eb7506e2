"""Piecewise linear responses on one-byte codes (section 2.5.1).

A value is stored as a code: its position in the feature's own range, in 255 steps. A feature's
response is then a lookup in a table of 256 entries made from its B + 1 knots, and its gradient a
histogram of the residuals over the codes, folded back onto the knots. The N x M(B + 1) matrix of the
paper is never built. The basis is centred, see `knots.py`.
"""

import numpy as np
from numba import njit

from ...features.codes import CODE_MAX, N_CODES
from ...features.threads import share
from ..additive import PiecewiseModel
from ..knots import CodeBasis, even_basis, fill_table
from .design import TASK_VISITS, KeptColumns, ResidentDesign

# Rows that share one table: enough to pay for building it; their sums stay in the cache.
LEAST_TABLE_ROWS, MOST_TABLE_ROWS = 512, 4096
SPARSE_SHARE = 0.6  # of residuals that are not zero, up to which reading them by index is quicker


def knot_means(codes: np.ndarray, basis: CodeBasis | int, weight: np.ndarray | None = None) -> np.ndarray:
    """Return the mean of each basis function over the rows, shape (n_features, n_coefficients).

    Parameters
    ----------
    codes : ndarray of shape (n_features, n_rows), uint8
    basis : CodeBasis or int
        A number is so many equal bins.
    weight : ndarray of shape (n_rows,), optional
        Sample weights of mean one.
    """
    n_rows = codes.shape[1]
    weight = np.ones(n_rows) if weight is None else np.asarray(weight, dtype=np.float64)
    basis = even_basis(basis) if isinstance(basis, int) else basis
    raw = BinnedDesign(codes, basis, np.zeros((len(codes), basis.n_coefficients)))
    return raw.gradient(weight[None] / n_rows, 0, n_rows)[0]


class BinnedDesign(ResidentDesign):
    """Codes in memory, one byte a value.

    Parameters
    ----------
    codes : ndarray of shape (n_features, n_rows), uint8, C order
    basis : CodeBasis or int
        What the codes mean; a number B, from 1 to 255, is so many equal bins with B + 1 coefficients.
    means : ndarray of shape (n_features, n_coefficients), optional
        Mean of each basis function over all training rows; computed from `codes` by default. A block
        of a larger design takes the means of the whole.
    scale : ndarray of shape (n_features, n_coefficients), optional
        What the basis functions are multiplied by; 1 by default.
    """

    def __init__(
        self,
        codes: np.ndarray,
        basis: CodeBasis | int,
        means: np.ndarray | None = None,
        scale: np.ndarray | None = None,
    ) -> None:
        basis = even_basis(basis) if isinstance(basis, int) else basis
        self._codes = KeptColumns(codes)
        self.n_features, self.n_rows = codes.shape
        self.n_coefficients = basis.n_coefficients
        self._first_codes, self._position = basis.first_codes, basis.position
        self.means = knot_means(codes, basis) if means is None else means
        self.scale = scale

    def to_model(self, kept: np.ndarray, beta: np.ndarray, intercept: np.ndarray) -> PiecewiseModel:
        """Return a model of the codes themselves."""
        low, high = np.zeros(len(kept)), np.full(len(kept), float(CODE_MAX))
        return PiecewiseModel.from_basis(kept, low, high, beta, self.means, intercept.copy())

    def codes(self) -> np.ndarray:
        """Return the codes of the features still kept, (n_features, n_rows) uint8."""
        return self._codes.values[self._codes.kept]

    @property
    def knots(self) -> tuple[np.ndarray, np.ndarray]:
        """Where bins begin and where codes are in them; see `CodeBasis`."""
        return self._first_codes, self._position

    def keep(self, indices: np.ndarray) -> None:
        self._codes.keep(indices)
        self.n_features = len(indices)
        self.means = self.means[indices]
        if self.scale is not None:
            self.scale = self.scale[indices]

    def response(self, beta: np.ndarray, intercept: np.ndarray, start: int, stop: int) -> np.ndarray:
        out = np.empty((len(beta), stop - start))
        if self.scale is not None:
            beta = beta * self.scale
        base = intercept - np.einsum("ojk,jk->o", beta, self.means)
        data = self._codes.values, self._codes.kept, self._first_codes, self._position
        share(
            stop - start,
            lambda first, last: _response(*data, beta, base, start + first, out[:, first:last]),
            least=max(LEAST_TABLE_ROWS, TASK_VISITS // (len(beta) * self.n_features)),
        )
        return out

    def gradient(self, residual: np.ndarray, start: int, stop: int) -> np.ndarray:
        out = np.empty((len(residual), self.n_features, self.n_coefficients))
        data = self._codes.values, self._codes.kept, self._first_codes, self._position
        for of_one, out_of_one in zip(residual, out, strict=True):
            task = (*data, of_one, np.flatnonzero(of_one), start)
            share(
                -(-self.n_features // 4),
                lambda first, last: _gradient(*task, first, last, out_of_one),  # noqa: B023
                least=TASK_VISITS // (4 * (stop - start)),
            )
        out -= residual.sum(axis=1)[:, None, None] * self.means
        if self.scale is not None:
            out *= self.scale
        return out


@njit(cache=True)
def _respond_rows(codes, kept, first_codes, position, beta, start, out):
    """out += responses of all features, one table lookup each, four features a sweep."""
    n = len(out)
    m = len(kept)
    tables = np.empty((4, N_CODES))
    quads = m - m % 4
    for j in range(0, quads, 4):
        for q in range(4):
            fill_table(first_codes, position, beta[j + q], tables[q])
        a = codes[kept[j]][start : start + n]
        b = codes[kept[j + 1]][start : start + n]
        c = codes[kept[j + 2]][start : start + n]
        d = codes[kept[j + 3]][start : start + n]
        for i in range(n):
            out[i] += (tables[0, a[i]] + tables[1, b[i]]) + (tables[2, c[i]] + tables[3, d[i]])
    for j in range(quads, m):
        fill_table(first_codes, position, beta[j], tables[0])
        a = codes[kept[j]][start : start + n]
        for i in range(n):
            out[i] += tables[0, a[i]]


@njit(cache=True, nogil=True)
def _response(codes, kept, first_codes, position, beta, base, start, out):
    for o in range(out.shape[0]):
        out[o] = base[o]
        for first in range(0, out.shape[1], MOST_TABLE_ROWS):
            chunk = out[o][first : first + MOST_TABLE_ROWS]
            _respond_rows(codes, kept, first_codes, position, beta[o], start + first, chunk)


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


@njit(cache=True, nogil=True)
def _gradient(codes, features, first_codes, position, residual, rows, start, first_quad, last_quad, out):
    for j in range(4 * first_quad, min(4 * last_quad, len(features)), 4):
        quad = features[j : j + 4]
        _gradient_quad(codes, quad, first_codes, position, residual, rows, start, out[j : j + 4])
