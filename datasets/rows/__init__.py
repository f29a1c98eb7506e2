"""Tables that stay on disk: rows in blocks, from many formats behind one protocol."""

from .arrays import ArrayRows, FileRows, NpyRows, array_rows
from .dask_tables import DaskFrameRows, DaskRows
from .opening import open_rows
from .parquet import ParquetRows
from .row_source import RowSource
from .sparse_rows import SparseRows, open_sparse
from .stores import Hdf5Rows, ZarrRows

__all__ = [
    "ArrayRows",
    "DaskFrameRows",
    "DaskRows",
    "FileRows",
    "Hdf5Rows",
    "NpyRows",
    "ParquetRows",
    "RowSource",
    "SparseRows",
    "ZarrRows",
    "array_rows",
    "open_rows",
    "open_sparse",
]
