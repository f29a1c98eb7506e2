"""Where a keypoint is, must not be, and cannot be known to be, in a photo and on its pyramid.

Section 3.3: positives lie within one pixel of the annotation on the levels where the inter-eye
distance is in [20, 40] pixels; negatives are all points at least 0.5 inter-eye distances away.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ....features.errors import ParameterError
from ....features.pyramid import Level


class AnnotatedPhoto(Protocol):
    """What training and evaluation ask of a photo; see `annealed.datasets.photos.photo_set.Photo`."""

    @property
    def name(self) -> str: ...
    @property
    def points(self) -> np.ndarray: ...
    @property
    def visible(self) -> np.ndarray: ...
    @property
    def sizes(self) -> np.ndarray: ...
    @property
    def boxes(self) -> np.ndarray: ...
    @property
    def ignore(self) -> np.ndarray: ...
    def read(self) -> np.ndarray: ...


@dataclass(frozen=True)
class TargetConfig:
    """Which windows are positives and which may be negatives.

    Attributes
    ----------
    positive_radius_px : float
        Positives are windows whose centre lies this near to the annotation, in pixels of the level.
    size_range_px : (float, float)
        ... on levels where the object's size (the inter-eye distance) lies in this range.
    negative_distance : float
        Negatives lie at least this many object sizes from every annotation.
    """

    positive_radius_px: float = 1.0
    size_range_px: tuple[float, float] = (20.0, 40.0)
    negative_distance: float = 0.5

    def __post_init__(self) -> None:
        low, high = self.size_range_px
        if not (np.isfinite([low, high]).all() and 0 < low <= high):
            raise ParameterError(
                f"size_range_px must be two ascending positive numbers, got {low:g}, {high:g}"
            )
        for name in ("positive_radius_px", "negative_distance"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise ParameterError(f"{name} must be a finite number above 0, got {value}")

    def in_range(self, sizes: np.ndarray) -> np.ndarray:
        """Return which sizes, in pixels of a level, let a keypoint be a positive there."""
        low, high = self.size_range_px
        # a size that is meant to be exactly the end of the range must not fall out by rounding
        return (sizes >= low * (1 - 1e-3)) & (sizes <= high * (1 + 1e-3))


@dataclass(frozen=True, eq=False)
class KeypointTargets:
    """What one photo's annotation says about one keypoint, in pixels (x, y) of the photo.

    Attributes
    ----------
    points : ndarray of shape (n, 2), float64
        Known places of the keypoint, visible or not.
    visible : ndarray of shape (n,), bool
    sizes : ndarray of shape (n,), float64
    ignore : ndarray of shape (n_regions, 4), float64
        x0, y0, x1, y1 of regions where the keypoint may be without being annotated.
    """

    points: np.ndarray
    visible: np.ndarray
    sizes: np.ndarray
    ignore: np.ndarray


def keypoint_targets(photo: AnnotatedPhoto, keypoint: int, margin: float = 0.5) -> KeypointTargets:
    """Read one keypoint's targets off a photo's annotation.

    An object whose keypoint or size is not annotated becomes an ignore region: the box around
    everything known of it, wider by `margin` of its size (of its box where the size is unknown).

    Parameters
    ----------
    photo : AnnotatedPhoto
    keypoint : int
        Column of `photo.points`.
    margin : float
    """
    points = photo.points[:, keypoint]
    known = np.isfinite(points).all(axis=1) & np.isfinite(photo.sizes)
    regions = [photo.ignore]
    regions.extend(_object_region(photo, i, margin)[None] for i in np.flatnonzero(~known).tolist())
    return KeypointTargets(
        points[known], photo.visible[known, keypoint], photo.sizes[known], np.concatenate(regions)
    )


def _object_region(photo: AnnotatedPhoto, i: int, margin: float) -> np.ndarray:
    """Box around all that is known of an object, everything if nothing is."""
    corners = np.concatenate([photo.points[i], photo.boxes[i].reshape(2, 2)])
    corners = corners[np.isfinite(corners).all(axis=1)]
    if len(corners) == 0:
        return np.array([-np.inf, -np.inf, np.inf, np.inf])
    low, high = corners.min(axis=0), corners.max(axis=0)
    size = photo.sizes[i] if np.isfinite(photo.sizes[i]) else np.linalg.norm(high - low)
    return np.concatenate([low - margin * size, high + margin * size])


def positive_windows(targets: KeypointTargets, config: TargetConfig, level: Level) -> np.ndarray:
    """Return the window centres of one pyramid level that are positives.

    Parameters
    ----------
    targets : KeypointTargets
    config : TargetConfig
    level : Level

    Returns
    -------
    ndarray of shape (n, 2), int64
        x, y on the level, in the order of reading, each once.
    """
    sizes = targets.sizes * np.sqrt(np.prod(level.ratio))
    chosen = np.flatnonzero(targets.visible & config.in_range(sizes))
    reach = int(np.ceil(config.positive_radius_px))
    offsets = np.indices((2 * reach + 1, 2 * reach + 1)).reshape(2, -1).T - reach
    centres = [np.empty((0, 2), dtype=np.int64)]
    for point in level.from_photo(targets.points[chosen]):
        candidates = np.rint(point).astype(np.int64) + offsets
        near = np.linalg.norm(candidates - point, axis=1) <= config.positive_radius_px
        centres.append(candidates[near])
    found = np.unique(np.concatenate(centres), axis=0)
    found = found[np.lexsort(found.T)]
    return found[((found >= 0) & (found < level.size)).all(axis=1)]


def are_negatives(
    targets: KeypointTargets, config: TargetConfig, level: Level, places: np.ndarray
) -> np.ndarray:
    """Return which windows of one pyramid level are negatives.

    Parameters
    ----------
    targets : KeypointTargets
    config : TargetConfig
    level : Level
    places : ndarray of shape (n, 2), int
        x, y of their centres on the level.

    Returns
    -------
    ndarray of shape (n,), bool
        False nearer than the distance asked for to an annotation, visible or not, and in ignore regions.
    """
    in_photo = level.to_photo(places)
    allowed = np.ones(len(places), dtype=bool)
    for point, size in zip(targets.points, targets.sizes, strict=True):
        allowed &= np.sum((in_photo - point) ** 2, axis=1) >= (config.negative_distance * size) ** 2
    for region in targets.ignore:
        first, last = level.from_photo(region[:2]), level.from_photo(region[2:])
        allowed &= ~((places >= first) & (places <= last)).all(axis=1)
    return allowed
