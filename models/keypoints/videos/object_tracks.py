"""Where the keypoints of a video's objects are, frame by frame."""

from dataclasses import dataclass, fields

import numpy as np

from ....features.errors import DataError

SEEN = 0.5
"""Likelihood from which on a keypoint counts as seen."""


@dataclass(frozen=True, eq=False)
class ObjectTracks:
    """Trajectories of objects and their keypoints.

    All arrays begin with the axes of frames and objects.

    Attributes
    ----------
    names : tuple of str
        Keypoints.
    frames : ndarray of shape (n_frames,), int64
        Numbers of the frames in the video, from 0, rising.
    points : ndarray of shape (n_frames, n_objects, n_keypoints, 2), float64
        x, y in pixels of the frame; NaN where an object was not found.
    likelihood : ndarray of shape (n_frames, n_objects, n_keypoints), float64
        That the keypoint is seen there, 0 to 1; NaN where the object was not found, 0 where a gap was filled.
    scores : ndarray of shape (n_frames, n_objects), float64
        Log-odds of the object; NaN where it was not found.
    sizes : ndarray of shape (n_frames, n_objects), float64
        Of the object in pixels; NaN where it was not found.
    filled : ndarray of shape (n_frames, n_objects), bool
        Whether the points are not found but filled in from the frames around.
    """

    names: tuple[str, ...]
    frames: np.ndarray
    points: np.ndarray
    likelihood: np.ndarray
    scores: np.ndarray
    sizes: np.ndarray
    filled: np.ndarray

    def __post_init__(self) -> None:
        n_frames, n_objects, k = len(self.frames), self.scores.shape[-1], len(self.names)
        shapes = {
            "frames": (n_frames,),
            "points": (n_frames, n_objects, k, 2),
            "likelihood": (n_frames, n_objects, k),
            "scores": (n_frames, n_objects),
            "sizes": (n_frames, n_objects),
            "filled": (n_frames, n_objects),
        }
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                found = getattr(self, name).shape
                raise DataError(f"trajectories: {name} has shape {found}, expected {shape}")

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return self.scores.shape[1]

    @property
    def there(self) -> np.ndarray:
        """Which objects were found in which frames, (n_frames, n_objects) bool."""
        return np.isfinite(self.scores)

    def of_objects(self, chosen: np.ndarray) -> "ObjectTracks":
        """Return the trajectories of some of the objects, chosen by a mask or indices."""
        arrays = {field.name: getattr(self, field.name) for field in fields(self)[2:]}
        return ObjectTracks(
            self.names, self.frames, **{name: array[:, chosen] for name, array in arrays.items()}
        )

    def seen_share(self) -> np.ndarray:
        """Share of all frames in which each keypoint of each object is seen, (n_objects, n_keypoints)."""
        with np.errstate(invalid="ignore"):
            return (self.likelihood >= SEEN).sum(axis=0) / max(1, len(self))

    def centres(self) -> np.ndarray:
        """Mean of each object's keypoints, (n_frames, n_objects, 2); NaN where there is none."""
        known = np.isfinite(self.points).all(axis=3)
        total = np.where(known[..., None], self.points, 0.0).sum(axis=2)
        n = known.sum(axis=2)
        return np.where(n[..., None] > 0, total / np.maximum(n, 1)[..., None], np.nan)

    def speeds(self) -> np.ndarray:
        """Pixels a frame that each object's centre moves since the frame before, (n_frames, n_objects).

        NaN in the first frame and after a frame without the object.
        """
        away = np.linalg.norm(np.diff(self.centres(), axis=0), axis=2) / np.diff(self.frames)[:, None]
        return np.concatenate([np.full((min(1, len(self)), self.n_objects), np.nan), away])
