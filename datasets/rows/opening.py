"""Any table on disk by its ending or its content, as rows that are read when they are needed."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np
from scipy import sparse

from ...features.errors import DataError
from .arrays import NpyRows, array_rows
from .dask_tables import DaskFrameRows, DaskRows
from .parquet import ParquetRows
from .row_source import RowSource
from .sparse_rows import SparseRows, open_sparse
from .stores import Hdf5Rows, ZarrRows

ZARR_MARKS = (".zarray", ".zgroup", "zarr.json")
ACCEPTED = (
    ".npy, .npz (sparse), .h5, .hdf5, .parquet, a Zarr store, a folder of .parquet files, "
    "and Dask arrays and data frames"
)


def open_rows(table, exclude: Sequence[str] = ()) -> RowSource:
    """Open a table without reading it.

    Parameters
    ----------
    table : path-like, array, sparse matrix, Dask array or Dask data frame
        On disk: a ``.npy`` file with a matrix, a ``.npz`` file that `scipy.sparse.save_npz` wrote, an HDF5
        file or a Zarr store with a matrix X, a ``.parquet`` file, or a folder of Parquet files.
    exclude : sequence of str
        Columns of a table that are no features: targets and weights.

    Returns
    -------
    RowSource

    Raises
    ------
    DataError
        There is no such file, or it is of no kind that can be read block by block.
    """
    if isinstance(table, str | PathLike):
        return _open_path(Path(table), exclude)
    if isinstance(table, np.ndarray):
        return array_rows(table)
    if sparse.issparse(table):
        matrix = sparse.csr_array(table)
        return SparseRows(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])
    if type(table).__module__.startswith("dask"):
        frame = hasattr(table, "columns")
        return DaskFrameRows(table, exclude) if frame else DaskRows(table)
    raise DataError(
        f"rows of a {type(table).__name__} cannot be read block by block; accepted are {ACCEPTED}"
    )


def _open_path(path: Path, exclude: Sequence[str]) -> RowSource:
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    ending = path.suffix.lower()
    if path.is_dir():
        if ending == ".zarr" or any((path / mark).exists() for mark in ZARR_MARKS):
            return ZarrRows(path)
        return ParquetRows(path, exclude)
    if ending == ".npy":
        return NpyRows(path)
    if ending == ".npz":
        return open_sparse(path)
    if ending in (".h5", ".hdf5"):
        return Hdf5Rows(path)
    if ending == ".parquet":
        return ParquetRows(path, exclude)
    raise DataError(f"{path}: cannot be read block by block; accepted are {ACCEPTED}")
