"""IDX files, the arrays of bytes and numbers that MNIST comes in."""

import gzip
import math
import zlib
from pathlib import Path
from typing import IO

import numpy as np

from ...features.errors import DataError
from ..limits import check_memory
from .table import Table

_DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
MAX_DIMENSIONS = 8
_GZIP_MAGIC = b"\x1f\x8b"


def read_idx_images(path, labels_path) -> Table:
    """Read images, each as one row of its pixels, and their labels.

    Parameters
    ----------
    path, labels_path : path-like
        IDX files, gzipped or not.
    """
    images, labels = read_idx(path), read_idx(labels_path)
    if labels.ndim != 1:
        raise DataError(f"{labels_path}: labels have shape {labels.shape}; they must be a vector")
    rows = images.reshape(len(images), math.prod(images.shape[1:])).astype(np.float64)
    return Table(rows, labels.astype(np.int64), Path(path).name)


def read_idx(path) -> np.ndarray:
    """Read one array, in its own type and shape.

    Parameters
    ----------
    path : path-like
        An IDX file, gzipped or not.
    """
    path = Path(path)
    try:
        with open(path, "rb") as file:
            packed = file.read(2) == _GZIP_MAGIC
            file.seek(0)
            return _array(path, gzip.open(file) if packed else file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: damaged gzip file ({error})") from error
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error


def _array(path: Path, stream: IO[bytes] | gzip.GzipFile) -> np.ndarray:
    """Read as much as the header says, and no more than that may be."""
    # Two zero bytes, the type, the number of dimensions, then each dimension in four bytes.
    head = stream.read(4)
    if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in _DTYPES:
        raise DataError(f"{path}: not an IDX file")
    dtype, n_dimensions = np.dtype(_DTYPES[head[2]]), head[3]
    sizes = stream.read(4 * n_dimensions)
    if not 1 <= n_dimensions <= MAX_DIMENSIONS or len(sizes) < 4 * n_dimensions:
        raise DataError(
            f"{path}: the header of {n_dimensions} dimensions is cut short, or of more than {MAX_DIMENSIONS}"
        )
    shape = tuple(np.frombuffer(sizes, dtype=">u4").tolist())
    n_values = math.prod(shape)
    expected = dtype.itemsize * n_values
    check_memory(path, expected + 8 * n_values, f"an array of {' x '.join(map(str, shape))}")
    data = stream.read(expected + 1)
    if len(data) != expected:
        found = "more" if len(data) > expected else len(data)
        raise DataError(f"{path}: {found} bytes of data, shape {shape} needs {expected}")
    return np.frombuffer(data, dtype=dtype).reshape(shape).astype(dtype.newbyteorder("="))
