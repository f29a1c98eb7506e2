"""Linear responses on a sparse matrix, which is never made dense."""

import numpy as np
from numba import njit
from scipy import sparse

from ...features.threads import get_num_threads, share
from .design import TASK_VISITS, ResidentDesign


class SparseDesign(ResidentDesign):
    """A sparse matrix in compressed rows.

    Rows keep their entries in ascending column order. Dropping features renumbers the columns; the
    entries of dropped features are removed once they are half of all.

    Parameters
    ----------
    matrix : scipy.sparse matrix or array of shape (n_rows, n_features), float32 or float64
        Copied into CSR form. Values should be scaled, not centred: centring would fill the matrix.
    """

    n_coefficients = 1

    def __init__(self, matrix) -> None:
        matrix = sparse.csr_array(matrix, copy=True)
        matrix.sum_duplicates()
        self.n_rows, self.n_features = matrix.shape
        self._indptr = matrix.indptr.astype(np.int64)
        self._columns = matrix.indices.astype(np.int64)
        self._values = matrix.data
        self._position = np.arange(self.n_features)  # stored column -> kept feature, or -1
        self._live = len(self._values)
        self._entries = np.bincount(self._columns, minlength=self.n_features)

    def keep(self, indices: np.ndarray) -> None:
        renumber = np.full(self.n_features + 1, -1)  # the last entry serves position -1
        renumber[indices] = np.arange(len(indices))
        self._position = renumber[self._position]
        self._entries = self._entries[indices]
        self.n_features = len(indices)
        if 2 * self._entries.sum() <= self._live:
            self._compact()

    def _compact(self) -> None:
        n_entries = int(self._entries.sum())
        columns, values = np.empty(n_entries, self._columns.dtype), np.empty(n_entries, self._values.dtype)
        self._indptr = _copy_kept(self._indptr, self._columns, self._values, self._position, columns, values)
        self._columns, self._values = columns, values
        self._position = np.arange(self.n_features)
        self._live = len(self._values)

    def response(self, beta: np.ndarray, intercept: np.ndarray, start: int, stop: int) -> np.ndarray:
        out = np.empty((len(beta), stop - start))
        data = self._indptr[start : stop + 1], self._columns, self._values, self._position
        n_entries = int(data[0][-1] - data[0][0])
        share(
            stop - start,
            lambda first, last: _response(*data, beta, intercept, first, last, out),
            least=TASK_VISITS * (stop - start) // max(1, n_entries),
        )
        return out

    def gradient(self, residual: np.ndarray, start: int, stop: int) -> np.ndarray:
        out = np.zeros((len(residual), self.n_features, 1))
        data = self._indptr[start : stop + 1], self._columns, self._values, self._position
        n_columns, n_entries = len(self._position), int(data[0][-1] - data[0][0])
        # Every task passes over all rows, for the columns that it owns: no more tasks than threads.
        share(
            n_columns,
            lambda first, last: _gradient(*data, residual, first, last, out),
            least=max(n_columns // get_num_threads(), TASK_VISITS * n_columns // max(1, n_entries)),
        )
        return out


@njit(cache=True)
def _copy_kept(indptr, columns, values, position, kept_columns, kept_values):
    """Copy the entries of the kept features, renumbered; return where each row begins among them."""
    starts = np.empty_like(indptr)
    n = 0
    for i in range(len(indptr) - 1):
        starts[i] = n
        for e in range(indptr[i], indptr[i + 1]):
            j = position[columns[e]]
            if j >= 0:
                kept_columns[n], kept_values[n] = j, values[e]
                n += 1
    starts[-1] = n
    return starts


@njit(cache=True)
def _respond_row(columns, values, position, beta, intercept, first, last):
    total = intercept
    for e in range(first, last):
        j = position[columns[e]]
        if j >= 0:
            total += beta[j, 0] * values[e]
    return total


@njit(cache=True, nogil=True)
def _response(indptr, columns, values, position, beta, intercept, first, last, out):
    for i in range(first, last):
        for o in range(out.shape[0]):
            out[o, i] = _respond_row(
                columns, values, position, beta[o], intercept[o], indptr[i], indptr[i + 1]
            )


@njit(cache=True, nogil=True)
def _gradient(indptr, columns, values, position, residual, first_column, last_column, out):
    """Add the entries of the stored columns [first_column, last_column), row after row."""
    for i in range(residual.shape[1]):
        row = columns[indptr[i] : indptr[i + 1]]
        low = indptr[i] + np.searchsorted(row, first_column)
        high = indptr[i] + np.searchsorted(row, last_column)
        for e in range(low, high):
            j = position[columns[e]]
            if j >= 0:
                for o in range(out.shape[0]):
                    out[o, j, 0] += residual[o, i] * values[e]
