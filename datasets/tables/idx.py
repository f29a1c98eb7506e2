"""IDX files, the arrays of bytes and numbers that MNIST comes in."""

import gzip
import zlib
from pathlib import Path

import numpy as np

from ...features.errors import DataError
from .table import Table

_DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
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
    rows = images.reshape(len(images), -1).astype(np.float64)
    return Table(rows, labels.astype(np.int64), Path(path).name)


def read_idx(path) -> np.ndarray:
    """Read one array, in its own type and shape.

    Parameters
    ----------
    path : path-like
        An IDX file, gzipped or not.
    """
    content = _content(Path(path))
    # Two zero bytes, the type, the number of dimensions, then each dimension in four bytes.
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in _DTYPES:
        raise DataError(f"{path}: not an IDX file")
    dtype, n_dimensions = np.dtype(_DTYPES[content[2]]), content[3]
    start = 4 + 4 * n_dimensions
    if n_dimensions == 0 or len(content) < start:
        raise DataError(f"{path}: the header of {n_dimensions} dimensions is cut short")
    shape = tuple(int(size) for size in np.frombuffer(content[4:start], dtype=">u4"))
    expected = dtype.itemsize * int(np.prod(shape, dtype=object))
    if len(content) - start != expected:
        raise DataError(f"{path}: {len(content) - start} bytes of data, shape {shape} needs {expected}")
    values = np.frombuffer(content, dtype=dtype, offset=start).reshape(shape)
    return values.astype(dtype.newbyteorder("="))


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    if not content.startswith(_GZIP_MAGIC):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: damaged gzip file ({error})") from error
