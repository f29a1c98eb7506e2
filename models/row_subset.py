"""Some rows of a source, as a source of their own: the folds of a cross-validation."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from .row_protocol import RowSource

READ_VALUES = 1 << 21


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
        self.reads_anywhere = getattr(source, "reads_anywhere", False)
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


def read_some(source: RowSource, rows: np.ndarray, columns: np.ndarray):
    """Return a few rows, in any order, and columns, ascending, of a source.

    Where rows can be read anywhere, each is read alone; otherwise whatever lies between them is read along.
    """
    if getattr(source, "reads_anywhere", False):
        blocks = [next(source.blocks(i, i + 1, 1, columns))[1] for i in rows.tolist()]
        return sparse.vstack(blocks, format="csr") if source.is_sparse else np.concatenate(blocks)
    ascending, place = np.unique(rows, return_inverse=True)
    size = max(1, READ_VALUES // source.n_features)
    blocks = [block for _, block in RowSubset(source, ascending).blocks(0, len(ascending), size, columns)]
    return (sparse.vstack(blocks, format="csr") if source.is_sparse else np.concatenate(blocks))[place]


def samples_that_count(X, targets: np.ndarray, weight: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return the samples of positive weight and their targets, (n_targets, n); rows on disk stay there."""
    if not isinstance(X, RowSource) or weight.all():
        return X, targets
    rows = np.flatnonzero(weight)
    return RowSubset(X, rows), targets[:, rows]
