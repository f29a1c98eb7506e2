"""Where exactly the keypoints of an object are: all of them are moved together, by what is seen around all.

An object's pose says roughly where its keypoints are. Windows around them, upright and at the object's own
size, tell how far each keypoint really is from there: a sum of piecewise linear responses to features
of all these windows, selected by annealing for all keypoints at once. They look again from
the new places, in a few stages. Windows of the whole object see what a keypoint's own window does not:
a chin has no texture, but there is a mouth above it. All this is done from several starts: their medians
are better than any one of them, and where they disagree the keypoint is not to be relied on.

This step is our addition to the paper's. Regressing a shape in stages is known from Dollar, Welinder and
Perona, "Cascaded pose regression", CVPR 2010; theirs are ferns, here annealing chooses the features.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit

from ....features.chunks import CHUNK
from ....features.errors import DataError
from ....features.jit import LEAF
from ....features.pool import PATCH_PX, cut_turned_windows
from ....features.pyramid import Level
from ..window_model import WindowModel
from .poses import LOG_SIZE, ROLL, X, Y, fit_poses, project
from .shape import RigidShape

STARTS = np.array([(0, 0, 0), (-1, -1, 1), (-1, 1, -1), (1, -1, -1), (1, 1, 1)]) * (0.05, 0.05, 0.06)
"""Offsets of the starts from an object's pose: x and y in parts of its size, logarithm of the size."""

MAX_OBJECT_PX = 10_000
MAX_OFFSET = 100
"""Of a keypoint from where it was, in parts of the object's size."""

_N_STEPS = 6  # of the fit of a pose
_FINER = 1.09  # windows are sampled from the level nearest to so many times their own resolution


@dataclass(frozen=True, eq=False)
class AlignmentStage:
    """Offsets of all keypoints of an object, from windows around where they are thought to be.

    Attributes
    ----------
    object_px : float
        Size of the object in pixels of a window.
    window : ndarray of shape (k,), int64
        Number of the keypoint in whose window each feature is.
    model : WindowModel
        Two sums for each keypoint, in parts of the object's size: across and down the upright object.
    """

    object_px: float
    window: np.ndarray
    model: WindowModel

    def __post_init__(self) -> None:
        n_outputs = len(self.model.intercept)
        if self.window.shape != (len(self.model),):
            raise DataError(f"alignment: window has shape {self.window.shape}, expected ({len(self.model)},)")
        if n_outputs % 2 or not 0 <= self.window.min() <= self.window.max() < n_outputs // 2:
            raise DataError(f"alignment: windows must lie in 0..{n_outputs // 2 - 1}, with two sums for each")
        if not 0.01 <= self.object_px <= MAX_OBJECT_PX:
            raise DataError(
                f"alignment: object_px must be a finite number above 0, in 0.01..{MAX_OBJECT_PX}, "
                f"got {self.object_px}"
            )
        if not self.model.largest <= MAX_OFFSET:
            raise DataError(f"alignment: an offset of more than {MAX_OFFSET} sizes of the object")

    @cached_property
    def _tables(self) -> np.ndarray:
        """Responses at each code, (k, 256, 2 * n_keypoints) float32: those to one code side by side."""
        return np.ascontiguousarray(np.moveaxis(self.model.tables, 0, 2))

    @cached_property
    def _by_window(self) -> list[tuple[int, np.ndarray, WindowModel]]:
        """Each window that is looked at, with the numbers of its features and their model."""
        numbers = [np.flatnonzero(self.window == number) for number in range(int(self.window.max()) + 1)]
        return [(i, here, self.model[here]) for i, here in enumerate(numbers) if len(here)]

    def offsets(self, patches: np.ndarray) -> np.ndarray:
        """Return where the keypoints are, seen from the middles of the windows.

        Parameters
        ----------
        patches : ndarray of shape (n_keypoints, n, 26, 26, 3), uint8
            As `upright_windows` gives them.

        Returns
        -------
        ndarray of shape (n, n_keypoints, 2), float64
            Across and down the upright object, in parts of its size.
        """
        n_windows, n = patches.shape[:2]
        out = np.tile(self.model.intercept, (n, 1))
        if n_windows * n <= CHUNK:  # all features of so few windows cost as much as each window's own
            every = self.model.codes(patches.reshape(-1, *patches.shape[2:]))
            codes = every.reshape(len(every), n_windows, n)[np.arange(len(every)), self.window]
            for _, here, _ in self._by_window:
                _add_responses(self._tables, here, codes[here], out)
        else:
            for number, here, model in self._by_window:
                _add_responses(self._tables, here, model.codes(patches[number]), out)
        return out.reshape(len(out), len(self.model.intercept) // 2, 2)


@njit(**LEAF, nogil=True)
def _add_responses(tables, numbers, codes, out):
    """Add the responses of some of the features, with codes (n_numbers, n), to the sums (n, n_outputs)."""
    for row in range(len(numbers)):
        for i in range(len(out)):
            for j in range(out.shape[1]):
                out[i, j] += tables[numbers[row], codes[row, i], j]


def align(
    poses: np.ndarray, levels: Sequence[Level], shape: RigidShape, stages: Sequence[AlignmentStage]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the keypoints of objects from their poses.

    Parameters
    ----------
    poses : ndarray of shape (n, 6), float64
    levels : sequence of Level
        Of the photo.
    shape : RigidShape
    stages : sequence of AlignmentStage

    Returns
    -------
    poses : ndarray of shape (n, 6), float64
        Fitted to the places found.
    points : ndarray of shape (n, n_keypoints, 2), float64
        x, y in pixels of the photo: medians over the starts.
    unsure : ndarray of shape (n, n_keypoints), float64
        Root mean square distance of the starts' results from them, in parts of the object's size.
    """
    moved = np.repeat(poses, len(STARTS), axis=0)
    shift = np.tile(STARTS, (len(poses), 1))
    moved[:, [X, Y]] += shift[:, :2] * np.exp(moved[:, LOG_SIZE, None])
    moved[:, LOG_SIZE] += shift[:, 2]
    points = project(moved, shape.points)
    for stage in stages:
        windows = upright_windows(moved, points, levels, stage.object_px)
        points = points + to_photo(stage.offsets(windows), moved)
        moved = refit(moved, points, shape)
    ends = points.reshape(len(poses), len(STARTS), *points.shape[1:])
    points = np.median(ends, axis=1)
    poses = refit(poses, points, shape)
    variance = np.sum((ends - points[:, None]) ** 2, axis=3).mean(axis=1)
    return poses, points, np.sqrt(variance) / np.exp(poses[:, LOG_SIZE, None])


def refit(poses: np.ndarray, points: np.ndarray, shape: RigidShape) -> np.ndarray:
    """Fit poses to all keypoints."""
    weights = np.ones(points.shape[:2])
    return fit_poses(poses, shape.points, points, weights, shape.spread, shape.prior, n_steps=_N_STEPS)


def to_photo(offsets: np.ndarray, poses: np.ndarray) -> np.ndarray:
    """Turn offsets (n, n_keypoints, 2) in an upright object into pixels of the photo."""
    return _turned(offsets, poses[:, ROLL]) * np.exp(poses[:, LOG_SIZE])[:, None, None]


def from_photo(offsets: np.ndarray, poses: np.ndarray) -> np.ndarray:
    """Undo `to_photo`."""
    return _turned(offsets, -poses[:, ROLL]) / np.exp(poses[:, LOG_SIZE])[:, None, None]


def _turned(offsets: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Offsets turned clockwise by one angle for each object."""
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
    x, y = offsets[..., 0], offsets[..., 1]
    return np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)


def upright_windows(
    poses: np.ndarray, points: np.ndarray, levels: Sequence[Level], object_px: float
) -> np.ndarray:
    """Cut a window around each keypoint of each object, as if the object were upright and of one size.

    Parameters
    ----------
    poses : ndarray of shape (n, 6), float64
        Their roll and size are used.
    points : ndarray of shape (n, n_keypoints, 2), float64
        x, y in pixels of the photo.
    levels : sequence of Level
    object_px : float
        Size of the object in pixels of a window.

    Returns
    -------
    ndarray of shape (n_keypoints, n, 26, 26, 3), uint8
    """
    n, n_keypoints = points.shape[:2]
    patches = np.empty((n_keypoints, n, PATCH_PX, PATCH_PX, 3), dtype=np.uint8)
    wanted = object_px / np.exp(poses[:, LOG_SIZE])
    octaves = np.log2([level.scale for level in levels])[:, None] - np.log2(_FINER * wanted)
    nearest = np.abs(octaves).argmin(axis=0)
    for number in np.unique(nearest).tolist():
        here, level = np.flatnonzero(nearest == number), levels[number]
        step = np.sqrt(np.prod(level.ratio)) / wanted[here]
        centres = level.from_photo(points[here])
        for k in range(n_keypoints):
            patches[k, here] = cut_turned_windows(level.image, centres[:, k], poses[here, ROLL], step)
    return patches
