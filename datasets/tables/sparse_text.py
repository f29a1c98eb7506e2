"""Sparse text: lines of ``index:value``, as svmlight, the NIPS 2003 challenge and Vowpal Wabbit write them.

    svmlight           label index:value index:value ... # comment
    challenge          index:value index:value ...       with the labels in a file of their own
    Vowpal Wabbit      label |namespace index:value ...

All three become svmlight, which scikit-learn parses. Indices count from one.
"""

import re
from io import BytesIO
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from ...features.errors import DataError
from ..limits import check_memory
from .dense_text import read_numbers
from .table import Table

MAX_INDEX = 2**31 - 1  # of the 32-bit indices that all of scikit-learn accepts
COLUMN_BYTES = 200
"""Of a column, whether it has values or not: its name, its scale and coefficients."""

_NAMESPACE = re.compile(rb"\|\S*")


def read_svmlight(path, *, query_path=None, n_features: int | None = None) -> Table:
    """Read an svmlight file, for ranking together with its file of query sizes.

    Parameters
    ----------
    path : path-like
    query_path : path-like, optional
        One number per line: how many of the following rows belong to the next query.
    n_features : int, optional
        Columns; the largest index by default.

    Raises
    ------
    DataError
        The file cannot be read, a line is malformed, or the query sizes do not add up to the rows.
    """
    path = Path(path)
    X, y = _parse(path, _lines(path), n_features)
    qid = None
    if query_path is not None:
        sizes = read_numbers(query_path).ravel()
        if (sizes < 0).any() or (sizes % 1 != 0).any() or sizes.sum() != len(y):
            raise DataError(
                f"{query_path}: query sizes add up to {sizes.sum():g}, {path.name} has {len(y)} rows"
            )
        qid = np.repeat(np.arange(len(sizes)), sizes.astype(np.int64))
    return Table(X, y, path.name, qid=qid)


def read_challenge_sparse(path, labels_path, *, n_features: int | None = None) -> Table:
    """Read sparse rows and their labels from two files, as the NIPS 2003 challenge has them.

    Parameters
    ----------
    path, labels_path : path-like
    n_features : int, optional
        Columns; the largest index by default.
    """
    path = Path(path)
    X, _ = _parse(path, [b"0 " + line for line in _lines(path)], n_features)
    return Table(X, read_numbers(labels_path).ravel(), path.name)


def read_vw(path, *, n_features: int | None = None) -> Table:
    """Read labelled lines of Vowpal Wabbit whose features are numbers; namespaces are left out.

    Parameters
    ----------
    path : path-like
    n_features : int, optional
        Columns; the largest index by default.
    """
    path = Path(path)
    lines = _lines(path)
    for number, line in enumerate(lines, start=1):
        if b"|" not in line:
            raise DataError(f"{path}: line {number} has no '|' between label and features")
    X, y = _parse(path, [_NAMESPACE.sub(b"", line) for line in lines], n_features)
    return Table(X, y, path.name)


def _lines(path: Path) -> list[bytes]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise DataError(f"{path}: the file has no rows")
    return lines


def _parse(path: Path, lines: list[bytes], n_features: int | None) -> tuple[sparse.csr_array, np.ndarray]:
    """Return the rows and labels of svmlight lines."""
    options = {"n_features": n_features, "zero_based": False}
    try:
        X, y = load_svmlight_file(BytesIO(b"\n".join(lines)), **options)
    except (ValueError, OverflowError) as error:
        number, reason = _first_bad_line(lines, options)
        raise DataError(f"{path}: line {number} is not 'index:value ...' from 1 on: {reason}") from error
    if not (np.isfinite(X.data).all() and np.isfinite(y).all()):
        raise DataError(f"{path}: some values are not finite")
    if max(X.shape[1], X.nnz) > MAX_INDEX:
        raise DataError(f"{path}: an index or a number of values above {MAX_INDEX}")
    check_memory(path, COLUMN_BYTES * X.shape[1], f"a table of {X.shape[1]} columns")
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sparse.csr_array((X.data, indices, indptr), shape=X.shape), y


def _first_bad_line(lines: list[bytes], options: dict) -> tuple[int, Exception | None]:
    """Return the number of the first line that cannot be read, and why, by halving what it is in."""
    first, reason = 0, None
    while lines:
        half = lines[: (len(lines) + 1) // 2]
        try:
            load_svmlight_file(BytesIO(b"\n".join(half)), **options)
            first, lines = first + len(half), lines[len(half) :]
        except (ValueError, OverflowError) as error:
            reason = error
            if len(half) == 1:
                break
            lines = half
    return first + 1, reason
