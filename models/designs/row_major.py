"""Rows as files hold them, one after another, without a copy: centre and scale go into the coefficients.

    sum_j beta_j (x_ij - c_j) / s_j  =  sum_j (beta_j / s_j) x_ij  -  sum_j (beta_j / s_j) c_j

A copy that is transposed, centred and scaled costs twenty times what its use costs, once.
"""

import numpy as np
from numba import njit

from ...features.threads import share
from .design import REASSOCIATE, TASK_VISITS

TILE_COLUMNS = 1024  # of a gradient, which stay in the first-level cache


class RowMajorBlock:
    """A block of linear responses on rows in their own units.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features), float32 or float64, C order
    center, scale : ndarray of shape (n_features,), float64
    """

    def __init__(self, rows: np.ndarray, center: np.ndarray, scale: np.ndarray) -> None:
        self.rows, self.center, self.scale = rows, center, scale

    def response(self, beta: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        coef = beta[:, :, 0] / self.scale
        base = intercept - coef @ self.center
        out = np.empty((len(coef), len(self.rows)))
        share(
            -(-len(self.rows) // 4),
            lambda first, last: _respond(self.rows, coef, base, first, last, out),
            least=TASK_VISITS // (4 * coef.size),
        )
        return out

    def gradient(self, residual: np.ndarray) -> np.ndarray:
        out = np.zeros((len(residual), self.rows.shape[1]))
        share(
            out.shape[1],
            lambda first, last: _accumulate(self.rows, residual, first, last, out),
            least=TASK_VISITS // residual.size,
        )
        out -= residual.sum(axis=1)[:, None] * self.center
        out /= self.scale
        return out[:, :, None]


@njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def _dots(a, b, c, d, coef):
    """Inner products of four rows with the coefficients, which are loaded once for the four."""
    p = q = r = s = 0.0
    for j in range(len(coef)):
        p += coef[j] * a[j]
        q += coef[j] * b[j]
        r += coef[j] * c[j]
        s += coef[j] * d[j]
    return p, q, r, s


@njit(cache=True, nogil=True)
def _respond(rows, coef, base, first_quad, last_quad, out):
    """Fill the responses of some quads of rows; the last row stands in for those beyond it."""
    last_row = len(rows) - 1
    for i in range(4 * first_quad, min(4 * last_quad, len(rows)), 4):
        j, k, m = min(i + 1, last_row), min(i + 2, last_row), min(i + 3, last_row)
        for o in range(len(coef)):
            p, q, r, s = _dots(rows[i], rows[j], rows[k], rows[m], coef[o])
            out[o, m] = base[o] + s
            out[o, k] = base[o] + r
            out[o, j] = base[o] + q
            out[o, i] = base[o] + p


@njit(cache=True, nogil=True)
def _accumulate(rows, residual, first_column, last_column, out):
    """Add residual times value, over the rows in their order, to some columns of `out`."""
    n = len(rows)
    quads = n - n % 4
    for first in range(first_column, last_column, TILE_COLUMNS):
        last = min(first + TILE_COLUMNS, last_column)
        for o in range(len(residual)):
            total = out[o, first:last]
            for i in range(0, quads, 4):
                p, q, r, s = residual[o, i], residual[o, i + 1], residual[o, i + 2], residual[o, i + 3]
                a, b = rows[i, first:last], rows[i + 1, first:last]
                c, d = rows[i + 2, first:last], rows[i + 3, first:last]
                for j in range(len(total)):
                    total[j] += (p * a[j] + q * b[j]) + (r * c[j] + s * d[j])
            for i in range(quads, n):
                p, a = residual[o, i], rows[i, first:last]
                for j in range(len(total)):
                    total[j] += p * a[j]


def standardised_columns(rows: np.ndarray, center: np.ndarray, scale: np.ndarray, dtype) -> np.ndarray:
    """Return the columns, centred and scaled, one after another: shape (n_features, n_rows)."""
    out = np.empty(rows.shape[::-1], dtype=dtype)
    share(
        len(out),
        lambda first, last: _standardise(rows, center, scale, first, last, out),
        least=TASK_VISITS // (8 * max(1, len(rows))),
    )
    return out


@njit(cache=True, nogil=True)
def _standardise(rows, center, scale, first_column, last_column, out):
    for first in range(first_column, last_column, 64):
        last = min(first + 64, last_column)
        for i in range(len(rows)):
            for j in range(first, last):
                out[j, i] = (rows[i, j] - center[j]) / scale[j]


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def all_finite(rows):
    """Whether no value is infinite or not a number, without a mask of the rows' shape."""
    total = 0.0
    for i in range(len(rows)):
        row = rows[i]
        for j in range(len(row)):
            total += row[j] * 0.0
    return total == 0.0
