"""MATLAB files as dictionaries of arrays."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat

from ..features.errors import DataError


def load_mat(path: str | os.PathLike) -> dict[str, Any]:
    """Read the variables of a MATLAB file of version 7.2 or lower.

    Raises
    ------
    DataError
        If the file is missing or cannot be read as one.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    try:
        content = loadmat(path)
    # What loadmat raises on a damaged file depends on where the damage is.
    except Exception as error:
        raise DataError(f"{path}: not a MATLAB file that can be read ({error})") from None
    return {name: value for name, value in content.items() if not name.startswith("__")}


def track_positions(path: Path, name: str, array: np.ndarray) -> np.ndarray:
    """Turn homogeneous coordinates, (3, P, F) or (2, P, F), into x and y, (P, F, 2) float64."""
    if array.ndim != 3 or len(array) not in (2, 3) or array.dtype.kind not in "iuf":
        raise DataError(f"{path}: {name} has shape {array.shape}, expected (3, points, frames) numbers")
    return np.moveaxis(array[:2], 0, 2).astype(np.float64)


def track_labels(path: Path, name: str, array: np.ndarray, n_points: int) -> np.ndarray:
    """Check the motion of each point, whole numbers; return them as they are, (P,) int64."""
    labels = np.ravel(array)
    if len(labels) != n_points:
        raise DataError(f"{path}: {len(labels)} labels in {name} for {n_points} points")
    if labels.dtype.kind not in "biuf" or not np.array_equal(labels, np.round(labels.astype(np.float64))):
        raise DataError(f"{path}: {name} must hold whole numbers, one label a point")
    return labels.astype(np.int64)
