"""Precision and recall of single keypoints by the criteria of section 3.3.

A visible keypoint is found if a detection lies at most 5 % of the inter-eye distance (IED) from it. A
detection is a false alarm if it lies at least 10 % IED from the keypoint, visible or not, of every
object of the photo. Anything in between counts as neither.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...features.errors import ParameterError
from .detections import Detections
from .training.targets import KeypointTargets


@dataclass(frozen=True, eq=False)
class PrecisionRecall:
    """A precision-recall curve over the score.

    Attributes
    ----------
    threshold : ndarray of shape (n,), float64
        Scores at which something changes, falling.
    recall, precision : ndarray of shape (n,), float64
        Of the detections that score at least the threshold: found / visible keypoints, and found /
        (found + false alarms).
    false_per_photo : ndarray of shape (n,), float64
    n_keypoints, n_photos : int
        Visible keypoints, and photos.
    """

    threshold: np.ndarray
    recall: np.ndarray
    precision: np.ndarray
    false_per_photo: np.ndarray
    n_keypoints: int
    n_photos: int

    @property
    def average_precision(self) -> float:
        """Sum of precision times the gain in recall, zero for an empty curve."""
        return float(np.sum(np.diff(self.recall, prepend=0.0) * self.precision))

    def recall_at_precision(self, precision: float) -> float:
        """Return the largest recall that keeps the precision, zero if none does."""
        return float(self.recall[self.precision >= precision].max(initial=0.0))

    def at(self, threshold: float) -> tuple[float, float, float]:
        """Return (recall, precision, false alarms per photo) of the detections above a threshold.

        The precision of no detections at all is 1.
        """
        n = int(np.sum(self.threshold >= threshold))
        if n == 0:
            return 0.0, 1.0, 0.0
        return float(self.recall[n - 1]), float(self.precision[n - 1]), float(self.false_per_photo[n - 1])


@dataclass(frozen=True)
class Criteria:
    """Distances in parts of the object's size (the inter-eye distance).

    Attributes
    ----------
    hit : float
        Largest distance at which a keypoint is found.
    miss : float
        Smallest distance from every object's keypoint at which a detection is a false alarm.
    """

    hit: float = 0.05
    miss: float = 0.10

    def __post_init__(self) -> None:
        if not (0 < self.hit <= self.miss and np.isfinite(self.miss)):
            raise ParameterError(f"criteria must be 0 < hit <= miss, got {self.hit} and {self.miss}")


@dataclass(frozen=True, eq=False)
class Observed:
    """One keypoint's detections in a photo beside its annotation.

    Attributes
    ----------
    positions : ndarray of shape (n_detections, 2), float64
        x, y in pixels of the photo.
    scores : ndarray of shape (n_detections,), float64
    scales : ndarray of shape (n_detections,), float64
        Pixels of the photo per pixel of the detector's window.
    targets : KeypointTargets
    """

    positions: np.ndarray
    scores: np.ndarray
    scales: np.ndarray
    targets: KeypointTargets

    @property
    def distances(self) -> np.ndarray:
        """From each detection to each annotated keypoint, in parts of its object's size.

        Shape (n_detections, n_points), float64.
        """
        offsets = self.positions[:, None] - self.targets.points[None]
        return np.linalg.norm(offsets, axis=2) / self.targets.sizes


def observed(detections: Detections, keypoint: str, targets: KeypointTargets) -> Observed:
    """Put one keypoint's detections in a photo beside its annotation."""
    found = detections[detections.keypoint == keypoint]
    return Observed(np.stack([found.x, found.y], axis=1), found.score, found.scale, targets)


def precision_recall(photos: Iterable[Observed], criteria: Criteria = Criteria()) -> PrecisionRecall:
    """Compute the curve of one keypoint over a set of photos.

    Parameters
    ----------
    photos : iterable of Observed
    criteria : Criteria

    Returns
    -------
    PrecisionRecall
    """
    found, false = [np.empty(0)], [np.empty(0)]
    n_keypoints = n_photos = 0
    for photo in photos:
        hits, alarms = judge(photo, criteria)
        found.append(hits[np.isfinite(hits)])
        false.append(photo.scores[alarms])
        n_keypoints += int(photo.targets.visible.sum())
        n_photos += 1
    return _curve(np.concatenate(found), np.concatenate(false), n_keypoints, n_photos)


def judge(photo: Observed, criteria: Criteria) -> tuple[np.ndarray, np.ndarray]:
    """Compare one photo's detections of one keypoint with its annotation.

    Returns
    -------
    hits : ndarray of shape (n_visible,), float64
        Best score of a detection near enough to each visible keypoint, -inf where there is none.
    alarms : ndarray of shape (n_detections,), bool
        False alarms; none in ignore regions.
    """
    distance, targets = photo.distances, photo.targets
    near = distance[:, targets.visible] <= criteria.hit
    hits = np.where(near, photo.scores[:, None], -np.inf).max(axis=0, initial=-np.inf)
    away = (distance >= criteria.miss).all(axis=1)
    return hits, away & ~inside_regions(photo.positions, targets.ignore)


def inside_regions(positions: np.ndarray, regions: np.ndarray) -> np.ndarray:
    """Which positions lie in any of the regions (x0, y0, x1, y1)."""
    points = positions[:, None]
    inside = (points >= regions[None, :, :2]) & (points <= regions[None, :, 2:])
    return np.any(np.all(inside, axis=2), axis=1)


def _curve(found: np.ndarray, false: np.ndarray, n_keypoints: int, n_photos: int) -> PrecisionRecall:
    threshold = np.unique(np.concatenate([found, false]))[::-1]
    n_found = len(found) - np.searchsorted(np.sort(found), threshold)
    n_false = len(false) - np.searchsorted(np.sort(false), threshold)
    return PrecisionRecall(
        threshold=threshold,
        recall=n_found / max(n_keypoints, 1),
        precision=n_found / np.maximum(n_found + n_false, 1),
        false_per_photo=n_false / max(n_photos, 1),
        n_keypoints=n_keypoints,
        n_photos=n_photos,
    )
