"""NPZ files as dictionaries of arrays."""

import os
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from ..features.errors import DataError
from .limits import check_memory

_ENDING = ".npy"
_ACCEPTED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what NumPy writes


class NpzFile(Mapping[str, np.ndarray]):
    """The arrays of an NPZ file, each read and checked when it is asked for.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with _archive(path) as archive:
            self._names = {name.removesuffix(_ENDING): name for name in archive.namelist()}

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __getitem__(self, name: str) -> np.ndarray:
        member = self._names[name]
        try:
            with _archive(self.path) as archive:
                entry = archive.getinfo(member)
                if not entry.filename.endswith(_ENDING) or entry.compress_type not in _ACCEPTED:
                    raise DataError(f"{self.path}: {name} is not an array as NumPy writes them")
                with archive.open(entry) as stream:
                    self._check(name, stream)
                with archive.open(entry) as stream:
                    return npy.read_array(stream, allow_pickle=False)
        except DataError:
            raise
        # A damaged member, one that is encrypted, and one that holds objects raise errors of many kinds.
        except Exception as error:
            raise DataError(f"{self.path}: {name} cannot be read ({error})") from None

    def _check(self, name: str, stream: IO[bytes]) -> None:
        """Refuse objects, which could run code, and what is too large, by the header alone."""
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(stream)
        if dtype.hasobject:
            raise DataError(f"{self.path}: {name} holds objects, which are not read")
        n_bytes = dtype.itemsize
        for size in shape:
            n_bytes *= int(size)
        check_memory(self.path, n_bytes, f"{name}, {' x '.join(map(str, shape))} of {dtype},")


def _archive(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    # What a damaged directory of members raises depends on where the damage is.
    except Exception as error:
        raise DataError(f"{path}: not an NPZ file that can be read ({error})") from None


def load_npz(path: str | os.PathLike) -> NpzFile:
    """Open an NPZ file; arrays are read when asked for, objects, which could run code, are refused.

    Raises
    ------
    DataError
        If the file is missing or cannot be read as one.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    return NpzFile(path)
