"""Dense text: numbers with blanks or commas between them, one row per line."""

from pathlib import Path

import numpy as np

from ...features.errors import DataError
from .table import Table


def read_dense_text(path, labels_path) -> Table:
    """Read rows of numbers and their labels from two files, as the NIPS 2003 challenge has them.

    Parameters
    ----------
    path, labels_path : path-like
    """
    return Table(read_numbers(path), read_numbers(labels_path).ravel(), Path(path).name)


def read_numbers(path) -> np.ndarray:
    """Read a text file of numbers.

    Parameters
    ----------
    path : path-like
        Lines with the same count of finite numbers, with blanks or commas between them.

    Returns
    -------
    ndarray of shape (n_lines, n_columns), float64
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="ascii")
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not a text file of numbers") from error
    rows = [line.replace(",", " ").split() for line in text.splitlines() if line.strip()]
    if not rows:
        raise DataError(f"{path}: the file has no rows")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise DataError(f"{path}: row {number} has {len(row)} numbers, the first row has {len(rows[0])}")
    try:
        values = np.array(rows, dtype=np.float64)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from error
    if not np.isfinite(values).all():
        raise DataError(f"{path}: some values are not finite")
    return values
