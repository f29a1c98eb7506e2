"""NPZ files as dictionaries of arrays."""

import os
from pathlib import Path

import numpy as np

from ..features.errors import DataError


def load_npz(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """Read the arrays of an NPZ file; objects, which could run code, are refused.

    Raises
    ------
    DataError
        If the file is missing or cannot be read as one.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    try:
        # np.load leaves a file open that turns out not to be a ZIP archive.
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            return dict(file)
    # A damaged archive, one that is encrypted, and one that holds objects raise errors of many kinds.
    except Exception as error:
        raise DataError(f"{path}: not an NPZ file that can be read ({error})") from None
