"""Annotated photos in memory: what every annotation format is read into."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ...features.errors import DataError, ParameterError
from .images import read_image

EYES = ("left_eye_center", "right_eye_center")


@dataclass(frozen=True, eq=False)
class Photo:
    """One photo with its annotated objects (faces, bottles, wings).

    All coordinates are (x, y) in pixels of the photo as a viewer shows it, pixel centres on
    integers. The first axis of `points`, `visible`, `sizes` and `boxes` counts the objects, the
    second of `points` and `visible` the keypoint names of the set.

    Attributes
    ----------
    name : str
        As the annotation calls it, usually the file name.
    source : Path or ndarray of shape (H, W, 3), uint8
        Where the pixels are.
    object_names : tuple of str
    points : ndarray of shape (n_objects, n_keypoints, 2), float64
        NaN where a keypoint is not annotated.
    visible : ndarray of shape (n_objects, n_keypoints), bool
        False where a keypoint is hidden, outside the photo or not annotated.
    sizes : ndarray of shape (n_objects,), float64
        Size in pixels as the annotation states it (the eye distance of faces), NaN if it does not.
    boxes : ndarray of shape (n_objects, 4), float64
        x0, y0, x1, y1, both ends inside; NaN if unknown.
    ignore : ndarray of shape (n_regions, 4), float64
        Regions, as boxes, with objects that nobody annotated: neither negatives nor false alarms
        are taken from them.
    originals : tuple of str
        What each object was called where its annotation comes from; empty if nothing says it.
    """

    name: str
    source: Path | np.ndarray
    object_names: tuple[str, ...]
    points: np.ndarray
    visible: np.ndarray
    sizes: np.ndarray
    boxes: np.ndarray
    ignore: np.ndarray = field(default_factory=lambda: np.empty((0, 4)))
    originals: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n_objects = len(self.object_names)
        n_keypoints = self.points.shape[1] if self.points.ndim == 3 else -1
        wanted = {
            "points": (n_objects, n_keypoints, 2),
            "visible": (n_objects, n_keypoints),
            "sizes": (n_objects,),
            "boxes": (n_objects, 4),
            "ignore": (len(self.ignore), 4),
        }
        for name, shape in wanted.items():
            found = getattr(self, name).shape
            if found != shape:
                raise DataError(f"{self.name}: {name} has shape {found}, expected {shape}")

    def read(self) -> np.ndarray:
        """Return the pixels, (H, W, 3) uint8 RGB, reading the file if there is one."""
        return self.source if isinstance(self.source, np.ndarray) else read_image(self.source)


@dataclass(frozen=True, eq=False)
class PhotoSet:
    """Photos annotated with the same keypoint names.

    Attributes
    ----------
    keypoint_names : tuple of str
    photos : tuple of Photo
    problems : tuple of str
        One line for each part of the annotation that could not be used and was left out.
    """

    keypoint_names: tuple[str, ...]
    photos: tuple[Photo, ...]
    problems: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for photo in self.photos:
            if photo.points.shape[1] != len(self.keypoint_names):
                raise DataError(
                    f"{photo.name}: {photo.points.shape[1]} keypoints, but the set names "
                    f"{len(self.keypoint_names)}"
                )

    def __len__(self) -> int:
        return len(self.photos)

    def __iter__(self) -> Iterator[Photo]:
        return iter(self.photos)

    def __getitem__(self, index: slice | Sequence[int] | np.ndarray) -> "PhotoSet":
        """Return the set of some of the photos."""
        chosen = self.photos[index] if isinstance(index, slice) else tuple(self.photos[i] for i in index)
        return replace(self, photos=chosen)

    @property
    def n_objects(self) -> int:
        """Number of annotated objects in all photos."""
        return sum(len(photo.object_names) for photo in self.photos)

    def keypoint_index(self, name: str) -> int:
        """Return the column of a keypoint, or say which names there are."""
        if name not in self.keypoint_names:
            names = self.keypoint_names
            more = f" and {len(names) - 10} more" if len(names) > 10 else ""
            raise ParameterError(f"keypoint {name!r} is not annotated; found: {', '.join(names[:10])}{more}")
        return self.keypoint_names.index(name)

    def split(self, fraction: float, seed: int = 0) -> tuple["PhotoSet", "PhotoSet"]:
        """Split the photos at random into one set and another of about `fraction` of them.

        Photos keep their order. The draw depends only on the number of photos and the seed.
        """
        if not 0 < fraction < 1:
            raise ParameterError(f"fraction must be between 0 and 1, got {fraction}")
        drawn = np.random.default_rng(seed).permutation(len(self))[: round(fraction * len(self))]
        second = np.zeros(len(self), dtype=bool)
        second[drawn] = True
        return self[np.flatnonzero(~second)], self[np.flatnonzero(second)]


def with_sizes(photos: PhotoSet, reference: str | tuple[str, str] = "auto") -> PhotoSet:
    """Return the set with the size of every object, in pixels, by one rule.

    The size is what a detector's windows are scaled by: the inter-eye distance (IED) of faces in
    section 3.3 of the paper.

    Parameters
    ----------
    photos : PhotoSet
    reference : {"auto", "size", "box"} or pair of keypoint names
        - pair: the distance of two keypoints; where one is missing, the annotated size.
        - "size": the annotated size alone.
        - "box": the square root of the area of the annotated box, or of the box of the points.
        - "auto": the two eye centres where the set has them, otherwise the annotated size,
          otherwise the box.

    Returns
    -------
    PhotoSet
        Sizes that the rule does not give are NaN.

    Raises
    ------
    ParameterError
        If a keypoint of the pair is not in the set, or the rule is unknown.
    """
    if reference == "auto":
        reference = _automatic_reference(photos)
    if isinstance(reference, str):
        if reference not in ("size", "box"):
            raise ParameterError(
                f"scale reference must be 'auto', 'size', 'box' or two keypoints, got {reference!r}"
            )
        rule = _box_sizes if reference == "box" else _annotated_sizes
        return replace(photos, photos=tuple(replace(photo, sizes=rule(photo)) for photo in photos))
    first, second = (photos.keypoint_index(name) for name in reference)
    return replace(
        photos, photos=tuple(replace(photo, sizes=_pair_sizes(photo, first, second)) for photo in photos)
    )


def _automatic_reference(photos: PhotoSet) -> str | tuple[str, str]:
    if set(EYES) <= set(photos.keypoint_names):
        return EYES
    annotated = any(np.isfinite(photo.sizes).any() for photo in photos)
    return "size" if annotated else "box"


def _annotated_sizes(photo: Photo) -> np.ndarray:
    return photo.sizes


def _pair_sizes(photo: Photo, first: int, second: int) -> np.ndarray:
    distance = np.linalg.norm(photo.points[:, first] - photo.points[:, second], axis=1)
    return np.where(np.isfinite(distance) & (distance > 0), distance, photo.sizes)


def _box_sizes(photo: Photo) -> np.ndarray:
    boxes = object_boxes(photo)
    return np.sqrt(np.prod(boxes[:, 2:] - boxes[:, :2], axis=1))


def object_boxes(photo: Photo) -> np.ndarray:
    """Return the box of every object: the annotated one, otherwise that of its points.

    Returns
    -------
    ndarray of shape (n_objects, 4), float64
        x0, y0, x1, y1; NaN for an object without box and points.
    """
    boxes = photo.boxes.copy()
    for i, points in enumerate(photo.points):
        known = points[np.isfinite(points).all(axis=1)]
        if not np.isfinite(boxes[i]).all() and len(known):
            boxes[i] = *known.min(axis=0), *known.max(axis=0)
    return boxes
