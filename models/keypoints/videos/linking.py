"""Objects of one frame given to those of the frames before: who is who.

Every object is expected where its keypoints go on to with the velocity they had. What is found in the
next frame is given to the expected objects so that the sum of log-odds, less squared distances from what is
expected, is largest (linear assignment). Distances count no more beyond a limit: an object of which there
is only so much evidence far away is a mistake, one that is certain has jumped.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment

KEEP = 15
"""Frames for which an object that is not found is expected to come back as itself."""

_SPREAD = 0.35  # standard deviation of the distance from what is expected, in sizes, of the next frame
_SPREAD_GROWTH = 0.15  # ... and by how much it grows with every frame in which the object is not found
_FARTHEST = 4.0  # a distance of so many spreads or more costs as much as this one
_SPEED_MEMORY = 0.6  # weight of the velocity so far beside the newest one
_SLOWING = 0.8  # of the velocity with every frame in which the object is not found
_SCORES = -6.0, 12.0  # log-odds count no more outside


@dataclass
class LinkedObject:
    """An object that is followed.

    Attributes
    ----------
    number : int
        Its identity, from 0.
    points : ndarray of shape (n_keypoints, 2), float64
        x, y, where it is or, if it is not found, is thought to be; NaN for a keypoint that never was found.
    velocities : ndarray of shape (n_keypoints, 2), float64
        Pixels a frame.
    size : float
        Pixels.
    missed : int
        Frames since it was found.
    """

    number: int
    points: np.ndarray
    velocities: np.ndarray
    size: float
    missed: int = 0

    def expected(self, ahead: int = 1) -> np.ndarray:
        """Where its keypoints are expected `ahead` frames later."""
        return self.points + self.velocities * ahead

    def found(self, points: np.ndarray, size: float, elapsed: int) -> None:
        """Take over where it was found, `elapsed` frames after the last step."""
        known = np.isfinite(points) & np.isfinite(self.points)
        if self.missed == 0:
            newest = np.where(known, points - self.points, 0.0) / elapsed
            self.velocities = _SPEED_MEMORY * self.velocities + (1 - _SPEED_MEMORY) * newest
        self.points = np.where(np.isfinite(points), points, self.expected(elapsed))
        self.size, self.missed = size, 0

    def lost(self, elapsed: int) -> None:
        """Let it go on, slower and slower."""
        self.points = self.expected(elapsed)
        self.velocities = self.velocities * _SLOWING**elapsed
        self.missed += elapsed


@dataclass
class Linker:
    """Gives what is found in a frame to the objects of the frames before.

    Attributes
    ----------
    n_objects : int or None
        How many there are at most: each keeps its number for the whole video, however long it was not found.
        None: any number; one that is not found for `keep` frames is another when it comes back.
    keep : int
        Frames.
    objects : list of LinkedObject
    """

    n_objects: int | None = None
    keep: int = KEEP
    objects: list[LinkedObject] = field(default_factory=list)
    n_numbers: int = 0

    def step(self, points: np.ndarray, sizes: np.ndarray, scores: np.ndarray, elapsed: int = 1) -> np.ndarray:
        """Give the objects of the next frame their numbers.

        Parameters
        ----------
        points : ndarray of shape (n, n_keypoints, 2), float64
            x, y; NaN for a keypoint that was not found.
        sizes, scores : ndarray of shape (n,), float64
            Pixels, log-odds.
        elapsed : int
            Frames of the video since the last step.

        Returns
        -------
        ndarray of shape (n,), int64
            Numbers; -1 for those that are none, as there are not so many objects.
        """
        numbers = np.full(len(points), -1, dtype=np.int64)
        for known, i in self._assignment(points, scores, elapsed):
            known.found(points[i], float(sizes[i]), elapsed)
            numbers[i] = known.number
        taken = set(numbers.tolist())
        for known in self.objects:
            if known.number not in taken:
                known.lost(elapsed)
        self._begin_new(points, sizes, scores, numbers)
        if self.n_objects is None:
            self.objects = [known for known in self.objects if known.missed <= self.keep]
        return numbers

    def _assignment(
        self, points: np.ndarray, scores: np.ndarray, elapsed: int
    ) -> list[tuple[LinkedObject, int]]:
        """Pairs of a known object and the number of a found one."""
        if not self.objects or not len(points):
            return []
        distances = np.array([self._distances(known, points, elapsed) for known in self.objects])
        worth = np.clip(scores, *_SCORES) - 0.5 * np.minimum(distances, _FARTHEST) ** 2
        # with any number of objects one that is too far is another; with so many, it has jumped
        allowed = distances < _FARTHEST if self.n_objects is None else np.ones(worth.shape, dtype=bool)
        cost = np.where(allowed, -worth, 1e6)
        pairs = zip(*linear_sum_assignment(cost), strict=True)
        return [(self.objects[a], int(b)) for a, b in pairs if allowed[a, b]]

    def _distances(self, known: LinkedObject, points: np.ndarray, elapsed: int) -> np.ndarray:
        """Mean distances of the keypoints from what is expected, in spreads; (n,)."""
        if self.n_objects is not None and known.missed > self.keep:
            return np.full(len(points), _FARTHEST)  # it can be anywhere
        away = np.linalg.norm(points - known.expected(elapsed), axis=2)
        n_both = np.isfinite(away).sum(axis=1)
        mean = np.where(n_both > 0, np.nansum(away, axis=1) / np.maximum(n_both, 1), np.inf)
        missed = known.missed + elapsed - 1
        return mean / (max(known.size, 1.0) * (_SPREAD + _SPREAD_GROWTH * missed))

    def _begin_new(
        self, points: np.ndarray, sizes: np.ndarray, scores: np.ndarray, numbers: np.ndarray
    ) -> None:
        """Number what was given to nobody, best first, as long as there may be more objects."""
        for i in np.argsort(-scores, kind="stable").tolist():
            if numbers[i] >= 0 or (self.n_objects is not None and self.n_numbers >= self.n_objects):
                continue
            self.objects.append(
                LinkedObject(self.n_numbers, points[i].copy(), np.zeros_like(points[i]), float(sizes[i]))
            )
            numbers[i] = self.n_numbers
            self.n_numbers += 1
