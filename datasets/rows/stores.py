"""Rows of arrays in HDF5 files and Zarr stores: the matrix X, with targets as vectors beside it."""

from abc import abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from ...features.errors import DataError
from .row_source import RowSource, UnchangedFiles, check_matrix, float_dtype, selected

MATRIX = "X"


class StoreRows(RowSource):
    """Rows of a two-dimensional array in a store: its only matrix, or the one called X.

    A store may hold vectors of as many values (targets, weights), and the vector `feature_names`.
    """

    def __init__(self, path) -> None:
        self.path = Path(path)
        self.name = str(path)
        self._files = UnchangedFiles([self.path])
        self._open_store: Any = None
        matrix = self._matrix()
        self.n_rows, self.n_features = check_matrix(matrix.shape, self.name)
        self.dtype = float_dtype(matrix.dtype, self.name)
        self._chunk_rows = max(1, (getattr(matrix, "chunks", None) or (1,))[0])
        if (names := self._vector("feature_names")) is not None:
            self.feature_names = tuple(
                name.decode() if isinstance(name, bytes) else str(name) for name in names
            )

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_open_store": None}

    @abstractmethod
    def _open(self) -> Any:
        """Open the store; called once a process."""

    @abstractmethod
    def _is_array(self, node) -> bool: ...

    def _store(self) -> Any:
        if self._open_store is None:
            try:
                self._open_store = self._open()
            except DataError:
                raise
            # What is raised on a damaged file depends on the library.
            except Exception as error:
                raise DataError(f"{self.path}: cannot be opened ({error})") from None
        return self._open_store

    def _matrix(self):
        store = self._store()
        if self._is_array(store):
            return store
        nodes = {name: store[name] for name in store if self._is_array(store[name])}
        matrices = [name for name, node in nodes.items() if len(node.shape) == 2]
        name = MATRIX if MATRIX in matrices else matrices[0] if len(matrices) == 1 else None
        if name is None:
            found = ", ".join(store) or "nothing"
            raise DataError(f"{self.path}: a matrix called {MATRIX} is needed; it has {found}")
        return nodes[name]

    def _vector(self, name: str) -> np.ndarray | None:
        store = self._store()
        if self._is_array(store) or name not in store or not self._is_array(store[name]):
            return None
        return np.asarray(store[name][:])

    def read(self, start, stop, columns=None):
        self._files.check(self.path)
        try:
            rows = self._matrix()[start:stop]
        except Exception as error:
            raise DataError(f"{self.name}: rows {start} to {stop} cannot be read ({error})") from None
        return np.asarray(selected(rows, columns), dtype=self.dtype)

    def blocks(self, start, stop, size, columns=None):
        """Yield blocks that end where chunks of the store do, so that a chunk is read once."""
        step = max(1, size // self._chunk_rows) * self._chunk_rows if size >= self._chunk_rows else size
        first = start
        while first < stop:
            last = min(first - first % step + step, stop)
            yield first, self.read(first, last, columns)
            first = last

    def column(self, name):
        values = self._vector(name)
        if values is None or values.shape != (self.n_rows,):
            raise DataError(f"{self.path}: no vector {name!r} of {self.n_rows} values")
        return values


class Hdf5Rows(StoreRows):
    """Rows of an HDF5 file."""

    def _open(self):
        h5py = import_or_say("h5py", "h5py", self.path)
        return h5py.File(self.path, "r")

    def _is_array(self, node) -> bool:
        return hasattr(node, "shape")


class ZarrRows(StoreRows):
    """Rows of a Zarr store: an array, or a group."""

    def _open(self):
        zarr = import_or_say("zarr", "zarr", self.path)
        return zarr.open(str(self.path), mode="r")

    def _is_array(self, node) -> bool:
        return hasattr(node, "shape")


def import_or_say(module: str, extra: str, path):
    """Import an optional package, or say which extra brings it."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise DataError(f"{path}: needs the package {module}: pip install 'annealed[{extra}]'") from None
