"""Rows of an array in memory, or of a `.npy` file that is read as it is needed."""

import mmap
from pathlib import Path

import numpy as np

from ...features.errors import DataError
from ..npy_files import map_npy
from .row_source import RowSource, UnchangedFiles, check_matrix, float_dtype, selected


class ArrayRows(RowSource):
    """Rows of an array in memory; what is sent elsewhere are the rows that are wanted there.

    Parameters
    ----------
    array : ndarray of shape (n_rows, n_features), of numbers
    name : str
    """

    def __init__(self, array: np.ndarray, name: str = "X") -> None:
        self.name = name
        self.n_rows, self.n_features = check_matrix(array.shape, name)
        self.dtype = float_dtype(array.dtype, name)
        self._array = array
        self._first = 0
        self.reads_anywhere = True

    def read(self, start, stop, columns=None):
        rows = self._array[start - self._first : stop - self._first]
        return np.asarray(selected(rows, columns), dtype=self.dtype)

    def part(self, start, stop):
        piece = ArrayRows(self._array[start - self._first : stop - self._first], self.name)
        piece.n_rows, piece._first = self.n_rows, start
        return piece


class FileRows(RowSource):
    """Rows of a matrix that lies in a file as it is.

    Rows are read, not mapped: mapped pages would count as memory of the process.

    Parameters
    ----------
    path : path-like
    shape : tuple of int
    dtype : dtype
        As stored.
    offset : int
        Bytes before the first value.
    by_rows : bool
        Whether row follows row, not column column.
    """

    def __init__(self, path, shape, dtype, offset: int, by_rows: bool) -> None:
        self.path = Path(path)
        self.name = str(path)
        self._files = UnchangedFiles([self.path])
        self.n_rows, self.n_features = check_matrix(shape, self.name)
        self.dtype = float_dtype(dtype, self.name)
        self._stored = np.dtype(dtype)
        self._offset = offset
        self._by_rows = self.reads_anywhere = by_rows

    def read(self, start, stop, columns=None):
        self._files.check(self.path)
        rows = self._rows(start, stop) if self._by_rows else self._columns(start, stop, columns)
        return np.asarray(rows if not self._by_rows else selected(rows, columns), dtype=self.dtype)

    def _rows(self, start: int, stop: int) -> np.ndarray:
        n_values = (stop - start) * self.n_features
        offset = self._offset + start * self.n_features * self._stored.itemsize
        values = np.fromfile(self.path, self._stored, n_values, offset=offset)
        if len(values) < n_values:
            raise DataError(f"{self.path}: ends before row {stop}")
        return values.reshape(stop - start, self.n_features)

    def _columns(self, start: int, stop: int, columns) -> np.ndarray:
        """Read a file that is stored column after column."""
        wanted = range(self.n_features) if columns is None else columns
        values = np.empty((len(wanted), stop - start), dtype=self._stored)
        with open(self.path, "rb") as stream:
            for out, j in zip(values, wanted, strict=True):
                stream.seek(self._offset + (int(j) * self.n_rows + start) * self._stored.itemsize)
                if stream.readinto(out) < out.nbytes:
                    raise DataError(f"{self.path}: ends within column {j}")
        return values.T


class NpyRows(FileRows):
    """Rows of a `.npy` file."""

    def __init__(self, path) -> None:
        mapped = map_npy(path)
        super().__init__(path, mapped.shape, mapped.dtype, mapped.offset, mapped.flags.c_contiguous)


def array_rows(array: np.ndarray, name: str = "X") -> RowSource:
    """Return rows of an array: of its file, if it is mapped from one."""
    mapping = getattr(array, "_mmap", None)
    if isinstance(array, np.memmap) and mapping is not None and array.filename and array.flags.forc:
        begin = np.frombuffer(mapping, dtype=np.uint8).ctypes.data
        skipped = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY  # before the mapping begins
        offset = array.ctypes.data - begin + skipped
        return FileRows(array.filename, array.shape, array.dtype, offset, array.flags.c_contiguous)
    return ArrayRows(array, name)
