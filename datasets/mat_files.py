"""MATLAB files as dictionaries of arrays."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..features.errors import DataError
from .limits import check_memory
from .mat_format import DamagedError, list_arrays, read_array

MAX_LABEL = 2**31 - 1


class MatFile(Mapping[str, Any]):
    """The variables of a MATLAB file, each read and checked when it is asked for.

    Numbers come as ndarray or csc_array, text as str, a struct as a list of dicts, a cell array as a list;
    what else there is comes as None.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            arrays = list_arrays(path.read_bytes())
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror})") from None
        except DamagedError as error:
            raise self._damaged(error) from None
        self._arrays = {name: array for name, array in arrays.items() if name and not name.startswith("__")}

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __contains__(self, name: object) -> bool:
        return name in self._arrays

    def __getitem__(self, name: str) -> Any:
        stored = self._arrays[name]
        try:
            return read_array(
                stored, lambda n_bytes, what: check_memory(self.path, n_bytes, f"{name}: {what}")
            )
        except DamagedError as error:
            raise self._damaged(error) from None

    def _damaged(self, error: DamagedError) -> DataError:
        return DataError(f"{self.path}: not a MATLAB file that can be read ({error})")


def load_mat(path: str | os.PathLike) -> MatFile:
    """Open a MATLAB file of version 7.2 or lower; variables are read when asked for.

    Raises
    ------
    DataError
        If the file is missing or cannot be read as one.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    return MatFile(path)


def track_positions(path: Path, name: str, array: Any) -> np.ndarray:
    """Turn homogeneous coordinates, (3, P, F) or (2, P, F), into x and y, (P, F, 2) float64."""
    array = _numbers(path, name, array)
    if array.ndim != 3 or len(array) not in (2, 3) or array.dtype.kind not in "iuf":
        raise DataError(f"{path}: {name} has shape {array.shape}, expected (3, points, frames) numbers")
    return np.moveaxis(array[:2], 0, 2).astype(np.float64)


def track_labels(path: Path, name: str, array: Any, n_points: int) -> np.ndarray:
    """Check the motion of each point, whole numbers; return them as they are, (P,) int64."""
    labels = np.ravel(_numbers(path, name, array))
    if len(labels) != n_points:
        raise DataError(f"{path}: {len(labels)} labels in {name} for {n_points} points")
    if labels.dtype.kind not in "biuf" or not np.array_equal(labels, np.round(labels.astype(np.float64))):
        raise DataError(f"{path}: {name} must hold whole numbers, one label a point")
    if np.abs(labels.astype(np.float64)).max(initial=0) > MAX_LABEL:
        raise DataError(f"{path}: {name} has a label beyond {MAX_LABEL}")
    return labels.astype(np.int64)


def _numbers(path: Path, name: str, value: Any) -> np.ndarray:
    if not isinstance(value, np.ndarray):
        raise DataError(f"{path}: {name} is not an array of numbers")
    return value
