"""What every table that stays on disk has: rows that are read in blocks, in the order of the file."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ...features.errors import DataError

SINGLE_KINDS = {"f2", "f4", "i1", "i2", "u1", "u2", "b1"}  # every value of these is a float32


class RowSource(ABC):
    """Rows of numbers that are read block by block.

    A source can be pickled, so that a process elsewhere reads the same rows. Reading the same rows
    again gives the same numbers; a file that has changed since it was opened ends in a DataError.

    Attributes
    ----------
    name : str
        What messages call it.
    n_rows, n_features : int
    dtype : dtype
        Of the values that `read` returns: float32 where that holds every value, float64 otherwise.
    feature_names : tuple of str or None
    left_out : tuple of str
        One sentence for every column that is not a feature.
    is_sparse : bool
        Whether blocks are `csr_array` of SciPy.
    reads_anywhere : bool
        Whether a single row is read as quickly wherever it is.
    """

    name: str
    n_rows: int
    n_features: int
    dtype: np.dtype
    feature_names: tuple[str, ...] | None = None
    left_out: tuple[str, ...] = ()
    is_sparse: bool = False
    reads_anywhere: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, self.n_features

    def __len__(self) -> int:
        return self.n_rows

    @abstractmethod
    def read(self, start: int, stop: int, columns: np.ndarray | None = None):
        """Return the rows [start, stop) of some features (ascending numbers; None: all).

        Returns
        -------
        ndarray or csr_array of shape (stop - start, number of columns), of `dtype`
        """

    def blocks(
        self, start: int, stop: int, size: int, columns: np.ndarray | None = None
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the rows [start, stop) in order, as pairs of the first row and at most `size` rows."""
        for first in range(start, stop, size):
            yield first, self.read(first, min(first + size, stop), columns)

    def column(self, name: str) -> np.ndarray:
        """Return a column that is not a feature (a target, weights), shape (n_rows,)."""
        raise DataError(
            f"{self.name} has no named columns; give {name!r} as an array of {self.n_rows} values"
        )

    def ranges(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the smallest and the largest value of each feature where the file states them."""
        return None

    def part(self, start: int, stop: int) -> "RowSource":
        """Return a source whose rows [start, stop) can be read, to be sent elsewhere.

        Rows keep their numbers. What is on a disk that everybody sees sends its path only.
        """
        return self

    def place(self, row: int) -> str:
        """Say where a row is."""
        return f"{self.name}, row {row}"


class UnchangedFiles:
    """Files that must stay as they were when they were opened."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._marks = {path: _mark(path) for path in paths}

    def check(self, path: Path) -> None:
        """Raise a DataError if the file is gone, or is no longer the one that was opened."""
        if _mark(path) != self._marks[path]:
            raise DataError(f"{path}: changed while it was read; start again with the new file")


def _mark(path: Path) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    return status.st_size, status.st_mtime_ns


def float_dtype(dtype, name: str) -> np.dtype:
    """Return float32 if it holds every value of this type, float64 for other numbers."""
    dtype = np.dtype(dtype)
    if dtype.kind not in "buif":
        raise DataError(f"{name}: values of type {dtype}; numbers are needed")
    return np.dtype(np.float32 if f"{dtype.kind}{dtype.itemsize}" in SINGLE_KINDS else np.float64)


def check_matrix(shape: Sequence[int], name: str) -> tuple[int, int]:
    """Return the shape of a matrix, after a look at it."""
    if len(shape) != 2 or min(shape) < 1:
        raise DataError(f"{name}: shape {tuple(shape)}; a matrix with rows and columns is needed")
    return int(shape[0]), int(shape[1])


def selected(values, columns: np.ndarray | None):
    """Return some columns, or the very array if all are wanted."""
    return values if columns is None else values[:, columns]
