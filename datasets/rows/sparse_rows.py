"""Rows of sparse matrices: in memory, or in the `.npz` file that SciPy's `save_npz` writes."""

import tempfile
import zipfile
from pathlib import Path

import numpy as np
from scipy import sparse

from ...features.errors import DataError
from ..limits import check_memory, check_table
from ..npz_files import NpzFile, load_npz
from .row_source import RowSource, check_matrix, float_dtype

COPY_BYTES = 1 << 20
_ARRAYS = ("indptr", "indices", "data")


class SparseRows(RowSource):
    """Rows of a matrix in compressed rows.

    Parameters
    ----------
    indptr : array of shape (n_rows + 1,), int
    indices, data : array of shape (n_entries,)
    n_features : int
    name : str
    """

    is_sparse = True

    def __init__(self, indptr, indices, data, n_features: int, name: str = "X") -> None:
        self.name = name
        self.n_rows, self.n_features = len(indptr) - 1, int(n_features)
        self.dtype = float_dtype(data.dtype, name)
        self._indptr, self._indices, self._data = indptr, indices, data
        self._first = 0  # row that the first entry of `indptr` belongs to

    def read(self, start, stop, columns=None):
        bounds = np.asarray(self._indptr[start - self._first : stop - self._first + 1], dtype=np.int64)
        first, last = bounds[0], bounds[-1]
        if not (first >= 0 and last <= len(self._data) and (np.diff(bounds) >= 0).all()):
            raise DataError(f"{self.name}: rows {start} to {stop} do not follow one another in the file")
        data = np.asarray(self._data[first:last], dtype=self.dtype)
        indices = np.asarray(self._indices[first:last])
        if len(indices) and not 0 <= indices.min() <= indices.max() < self.n_features:
            raise DataError(f"{self.name}: rows {start} to {stop} have column numbers outside the matrix")
        rows = sparse.csr_array((data, indices, bounds - first), shape=(stop - start, self.n_features))
        if not rows.has_canonical_format:
            rows = rows.copy()  # arrays that are mapped from a file cannot be put in order where they are
            rows.sum_duplicates()
        return rows if columns is None else rows[:, columns]

    def part(self, start, stop):
        bounds = np.asarray(self._indptr[start - self._first : stop - self._first + 1], dtype=np.int64)
        entries = slice(bounds[0], bounds[-1])
        indices, data = np.array(self._indices[entries]), np.array(self._data[entries])
        piece = SparseRows(bounds - bounds[0], indices, data, self.n_features, self.name)
        piece.n_rows, piece._first = self.n_rows, start
        return piece


def open_sparse(path) -> SparseRows:
    """Open a CSR matrix in a `.npz` file.

    Its arrays are mapped where they are stored as they are (`save_npz(..., compressed=False)`);
    compressed ones are unpacked into temporary files first, which go with the process.
    """
    path = Path(path)
    n_rows, n_features = _matrix_shape(path, load_npz(path))
    try:
        with zipfile.ZipFile(path) as archive:
            indptr, indices, data = (_mapped(path, archive, f"{name}.npy") for name in _ARRAYS)
    except DataError:
        raise
    # What a damaged member raises depends on where the damage is.
    except Exception as error:
        raise DataError(f"{path}: not a readable .npz file ({error})") from None
    if any(array.dtype.kind not in "iu" for array in (indptr, indices)):
        raise DataError(f"{path}: the places of a sparse matrix must be whole numbers")
    if len(indptr) != n_rows + 1 or indptr[-1] != len(data) or len(indices) != len(data):
        raise DataError(f"{path}: the arrays of the sparse matrix do not fit each other")
    check_table(path, n_rows, n_features, 0)
    return SparseRows(indptr, indices, data, n_features, str(path))


def _matrix_shape(path: Path, content: NpzFile) -> tuple[int, int]:
    """Rows and columns that a file says its matrix has."""
    if not {"format", "shape", *_ARRAYS} <= set(content):
        raise DataError(f"{path}: not a sparse matrix as scipy.sparse.save_npz writes it")
    kind, shape = content["format"], content["shape"]
    if kind.size != 1 or kind.dtype.kind not in "SU" or shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise DataError(f"{path}: not a sparse matrix as scipy.sparse.save_npz writes it")
    form = kind.astype(bytes).item().decode("ascii", "replace")
    if form != "csr":
        raise DataError(f"{path}: a {form} matrix; save it in CSR form: save_npz(path, matrix.tocsr())")
    return check_matrix(shape.tolist(), str(path))


def _mapped(path: Path, archive: zipfile.ZipFile, member: str) -> np.ndarray:
    """Map one array of an archive."""
    info = archive.getinfo(member)
    check_memory(path, info.file_size, f"{member}, unpacked,")
    if info.compress_type != zipfile.ZIP_STORED:
        with tempfile.TemporaryFile() as copy, archive.open(member) as stream:
            for _ in range(0, info.file_size, COPY_BYTES):
                copy.write(stream.read(COPY_BYTES))
            return _map_npy(copy, 0)
    with open(path, "rb") as stream:
        stream.seek(info.header_offset + 26)
        name_length, extra_length = np.frombuffer(stream.read(4), "<u2")
        return _map_npy(stream, info.header_offset + 30 + int(name_length) + int(extra_length))


def _map_npy(stream, offset: int) -> np.ndarray:
    stream.seek(offset)
    version = np.lib.format.read_magic(stream)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = header(stream)
    if dtype.hasobject or len(shape) != 1:
        raise ValueError("not a vector of numbers")
    return (
        np.memmap(stream, dtype=dtype, mode="r", offset=stream.tell(), shape=shape)
        if shape[0]
        else np.empty(0, dtype)
    )
