"""Some rows of a source, as a source of their own: the folds of a cross-validation."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .row_protocol import RowSource


class RowSubset:
    """Some rows of a source, in their order.

    Whatever lies between them is read along, block by block.

    Parameters
    ----------
    source : RowSource
    rows : ndarray of int64
        Ascending numbers of rows.
    """

    def __init__(self, source: RowSource, rows: np.ndarray) -> None:
        self.name = source.name
        self.n_rows, self.n_features = len(rows), source.n_features
        self.feature_names = source.feature_names
        self.left_out: tuple[str, ...] = ()  # told once, for the source
        self.is_sparse = source.is_sparse
        self._source = source
        self._rows = np.asarray(rows, dtype=np.int64)
        self._first = 0  # number, here, of the first row of `_rows`

    def blocks(
        self, start: int, stop: int, size: int, columns: np.ndarray | None = None
    ) -> Iterator[tuple[int, Any]]:
        """Yield the rows [start, stop) in order, as pairs of the first row and at most `size` rows."""
        rows = self._rows[start - self._first : stop - self._first]
        if not len(rows):
            return
        for first, values in self._source.blocks(int(rows[0]), int(rows[-1]) + 1, size, columns):
            low, high = np.searchsorted(rows, (first, first + values.shape[0]))
            if low < high:
                yield start + int(low), values[rows[low:high] - first]

    def column(self, name: str) -> np.ndarray:
        """Return a column that is not a feature, shape (n_rows,)."""
        return self._source.column(name)[self._rows]

    def ranges(self) -> None:
        """Tell nothing: what a file states is of all its rows."""

    def part(self, start: int, stop: int) -> "RowSubset":
        """Return a source whose rows [start, stop) can be read, to be sent elsewhere."""
        rows = self._rows[start - self._first : stop - self._first]
        first, last = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
        piece = RowSubset(self._source.part(first, last), rows)
        piece.n_rows, piece._first = self.n_rows, start
        return piece

    def place(self, row: int) -> str:
        """Say where a row is."""
        return self._source.place(int(self._rows[row - self._first]))
