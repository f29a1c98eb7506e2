"""A dictionary that may be larger than memory, read in segments of a stated size.

A file that holds features one after the other (Fortran order) is read in segments of columns, one that holds
samples one after the other (C order) in segments of rows; either way the file is read from its beginning to
its end. Centring and scaling are done to the results, never to a copy of the file.
"""

from collections.abc import Iterator

import numpy as np

from ...features.errors import DataError, ParameterError
from ..columns import is_constant

SEGMENT_SHARE = 8  # segments take at most this fraction of the memory


class Dictionary:
    """The columns of X, centred and scaled if wanted.

    Parameters
    ----------
    X : ndarray or memmap of shape (n_samples, n_features), float32 or float64
    memory_bytes : int
        Bound on what is held at one time: a segment, and the columns that survive screening.
    center : bool
        Whether columns have their mean taken off.
    scale : bool
        Whether columns are divided by their norm. Columns of norm zero stay zero.

    Attributes
    ----------
    mean, scale, norms : ndarray of shape (n_features,), float64
        What is taken off a column, what it is divided by then, and its norm after both.
    """

    def __init__(self, X: np.ndarray, *, memory_bytes: int, center: bool, scale: bool):
        if memory_bytes < SEGMENT_SHARE * 8 * max(X.shape):
            raise ParameterError(
                f"memory_bytes is {memory_bytes}; for shape {X.shape} at least "
                f"{SEGMENT_SHARE * 8 * max(X.shape)} are needed"
            )
        self.X = X
        self.memory_bytes = memory_bytes
        n_features = X.shape[1]
        self.mean = np.zeros(n_features)
        if center:
            self.mean = self._reduce(lambda part, rows: part.sum(axis=0)) / len(X)
        squares = self._reduce(lambda part, rows: ((part - self.mean[rows[1]]) ** 2).sum(axis=0))
        norms = np.sqrt(squares)
        norms[is_constant(norms / np.sqrt(len(X)), self.mean)] = 0.0
        self.scale = np.where(norms > 0, norms, 1.0) if scale else np.ones(n_features)
        self.norms = norms / self.scale

    @property
    def n_features(self) -> int:
        """Columns."""
        return self.X.shape[1]

    def correlate(self, v: np.ndarray) -> np.ndarray:
        """Return the inner product of each column with `v` (n_samples,), in one pass over the file."""
        product = self._reduce(lambda part, where: v[where[0]] @ part)
        product -= self.mean * v.sum()
        return np.where(self.norms > 0, product / self.scale, 0.0)

    def columns(self, which: np.ndarray) -> np.ndarray:
        """Return some columns, Fortran order, float64.

        Raises
        ------
        DataError
            They would not fit into the memory left beside a segment.
        """
        needed, allowed = 8 * len(self.X) * len(which), self.memory_bytes - 2 * self._segment_bytes
        if needed > allowed:
            raise DataError(
                f"{len(which)} of {self.n_features} features survive the screening and need {needed} bytes; "
                f"memory_bytes leaves {allowed}. A smaller diameter or more memory is needed"
            )
        columns = np.empty((len(self.X), len(which)), order="F")
        for rows, part in self._segments():
            chosen = (which >= rows[1].start) & (which < rows[1].stop)
            columns[rows[0], chosen] = part[:, which[chosen] - rows[1].start]
        columns -= self.mean[which]
        columns /= self.scale[which]
        return columns

    @property
    def _segment_bytes(self) -> int:
        return self.memory_bytes // SEGMENT_SHARE

    def _segments(self) -> Iterator[tuple[tuple[slice, slice], np.ndarray]]:
        """Yield ((rows, columns), float64 part) in the order of the file."""
        by_columns = self.X.flags.f_contiguous and not self.X.flags.c_contiguous
        length, width = self.X.shape[::-1] if by_columns else self.X.shape
        # the part itself, and one temporary of its size
        step = max(1, self._segment_bytes // (2 * 8 * width))
        for start in range(0, length, step):
            piece, whole = slice(start, min(start + step, length)), slice(0, width)
            where = (whole, piece) if by_columns else (piece, whole)
            yield where, np.asarray(self.X[where], dtype=np.float64)

    def _reduce(self, function) -> np.ndarray:
        """Return the sum over segments of a function's values for each column."""
        total = np.zeros(self.n_features)
        for where, part in self._segments():
            total[where[1]] += function(part, where)
        return total
