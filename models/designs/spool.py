"""Arrays on a local disk for as long as they are needed, mapped where they are read.

A spool is a file without a name: whatever ends the process, nothing is left behind.
"""

import math
import mmap
import os
import shutil
import tempfile
import weakref
from threading import Lock

import numpy as np

from ...features.errors import DataError


class Spool:
    """A temporary file that arrays are appended to.

    Parameters
    ----------
    folder : path-like, optional
        That of `tempfile.gettempdir` by default, which the environment variable TMPDIR moves.

    Attributes
    ----------
    n_bytes : int
        Written so far.
    """

    def __init__(self, folder: str | os.PathLike | None = None) -> None:
        self.folder = tempfile.gettempdir() if folder is None else os.fspath(folder)
        self.n_bytes = 0
        self._lock = Lock()
        try:
            self._file = tempfile.TemporaryFile(dir=self.folder, buffering=0)  # noqa: SIM115
        except OSError as error:
            raise DataError(f"{self.folder}: no place for temporary files ({error.strerror})") from None
        weakref.finalize(self, self._file.close)

    def check_room(self, n_bytes: int) -> None:
        """Raise a DataError if the disk has less room than this."""
        free = shutil.disk_usage(self.folder).free
        if free < n_bytes:
            raise self._no_room(n_bytes)

    def append(self, values: np.ndarray) -> "SpooledArray":
        """Write an array; return it as it is mapped. Several threads may write at once."""
        if values.size == 0:
            return SpooledArray(mmap.mmap(-1, 1), values.dtype, values.shape)  # nothing cannot be mapped
        data = memoryview(np.ascontiguousarray(values).data).cast("B")
        with self._lock:
            start = -(-self.n_bytes // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
            self.n_bytes = start + len(data)
        written = 0
        try:
            while written < len(data):
                written += os.pwrite(self._file.fileno(), data[written:], start + written)
        except OSError:
            raise self._no_room(len(data)) from None
        pages = mmap.mmap(self._file.fileno(), len(data), offset=start, access=mmap.ACCESS_READ)
        return SpooledArray(pages, values.dtype, values.shape)

    def _no_room(self, n_bytes: int) -> DataError:
        free = shutil.disk_usage(self.folder).free
        return DataError(
            f"{self.folder}: {n_bytes / 1e9:.2f} GB are needed for a temporary copy of the table, "
            f"{free / 1e9:.2f} GB are free; TMPDIR names another folder"
        )


class SpooledArray:
    """An array in a spool.

    Attributes
    ----------
    values : ndarray
        Mapped, read-only.
    """

    def __init__(self, pages: mmap.mmap, dtype: np.dtype, shape: tuple[int, ...]) -> None:
        self._pages = pages
        self.values = np.frombuffer(pages, dtype=dtype, count=math.prod(shape)).reshape(shape)

    def release(self) -> None:
        """Give back the memory of the pages that were read; they are read again when needed."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._pages.madvise(mmap.MADV_DONTNEED)
