"""NPY files: one array, mapped where it lies."""

import os
from pathlib import Path

import numpy as np

from ..features.errors import DataError


def map_npy(path: str | os.PathLike) -> np.memmap:
    """Map the array of an NPY file; objects, which could run code, are refused.

    Raises
    ------
    DataError
        If the file is missing, damaged, shorter than its header says, or an archive by the name of an array.
    """
    try:
        mapped = np.load(Path(path), mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    # The header is Python's notation: what is raised on a damaged one depends on where the damage is.
    except Exception as error:
        raise DataError(f"{path}: not a readable .npy file ({error})") from None
    if not isinstance(mapped, np.memmap):
        raise DataError(f"{path}: not a .npy file")
    return mapped
