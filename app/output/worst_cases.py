"""The errors of a detector, worst first: visible keypoints that it missed, and false alarms."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...models.keypoints.evaluation import Criteria, Observed, judge

NEAR = 0.5
"""A detection within this part of the size is taken as meant for the keypoint."""


@dataclass(frozen=True)
class Miss:
    """A visible keypoint without a detection in the hit radius that scores at least the threshold.

    Attributes
    ----------
    photo : int
        Number of the photo.
    place : tuple of float
        x, y in pixels of the photo.
    size : float
        The object's, in pixels of the photo.
    distance : float
        Of the detection that is meant for it, in parts of the size; infinite if there is none.
    score : float
        Of that detection; -inf if there is none.
    detection : int or None
        Number of that detection among the photo's: the nearest of those that score at least the
        threshold, otherwise the best of the others; within `NEAR`.
    reported : bool
        Whether it scores at least the threshold.
    """

    photo: int
    place: tuple[float, float]
    size: float
    distance: float = np.inf
    score: float = -np.inf
    detection: int | None = None
    reported: bool = False


@dataclass(frozen=True)
class FalseAlarm:
    """A detection that scores at least the threshold, far from the keypoint of every object.

    Attributes
    ----------
    photo : int
        Number of the photo.
    place : tuple of float
        x, y in pixels of the photo.
    size : float
        Of the object that the detection would belong to, by its scale, in pixels of the photo.
    distance : float
        To the nearest annotated keypoint, in parts of its object's size; infinite if there is none.
    score : float
    detection : int
        Its number among the photo's.
    """

    photo: int
    place: tuple[float, float]
    size: float
    distance: float
    score: float
    detection: int


def misses(photos: Sequence[Observed], threshold: float, criteria: Criteria) -> list[Miss]:
    """List the keypoints missed at a threshold, worst first.

    First those with no detection near that scores as much, largest object first; then the others, by how
    far off the nearest is, farthest first.
    """
    found: list[Miss] = []
    for number, photo in enumerate(photos):
        hits, _ = judge(photo, criteria)
        points = np.flatnonzero(photo.targets.visible)
        found.extend(_miss(number, photo, i, threshold) for i in points[hits < threshold].tolist())
    return sorted(found, key=lambda miss: (1, -miss.distance) if miss.reported else (0, -miss.size))


def _miss(number: int, photo: Observed, point: int, threshold: float) -> Miss:
    """What there is instead of a hit on one of a photo's annotated points."""
    x, y = photo.targets.points[point].tolist()
    place, size = (x, y), float(photo.targets.sizes[point])
    distance = photo.distances[:, point]
    near = np.flatnonzero(distance <= NEAR)
    if len(near) == 0:
        return Miss(number, place, size)
    reported = near[photo.scores[near] >= threshold]
    if len(reported):
        meant = int(reported[distance[reported].argmin()])
    else:
        meant = int(near[photo.scores[near].argmax()])
    score = float(photo.scores[meant])
    return Miss(number, place, size, float(distance[meant]), score, meant, score >= threshold)


def false_alarms(
    photos: Sequence[Observed], threshold: float, criteria: Criteria, object_px: float
) -> list[FalseAlarm]:
    """List the false alarms at a threshold, highest score first.

    Parameters
    ----------
    photos : sequence of Observed
    threshold : float
    criteria : Criteria
    object_px : float
        The detector's: typical size of an object in pixels of a window.
    """
    found = []
    for number, photo in enumerate(photos):
        _, alarms = judge(photo, criteria)
        nearest = photo.distances.min(axis=1, initial=np.inf)
        for i in np.flatnonzero(alarms & (photo.scores >= threshold)).tolist():
            x, y = photo.positions[i].tolist()
            size, score = object_px * float(photo.scales[i]), float(photo.scores[i])
            found.append(FalseAlarm(number, (x, y), size, float(nearest[i]), score, i))
    return sorted(found, key=lambda alarm: -alarm.score)


def pick_misses(worst: Sequence[Miss], n: int) -> list[Miss]:
    """Return `n` of the misses in their order: half with no reported detection near, half with one.

    Where one kind has fewer, the other fills its places.
    """
    alone = [miss for miss in worst if not miss.reported]
    off = [miss for miss in worst if miss.reported]
    n_alone = min(len(alone), max(n - n // 2, n - len(off)))
    return [*alone[:n_alone], *off[: n - n_alone]]
