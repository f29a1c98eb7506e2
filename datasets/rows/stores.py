"""Rows of arrays in HDF5 files and Zarr stores: the matrix X, with targets as vectors beside it."""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ...features.errors import DataError
from ..limits import check_memory, check_table
from .row_source import RowSource, UnchangedFiles, check_matrix, float_dtype, selected

MATRIX = "X"
TEXT_BYTES = 64
"""About what a text of a vector takes in memory, against the budget of `limits`."""

SAFE_CODECS = {
    *("blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd"),
    *("astype", "bitround", "bytes", "crc32", "crc32c", "delta", "fixedscaleoffset", "packbits", "quantize"),
    *("sharding_indexed", "shuffle", "transpose", "vlen-bytes", "vlen-utf8"),
}
"""How values of a Zarr store may be packed. Others are refused: some ("pickle") run what they unpack."""


class StoreRows(RowSource):
    """Rows of a two-dimensional array in a store: its only matrix, or the one called X.

    A store may hold vectors of as many values (targets, weights), and the vector `feature_names`.
    """

    def __init__(self, path) -> None:
        self.path = Path(path)
        self.name = str(path)
        self._files = UnchangedFiles([self.path])
        self._open_store: Any = None
        with self._reported("cannot be opened"):
            matrix = self._matrix()
            self.n_rows, self.n_features = check_matrix(matrix.shape, self.name)
            self.dtype = float_dtype(matrix.dtype, self.name)
            check_table(self.path, self.n_rows, self.n_features, matrix.dtype.itemsize)
            self._chunk_rows = self._check_chunk(matrix)
        if (names := self._vector("feature_names")) is not None:
            if names.shape != (self.n_features,):
                raise DataError(f"{path}: {self.n_features} features, feature_names of shape {names.shape}")
            self.feature_names = tuple(
                name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
                for name in names.tolist()
            )

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_open_store": None}

    @abstractmethod
    def _open(self) -> Any:
        """Open the store; called once a process."""

    @abstractmethod
    def _check_node(self, node: Any) -> None:
        """Raise a DataError if an array is not to be read."""

    @contextmanager
    def _reported(self, what: str) -> Iterator[None]:
        """Turn what is raised on a damaged store, which depends on the library, into one line."""
        try:
            yield
        except DataError:
            raise
        except Exception as error:
            raise DataError(f"{self.path}: {what} ({error or type(error).__name__})") from None

    def _store(self) -> Any:
        if self._open_store is None:
            self._open_store = self._open()
        return self._open_store

    def _matrix(self) -> Any:
        store = self._store()
        if _is_array(store):
            self._check_node(store)
            return store
        nodes = {name: store[name] for name in store}
        matrices = [name for name, node in nodes.items() if _is_array(node) and len(node.shape) == 2]
        name = MATRIX if MATRIX in matrices else matrices[0] if len(matrices) == 1 else None
        if name is None:
            found = ", ".join(store) or "nothing"
            raise DataError(f"{self.path}: a matrix called {MATRIX} is needed; it has {found}")
        self._check_node(nodes[name])
        return nodes[name]

    def _check_chunk(self, matrix: Any) -> int:
        """Return the rows of a chunk, which is unpacked as a whole."""
        chunk = getattr(matrix, "chunks", None) or (1,)
        n_bytes = prod(map(int, chunk)) * matrix.dtype.itemsize
        check_memory(self.path, n_bytes, f"a chunk of {' x '.join(map(str, chunk))}")
        return max(1, int(chunk[0]))

    def _vector(self, name: str) -> np.ndarray | None:
        with self._reported(f"{name} cannot be read"):
            store = self._store()
            if _is_array(store) or name not in store or not _is_array(store[name]):
                return None
            node = store[name]
            self._check_node(node)
            self._check_chunk(node)
            n_bytes = prod(map(int, node.shape)) * max(TEXT_BYTES, node.dtype.itemsize)
            check_memory(self.path, n_bytes, f"{name}, {' x '.join(map(str, node.shape))},")
            return np.asarray(node[:])

    def read(self, start, stop, columns=None):
        self._files.check(self.path)
        with self._reported(f"rows {start} to {stop} cannot be read"):
            rows = self._matrix()[start:stop]
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

    def _check_node(self, node):
        if node.file.filename != self._store().file.filename or node.external or node.is_virtual:
            raise DataError(f"{self.path}: {node.name} lies in another file, which is not followed")


class ZarrRows(StoreRows):
    """Rows of a Zarr store: an array, or a group."""

    def _open(self):
        zarr = import_or_say("zarr", "zarr", self.path)
        return zarr.open(str(self.path), mode="r")

    def _check_node(self, node):
        names = set(_codec_names(node.metadata.to_dict()))
        if unsafe := sorted(names - SAFE_CODECS):
            raise DataError(f"{self.path}: packed by {unsafe[0]!r}, which is not accepted")


def _is_array(node: Any) -> bool:
    return hasattr(node, "shape")


def _codec_names(document: dict[str, Any]) -> Iterator[str]:
    """How an array's values are packed, by its metadata of version 2 or 3."""
    codecs = [document.get("compressor"), *(document.get("filters") or ()), *(document.get("codecs") or ())]
    for codec in filter(None, codecs):
        yield str(codec.get("id") or codec.get("name")).removeprefix("numcodecs.")
        inside = codec.get("configuration") or {}
        yield from _codec_names({"codecs": [*inside.get("codecs", ()), *inside.get("index_codecs", ())]})


def import_or_say(module: str, extra: str, path):
    """Import an optional package, or say which extra brings it."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise DataError(f"{path}: needs the package {module}: pip install 'annealed[{extra}]'") from None
