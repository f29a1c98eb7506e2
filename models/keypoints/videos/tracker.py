"""Objects followed through a video: searched for near where they were, everywhere when they are lost.

A full scan costs the same whether there is one object or none. So with a known number of objects each
one is looked for near its expected place first; a frame in which one is not there, and every now and then
one where all are, is scanned as a whole. A detection too weak to begin a trajectory may go on with one.
"""

from dataclasses import dataclass

import numpy as np

from ....features.errors import ParameterError
from ..detections import Detections
from ..detector import KeypointDetector
from ..objects.model import Objects, apart_objects, best_objects, joined_objects
from .linking import Linker
from .nearby import Place, detect_near
from .object_tracks import ObjectTracks

SCAN_EVERY = 50
"""Frames after which one is scanned as a whole though no object is lost, for models without parts."""

TURN_EVERY = 25
"""Frames after which a model with parts looks whether objects are turned otherwise than thought."""

WEAKER = 3.0
"""Log-odds by which an object near its expected place may fall short of the threshold."""

REST = 10
"""Frames after a scan before another one, for objects that are found near their place but not surely."""

_GROWTH = 1.02  # by which an object's size may change from frame to frame
_BOX_MARGIN = 0.25  # of the size, around the expected keypoints


@dataclass(frozen=True, eq=False)
class FollowedObjects:
    """What was found in a frame.

    Attributes
    ----------
    numbers : ndarray of shape (n,), int64
        Identities, from 0.
    points : ndarray of shape (n, n_keypoints, 2), float64
        x, y; NaN where there is no telling.
    likelihood : ndarray of shape (n, n_keypoints), float64
        0 to 1.
    scores, sizes : ndarray of shape (n,), float64
        Log-odds, pixels.
    found : Objects or Detections
        The same in full, in the same order; all single detections for a detector of single keypoints.
    """

    numbers: np.ndarray
    points: np.ndarray
    likelihood: np.ndarray
    scores: np.ndarray
    sizes: np.ndarray
    found: Objects | Detections

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: np.ndarray) -> "FollowedObjects":
        return FollowedObjects(
            self.numbers[index],
            self.points[index],
            self.likelihood[index],
            self.scores[index],
            self.sizes[index],
            self.found[index] if isinstance(self.found, Objects) else self.found,
        )


class ObjectTracker:
    """Follows objects from frame to frame.

    Parameters
    ----------
    detector : KeypointDetector
    n_objects : int, optional
        The best so many of each frame, each with one number throughout; None for whatever is found.
    threshold : float, optional
        Lowest log-odds of an object, or score of a single keypoint; the model's by default.
    raw : bool
        Follow single keypoints, the best detection of each; for one object only.
    record : bool
        Keep what was found for `tracks`; False for what has no end.

    Raises
    ------
    ParameterError
        If single keypoints are to make up several objects.
    """

    def __init__(
        self,
        detector: KeypointDetector,
        n_objects: int | None = None,
        threshold: float | None = None,
        raw: bool = False,
        record: bool = True,
    ) -> None:
        self.detector = detector
        self.single = raw or not detector.finds_objects
        if n_objects is not None and n_objects < 1:
            raise ParameterError(f"the number of objects must be at least 1, got {n_objects}")
        if self.single and n_objects not in (None, 1):
            raise ParameterError(
                f"{n_objects} objects: single keypoints cannot be told apart; accepted is 1 "
                "for a model without an object model, or with --raw"
            )
        self.n_objects = 1 if self.single else n_objects
        self.threshold = threshold
        self.n_scans = 0
        self._linker = Linker(self.n_objects)
        self._since_scan = 0
        self._rolls: dict[int, float] = {}
        self._sizes: dict[int, float] = {}
        self._record = record
        self._last_frame: int | None = None
        self._frames: list[int] = []
        self._followed: list[FollowedObjects] = []

    def step(self, image: np.ndarray, frame: int) -> FollowedObjects:
        """Find the objects of the next frame.

        Parameters
        ----------
        image : ndarray of shape (H, W, 3), uint8
        frame : int
            Its number, larger than the one before.
        """
        elapsed = 1 if self._last_frame is None else frame - self._last_frame
        self._last_frame = frame
        followed = self._followed_objects(image, elapsed)
        numbers = self._linker.step(followed.points, followed.sizes, followed.scores, elapsed)
        kept = np.flatnonzero(numbers >= 0)
        result = FollowedObjects(numbers, *_columns(followed))[kept[np.argsort(numbers[kept])]]
        if isinstance(result.found, Objects):
            self._rolls.update(zip(result.numbers.tolist(), result.found.poses[:, 2].tolist(), strict=True))
        if self._record:
            self._frames.append(frame)
            self._followed.append(result)
        return result

    def tracks(self) -> ObjectTracks:
        """Return the trajectories so far, as found."""
        names = self.detector.keypoint_names
        shape = len(self._frames), max(1, self._linker.n_numbers)
        points = np.full((*shape, len(names), 2), np.nan)
        likelihood = np.full((*shape, len(names)), np.nan)
        scores, sizes = np.full(shape, np.nan), np.full(shape, np.nan)
        for t, followed in enumerate(self._followed):
            points[t, followed.numbers] = followed.points
            likelihood[t, followed.numbers] = followed.likelihood
            scores[t, followed.numbers] = followed.scores
            sizes[t, followed.numbers] = followed.sizes
        frames = np.array(self._frames, dtype=np.int64)
        return ObjectTracks(names, frames, points, likelihood, scores, sizes, np.zeros(shape, dtype=bool))

    def _followed_objects(self, image: np.ndarray, elapsed: int) -> FollowedObjects:
        if self.single:
            self.n_scans += 1
            return _of_detections(
                self.detector.detect(image, threshold=self.threshold, raw=True), self.detector
            )
        near = self._near(image, elapsed) if self._all_at_hand else None
        if near is None:
            self.n_scans += 1
            self._since_scan = 0
            return _of_objects(self.detector.detect_objects(image, threshold=self.threshold))
        self._since_scan += 1
        return _of_objects(near)

    @property
    def _all_at_hand(self) -> bool:
        """Whether all objects were found in the last frame, and a scan is not due."""
        objects = self._linker.objects
        return (
            len(objects) == self.n_objects
            and all(known.missed == 0 for known in objects)
            and (self.detector.parts is not None or self._since_scan < SCAN_EVERY)
        )

    def _near(self, image: np.ndarray, elapsed: int) -> Objects | None:
        """The objects near where they are expected; None if one of them is not there."""
        threshold = (self.detector.object_threshold if self.threshold is None else self.threshold) - WEAKER
        if self.detector.sees_scene:
            return None
        if self.detector.parts is not None:
            return self._near_by_parts(image, elapsed, threshold)
        parts: list[Objects] = []
        for known in self._linker.objects:
            place = _place(known.expected(elapsed), known.size, self._rolls.get(known.number))
            found = detect_near(self.detector, image, place, threshold=threshold)
            if found is None or not len(found):
                return None
            parts.append(found)
        every = joined_objects(parts)
        every = every[apart_objects(every, 1)]
        return every if len(every) >= len(parts) else None

    def _near_by_parts(self, image: np.ndarray, elapsed: int, threshold: float) -> Objects | None:
        """As `_near`, without a scan: keypoints are looked for in the frame where the object is expected."""
        objects = self._linker.objects
        points = np.stack([known.expected(elapsed) for known in objects])
        sizes = np.array([self._usual_size(known.number, known.size) for known in objects])
        every = [self.detector.objects_near(image, points, sizes, n_looks=1)]
        unsure = every[0].scores.min() < threshold + WEAKER
        if self._since_scan % TURN_EVERY == TURN_EVERY - 1 or unsure:
            # one that is taken back to front would stay so
            turned = [_turned(points, quarters) for quarters in range(4)]
            every += [self.detector.objects_near(image, other, sizes) for other in turned]
        found = best_objects(every)
        weak = not len(found) or found.scores[: len(points)].min() < threshold + WEAKER
        if weak and self._since_scan >= REST:
            return None
        found = found[found.scores >= threshold]
        return found if len(found) >= len(points) else None

    def _usual_size(self, number: int, size: float) -> float:
        """The size that an object has had, which changes slowly, whatever is seen of it in one frame."""
        before = self._sizes.get(number, size)
        self._sizes[number] = before * float(np.clip(size / before, 1 / _GROWTH, _GROWTH))
        return self._sizes[number]


def _turned(points: np.ndarray, quarters: int) -> np.ndarray:
    """Keypoints (n, n_keypoints, 2) of objects turned around their middles by so many quarters."""
    middle = np.nanmean(points, axis=1, keepdims=True)
    return middle + (points - middle) @ np.linalg.matrix_power(np.array([[0.0, 1], [-1, 0]]), quarters)


def _columns(followed: FollowedObjects) -> tuple:
    return followed.points, followed.likelihood, followed.scores, followed.sizes, followed.found


def _place(points: np.ndarray, size: float, roll: float | None) -> Place:
    known = points[np.isfinite(points).all(axis=1)]
    room = _BOX_MARGIN * size
    return Place(np.concatenate([known.min(axis=0) - room, known.max(axis=0) + room]), size, roll)


def probability(log_odds: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(-x)) without overflow."""
    return np.asarray(0.5 * (1 + np.tanh(0.5 * np.asarray(log_odds, dtype=np.float64))))


def _of_objects(found: Objects) -> FollowedObjects:
    numbers = np.full(len(found), -1, dtype=np.int64)
    likelihood = probability(found.keypoint_scores)
    return FollowedObjects(numbers, found.points, likelihood, found.scores, found.sizes, found)


def _of_detections(found: Detections, detector: KeypointDetector) -> FollowedObjects:
    """The best detection of each keypoint as one object; a threshold is as likely right as wrong."""
    names = detector.keypoint_names
    points = np.full((1, len(names), 2), np.nan)
    likelihood = np.zeros((1, len(names)))
    best, scales = -np.inf, []
    for k, (name, classifier) in enumerate(zip(names, detector.classifiers, strict=True)):
        mine = found[found.keypoint == name]
        if not len(mine):
            continue
        points[0, k] = mine.x[0], mine.y[0]
        odds = float(mine.score[0]) - classifier.threshold
        likelihood[0, k] = probability(np.array(odds))
        best = max(best, odds)
        scales.append(float(mine.scale[0]))
    if not scales:
        return _of_nothing(len(names), found)
    size = float(np.median(scales)) * detector.object_px
    return FollowedObjects(np.array([-1]), points, likelihood, np.array([best]), np.array([size]), found)


def _of_nothing(n_keypoints: int, found: Detections) -> FollowedObjects:
    none = np.empty(0)
    return FollowedObjects(
        np.empty(0, dtype=np.int64),
        np.empty((0, n_keypoints, 2)),
        np.empty((0, n_keypoints)),
        none,
        none,
        found,
    )
