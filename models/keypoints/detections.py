"""Detections travel as one dataclass of arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from ...features.errors import DataError

NO_OBJECT = -1


@dataclass(frozen=True, eq=False)
class Detections:
    """Keypoints found in one photo, best first.

    All arrays share the first and only axis.

    Attributes
    ----------
    x, y : ndarray, float64
        Position in pixels of the photo, pixel centres on integers.
    scale : ndarray, float64
        Pixels of the photo per pixel of the detector's window: a window covers `window_px * scale`
        pixels of the photo.
    score : ndarray, float64
        The classifier's response; larger is surer. Zero divides the classes in training.
    keypoint : ndarray, str
        Name of the keypoint.
    object : ndarray, int64
        Number of the object within the photo, -1 for a detection that stands alone.
    found : ndarray, bool
        False for a keypoint of an object that was not detected: it is where the object's pose predicts it.
    """

    x: np.ndarray
    y: np.ndarray
    scale: np.ndarray
    score: np.ndarray
    keypoint: np.ndarray
    object: np.ndarray
    found: np.ndarray

    def __post_init__(self) -> None:
        shapes = {field.name: getattr(self, field.name).shape for field in fields(self)}
        if len(set(shapes.values())) != 1 or self.x.ndim != 1:
            raise DataError(f"detections need arrays of one common length, got {shapes}")

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: slice | Sequence[int] | np.ndarray) -> "Detections":
        """Return some of the detections, chosen by a slice, a mask or indices."""
        return Detections(*(getattr(self, field.name)[index] for field in fields(self)))

    @property
    def face(self) -> np.ndarray:
        """The numbers of the objects under the name that the CSV column has."""
        return self.object

    @property
    def keypoint_names(self) -> tuple[str, ...]:
        """Names that occur, in alphabetical order."""
        return tuple(str(name) for name in np.unique(self.keypoint))


def make_detections(
    x: np.ndarray, y: np.ndarray, scale: np.ndarray, score: np.ndarray, keypoint: str, number: int = NO_OBJECT
) -> Detections:
    """Return detections of one keypoint as they come out of a scan, or those of object `number`."""
    x = np.asarray(x, dtype=np.float64)
    return Detections(
        x,
        np.asarray(y, dtype=np.float64),
        np.asarray(scale, dtype=np.float64),
        np.asarray(score, dtype=np.float64),
        np.full(x.shape, keypoint),
        np.full(x.shape, number, dtype=np.int64),
        np.ones(x.shape, dtype=bool),
    )


def join_detections(parts: Sequence[Detections]) -> Detections:
    """Return all detections of several sets, best first; equal scores keep their order."""
    if not parts:
        nothing = np.empty(0)
        return make_detections(nothing, nothing, nothing, nothing, "")
    columns = [np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Detections)]
    joined = Detections(*columns)
    return joined[np.argsort(-joined.score, kind="stable")]
