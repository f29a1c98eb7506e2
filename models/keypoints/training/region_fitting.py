"""Train the classifier of whole objects, by which regions are found (regions.py)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....features.errors import ParameterError
from ....features.pool import WINDOW_PX
from ..keypoint_classifier import KeypointClassifier
from ..objects.poses import LOG_SIZE
from ..objects.shape import RigidShape
from ..objects.shape_sizes import annotated_poses
from ..regions import RegionFinder
from .targets import AnnotatedPhoto

VIEW = 1.3
"""Side of a window, in parts of the larger side of the object's keypoints seen in their mean pose."""

_OCTAVES = 1.0
FAR = 0.6
"""Windows this far from an object's middle, in its sizes, do not show it."""

_BEYOND = 0.3
"""Sizes by which keypoints may lie farther out than those of the mean pose, or the middle be wrong."""

_LEAST_ZOOM = 0.7
"""Windows around keypoints show them at no less than this part of the classifiers' resolution."""


@dataclass(frozen=True)
class RegionConfig:
    """How the classifier of whole objects is trained.

    Attributes
    ----------
    k : int
        Features selected; 0: none is trained, photos are scanned for keypoints.
    n_haar : int
        Haar features drawn at random; other channels always take part.
    rounds, n_hard, n_random : int
        Of mining, as in `TrainingConfig`.
    n_iter : int
        Of annealing.
    """

    k: int = 150
    n_haar: int = 1500
    rounds: int = 4
    n_hard: int = 10_000
    n_random: int = 20_000
    n_iter: int = 300

    def __post_init__(self) -> None:
        for name, least in (("k", 0), ("n_haar", 0), ("rounds", 0), ("n_hard", 1), ("n_random", 1)):
            if getattr(self, name) < least:
                raise ParameterError(f"regions: {name} must be at least {least}, got {getattr(self, name)}")


@dataclass(frozen=True, eq=False)
class CentredPhoto:
    """A photo with the middle of each object as one keypoint more, the last one.

    See `AnnotatedPhoto`. Objects without a pose have no middle.
    """

    photo: AnnotatedPhoto
    points: np.ndarray
    visible: np.ndarray
    sizes: np.ndarray

    @property
    def name(self) -> str:
        """As the annotation calls it."""
        return self.photo.name

    @property
    def boxes(self) -> np.ndarray:
        """Of the objects."""
        return self.photo.boxes

    @property
    def ignore(self) -> np.ndarray:
        """Regions with objects that nobody annotated."""
        return self.photo.ignore

    def read(self) -> np.ndarray:
        """Return the pixels."""
        return self.photo.read()


def centred(photo: AnnotatedPhoto, columns: Sequence[int], shape: RigidShape) -> CentredPhoto:
    """Add the middles of a photo's objects, where a shape that is fitted to their keypoints has its own.

    A middle counts as visible where one of its object's keypoints is.
    """
    fitted, poses = annotated_poses(photo, columns, shape)
    middles = np.full((len(photo.points), 1, 2), np.nan)
    middles[fitted, 0] = poses[:, :2]
    sizes = photo.sizes.copy()
    sizes[fitted] = np.exp(poses[:, LOG_SIZE])
    seen = np.isfinite(middles).all(axis=2) & photo.visible[:, columns].any(axis=1, keepdims=True)
    return CentredPhoto(
        photo,
        np.concatenate([photo.points, middles], axis=1),
        np.concatenate([photo.visible, seen], axis=1),
        sizes,
    )


def size_range(shape: RigidShape) -> tuple[float, float]:
    """Sizes in pixels of a window at which it shows all of an object."""
    typical = WINDOW_PX / (VIEW * _extent(shape))
    return typical * 2 ** (-_OCTAVES / 2), typical * 2 ** (_OCTAVES / 2)


def region_finder(classifier: KeypointClassifier, shape: RigidShape, object_px: float) -> RegionFinder:
    """Put a trained classifier to use.

    Parameters
    ----------
    classifier : KeypointClassifier
    shape : RigidShape
    object_px : float
        Size of the object in windows of the keypoints.
    """
    low, high = size_range(shape)
    farthest = float(np.linalg.norm(shape.points[:, :2], axis=1).max())
    reach = farthest + _BEYOND + WINDOW_PX / 2 / (_LEAST_ZOOM * object_px)
    return RegionFinder(replace(classifier, threshold=0.0), float(np.sqrt(low * high)), _OCTAVES, reach)


def _extent(shape: RigidShape) -> float:
    """Larger side of the keypoints' box, seen from the front, in sizes."""
    return float(np.ptp(shape.points[:, :2], axis=0).max())
