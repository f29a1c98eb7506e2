"""MATLAB files that hold a matrix and its labels."""

from pathlib import Path

import numpy as np
from scipy import sparse

from ..features.errors import DataError
from .mat_files import load_mat
from .tables import Table


def read_mat(path, *, X: str = "X", y: str = "Y", samples_in_columns: bool = False) -> Table:
    """Read a MATLAB file (up to version 7.2).

    Parameters
    ----------
    path : path-like
    X, y : str
        Names of the matrix and of the vector of labels.
    samples_in_columns : bool
        Whether the matrix has a column, not a row, for each sample.
    """
    path = Path(path)
    content = load_mat(path)
    for name in (X, y):
        if name not in content:
            raise DataError(f"{path}: no variable {name}; it has {', '.join(sorted(content)) or 'none'}")
    matrix, labels = content[X], np.asarray(content[y])
    if not (sparse.issparse(matrix) or isinstance(matrix, np.ndarray)) or matrix.dtype.kind not in "buif":
        raise DataError(f"{path}: {X} must be a matrix of numbers")
    if labels.dtype.kind not in "buif" or labels.size != max(labels.shape, default=0):
        raise DataError(f"{path}: {y} must be a vector of numbers, found shape {labels.shape}")
    matrix = matrix.T if samples_in_columns else matrix
    values = sparse.csr_array(matrix) if sparse.issparse(matrix) else np.ascontiguousarray(matrix)
    return Table(values.astype(np.float64), labels.ravel().astype(np.int64), path.name)
