"""What is known of the keypoints in a frame: how each looks at several zooms, and where they usually lie."""

from dataclasses import dataclass

import numpy as np

from ....features.errors import DataError
from ..window_model import WindowModel
from .relations import Relations

MAX_ZOOMS = 8
MAX_PX = 4096
"""Pixels of the finest image a unit of the frame."""


@dataclass(frozen=True, eq=False)
class Part:
    """How one keypoint looks.

    Attributes
    ----------
    zooms : tuple of WindowModel
        One sum each, from the coarsest zoom to the finest: positive where the keypoint is.
    offset : WindowModel
        Two sums: pixels of the finest zoom, x and y, from a window's middle to the keypoint.
    zone : ndarray of shape (4,), float64
        x0, y0, x1, y1 in the frame where the keypoint is looked for.
    """

    zooms: tuple[WindowModel, ...]
    offset: WindowModel
    zone: np.ndarray

    def __post_init__(self) -> None:
        if not 1 <= len(self.zooms) <= MAX_ZOOMS:
            raise DataError(f"parts: {len(self.zooms)} zooms, accepted are 1 to {MAX_ZOOMS}")
        if any(len(zoom.intercept) != 1 for zoom in self.zooms) or len(self.offset.intercept) != 2:
            raise DataError("parts: a zoom has one sum, an offset two")
        if (
            self.zone.shape != (4,)
            or not np.isfinite(self.zone).all()
            or (self.zone[2:] < self.zone[:2]).any()
        ):
            raise DataError("parts: a zone must be x0, y0, x1, y1")


@dataclass(frozen=True, eq=False)
class PartModel:
    """All keypoints of an object or a scene.

    Attributes
    ----------
    parts : tuple of Part
    relations : Relations
    box : ndarray of shape (4,), float64
        x0, y0, x1, y1 of the frame that are drawn on a canvas.
    px : float
        Pixels of the finest zoom a unit of the frame.
    scene_px : float or None
        Pixels of a picture a unit of the frame, for keypoints that are looked for in the whole picture; None
        if objects are found first, whose frames are theirs.
    weights : ndarray of shape (n_keypoints, n_zooms + 1), float64
        Factors of 1 and the sums of the zooms in the log-odds that a candidate is the keypoint.
    seen : ndarray of shape (n_keypoints, 4), float64
        Factors of 1, those log-odds, the squared distance from where others predict the keypoint, and the
        spread of the offsets around it, in the log-odds that the keypoint is seen there.
    error : ndarray of shape (n_keypoints, 4), float64
        ... and in the logarithm of the expected error, in units of the frame.
    whole : ndarray of shape (2,), float64
        Factors of 1 and the score of all keypoints together in the log-odds that there is an object.
    """

    parts: tuple[Part, ...]
    relations: Relations
    box: np.ndarray
    px: float
    scene_px: float | None
    weights: np.ndarray
    seen: np.ndarray
    error: np.ndarray
    whole: np.ndarray

    def __post_init__(self) -> None:
        n = len(self.parts)
        if n == 0 or len({len(part.zooms) for part in self.parts}) != 1:
            raise DataError("parts: all keypoints need the same number of zooms")
        shapes = {
            "weights": (n, self.n_zooms + 1),
            "seen": (n, 4),
            "error": (n, 4),
            "box": (4,),
            "whole": (2,),
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape or not np.isfinite(array).all():
                raise DataError(f"parts: {name} must be finite numbers of shape {shape}, got {array.shape}")
        if len(self.relations.mean) != n:
            raise DataError(f"parts: {n} keypoints with relations of {len(self.relations.mean)}")
        sizes = (self.box[2:] - self.box[:2]) * self.px
        if not 0 < self.px <= MAX_PX or not ((sizes > 0) & (sizes <= MAX_PX)).all():
            raise DataError(f"parts: a canvas of {sizes.tolist()} px, accepted are up to {MAX_PX}")
        if self.scene_px is not None and not 0 < self.scene_px <= 1e5:
            raise DataError(f"parts: scene_px must be a number above 0, got {self.scene_px}")

    @property
    def n_zooms(self) -> int:
        """How many zooms there are."""
        return len(self.parts[0].zooms)
