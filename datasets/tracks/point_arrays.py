"""What point trackers write: CoTracker, TAPIR and the like, as `.npz` or `.npy`.

- N. Karaev et al. CoTracker: It is Better to Track Together. ECCV 2024: `pred_tracks` (1, T, N, 2) and
  `pred_visibility` (1, T, N).
- C. Doersch et al. TAPIR: Tracking Any Point with Per-Frame Initialization and Temporal Refinement.
  ICCV 2023: `tracks` (N, T, 2), `visibles` or `occluded` (N, T), `expected_dist` (N, T).

Which axis counts the frames is told by the name where a name says so, else by the arrays: along the frames,
points move in small steps.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ...features.errors import DataError
from ..limits import check_memory
from ..npy_files import map_npy
from .tracks import Tracks

POINTS = ("pred_tracks", "tracks", "points", "trajs_e", "trajectories")
VISIBLE = ("pred_visibility", "visibility", "visibles", "visible", "vis_e")
OCCLUDED = ("occluded", "pred_occluded", "occlusion")
CONFIDENCE = ("confidence", "pred_confidence", "conf")
FRAMES_FIRST = {"pred_tracks", "trajs_e"}
LEAST_CONFIDENCE = 0.5
SMOOTHER = 1.5  # how many times longer the steps along the other axis have to be
EXPECTED = "expected N x T x 2 or T x N x 2 (N points, T frames, x and y)"


def read_point_array(path: str | os.PathLike) -> Tracks:
    """Read an `.npy` file of points (N, T, 2) or (T, N, 2); a third column is visibility or confidence.

    Raises
    ------
    DataError
        If the file is damaged, holds objects, or has other axes.
    """
    path = Path(path)
    array = map_npy(path)
    check_memory(path, 3 * array.nbytes, f"{' x '.join(map(str, array.shape))} of {array.dtype},")
    return point_tracks({"tracks": np.array(array)}, path)


def is_point_file(content: Mapping[str, np.ndarray]) -> bool:
    """Whether an NPZ file has the arrays of a point tracker, rather than our own `positions`."""
    return "positions" not in content and any(name in content for name in POINTS)


def point_tracks(content: Mapping[str, np.ndarray], path: Path) -> Tracks:
    """Turn a point tracker's arrays into tracks.

    Parameters
    ----------
    content : mapping of str to ndarray
        Points by one of the names `POINTS`, and where the tracker says so, whether they are visible
        (`VISIBLE`), hidden (`OCCLUDED`) or how sure it is (`CONFIDENCE`: from one half, they are visible).
    path : Path
        For messages and the tracks' name.

    Returns
    -------
    Tracks
        A point that is not finite, or not visible, is a gap.
    """
    name = next(name for name in POINTS if name in content)
    points = _numbers(path, name, content[name])
    while points.ndim > 3 and points.shape[0] == 1:
        points = points[0]
    if points.ndim != 3 or points.shape[2] not in (2, 3) or 0 in points.shape:
        raise DataError(f"{path}: {name} has shape {points.shape}; {EXPECTED}")
    frames_first = name in FRAMES_FIRST or _frames_come_first(points, path, name)
    seen = np.isfinite(points[:, :, :2]).all(axis=2)
    if points.shape[2] == 3:
        seen &= _at_least_half(points[:, :, 2])
    for kind in (VISIBLE, OCCLUDED, CONFIDENCE):
        for other in kind:
            if other in content:
                says = _at_least_half(_matching(path, other, content[other], points.shape[:2], name))
                seen &= ~says if kind is OCCLUDED else says
    if frames_first:
        points, seen = points.transpose(1, 0, 2), seen.T
    positions = np.where(seen[:, :, None], points[:, :, :2], np.nan)
    return Tracks(positions, visible=seen, name=path.stem)


def _numbers(path: Path, name: str, array: np.ndarray) -> np.ndarray:
    if array.dtype.kind not in "biuf":
        raise DataError(f"{path}: {name} must hold numbers, found {array.dtype}")
    return array.astype(np.float64)


def _matching(path: Path, name: str, array: np.ndarray, shape: tuple[int, ...], points: str) -> np.ndarray:
    """A mask with the axes of the points; singletons before and after are taken off."""
    mask = _numbers(path, name, array)
    while mask.ndim > 2 and mask.shape[0] == 1:
        mask = mask[0]
    while mask.ndim > 2 and mask.shape[-1] == 1:
        mask = mask[..., 0]
    if mask.shape == shape[::-1] and mask.shape != shape:
        raise DataError(
            f"{path}: {name} has axes {mask.shape} where {points} has {shape}: they are the other way round"
        )
    if mask.shape != shape:
        raise DataError(f"{path}: {name} has shape {mask.shape}, expected {shape} as {points} has")
    return mask


def _at_least_half(values: np.ndarray) -> np.ndarray:
    """Whether each value is from one half on; not a number is not."""
    return np.asarray(np.nan_to_num(values, nan=0.0) >= LEAST_CONFIDENCE)


def _frames_come_first(points: np.ndarray, path: Path, name: str) -> bool:
    """Tell which axis counts the frames by the lengths of the steps along each."""
    steps = [_typical_step(points, axis) for axis in (0, 1)]
    if not all(np.isfinite(steps)):
        return bool(np.isfinite(steps[0]))  # a single point or a single frame
    if max(steps) < SMOOTHER * min(steps):
        raise DataError(
            f"{path}: {name} has shape {points.shape}, and nothing tells its frames from its points; "
            f"{EXPECTED}. A file with an array pred_tracks (T x N x 2) or positions (N x T x 2) says which"
        )
    return bool(steps[0] < steps[1])


def _typical_step(points: np.ndarray, axis: int) -> float:
    steps = np.linalg.norm(np.diff(points[:, :, :2], axis=axis), axis=2)
    steps = steps[np.isfinite(steps)]
    return float(np.median(steps)) if len(steps) else np.inf
