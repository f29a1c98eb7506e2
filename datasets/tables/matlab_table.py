"""MATLAB files that hold a matrix and its labels."""

from pathlib import Path

import numpy as np
from scipy import sparse

from ...features.errors import DataError
from ..mat_files import load_mat
from .table import Table, whole_or_real


def read_mat(path, *, X: str = "X", y: str = "Y", samples_in_columns: bool = False) -> Table:
    """Read a MATLAB file (up to version 7.2).

    Parameters
    ----------
    path : path-like
    X, y : str
        Names of the matrix, and of the vector of labels or the matrix with a column a target. Whole numbers
        become int64, others float64.
    samples_in_columns : bool
        Whether the matrix has a column, not a row, for each sample.
    """
    path = Path(path)
    content = load_mat(path)
    for name in (X, y):
        if name not in content:
            raise DataError(f"{path}: no variable {name}; it has {', '.join(sorted(content)) or 'none'}")
    matrix, labels = content[X], content[y]
    labels = labels.toarray() if sparse.issparse(labels) else np.asarray(labels)
    if not (sparse.issparse(matrix) or isinstance(matrix, np.ndarray)) or matrix.dtype.kind not in "buif":
        raise DataError(f"{path}: {X} must be a matrix of numbers")
    matrix = matrix.T if samples_in_columns else matrix
    if labels.size == max(labels.shape, default=0):
        labels = labels.ravel()
    if labels.dtype.kind not in "buif" or len(labels) != matrix.shape[0] or labels.ndim > 2:
        raise DataError(
            f"{path}: {y} must hold {matrix.shape[0]} numbers, or as many rows of them, as {X} has samples; "
            f"found shape {labels.shape} of {labels.dtype}"
        )
    values = sparse.csr_array(matrix) if sparse.issparse(matrix) else np.ascontiguousarray(matrix)
    return Table(values.astype(np.float64), whole_or_real(labels), path.name)
