"""The top-down step: a rigid shape fitted to the keypoints found in a photo (FSA-Lor Face, section 3.3).

Pairs of detections of different keypoints, and single ones, say where an object may be, how large, and how
turned (hypotheses.py). Each such pose is fitted to the detections near its prediction; the best is chosen,
those that overlap it are dropped, and so on. Then every keypoint is looked for again near its predicted
place, so that weak keypoints are found too, all are moved to their exact places together (alignment.py),
and the object is scored by the evidence of all its keypoints.
Reference [3] of the paper does the same with poses from regression.

The paper's objects are faces; here names, shape and size come from the training data.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from ....features.errors import DataError
from ....features.turning import Turn
from ..detections import Detections, join_detections, make_detections
from .alignment import AlignmentStage
from .poses import ANGLES, LOG_SIZE, AnglePrior, project
from .shape import LARGEST, SMALLEST, RigidShape

OVERLAP = 0.4
"""An object is suppressed if a better one covers this part of the smaller of their boxes."""

BOX_MARGIN = 0.25
"""An object's box is that of its keypoints, wider by this part of its size on all sides."""


@dataclass(frozen=True, eq=False)
class Objects:
    """Objects found in one photo, best first.

    All arrays share the first axis; the second of the keypoints' arrays follows `names`.

    Attributes
    ----------
    names : tuple of str
    boxes : ndarray of shape (n, 4), float64
        x0, y0, x1, y1 of all keypoints, with a margin of a quarter of the size, in pixels of the photo.
    poses : ndarray of shape (n, 3), float64
        Yaw, pitch and roll in degrees from the mean pose in training; positive where the object looks to
        the right of the picture, up, and is turned clockwise.
    sizes : ndarray of shape (n,), float64
        The object's size (the inter-eye distance) in pixels of the photo, seen from the front.
    scores : ndarray of shape (n,), float64
        Log-odds that there is an object.
    points : ndarray of shape (n, n_keypoints, 2), float64
        x, y in pixels of the photo.
    found : ndarray of shape (n, n_keypoints), bool
        Whether the keypoint's detector sees it there; where not, the rest of the object tells its place.
    keypoint_scores : ndarray of shape (n, n_keypoints), float64
        Log-odds that the keypoint is there.
    scales : ndarray of shape (n,), float64
        Pixels of the photo per pixel of the detector's window.
    errors : ndarray of shape (n, n_keypoints), float64
        Pixels of the photo within which two of three keypoints lie, as frames left out have shown; NaN for a
        model that was not asked.
    """

    names: tuple[str, ...]
    boxes: np.ndarray
    poses: np.ndarray
    sizes: np.ndarray
    scores: np.ndarray
    points: np.ndarray
    found: np.ndarray
    keypoint_scores: np.ndarray
    scales: np.ndarray
    errors: np.ndarray

    def __post_init__(self) -> None:
        n, k = len(self.scores), len(self.names)
        shapes = {"boxes": (n, 4), "poses": (n, 3), "sizes": (n,), "scores": (n,), "scales": (n,)}
        shapes |= {"points": (n, k, 2), "found": (n, k), "keypoint_scores": (n, k), "errors": (n, k)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise DataError(f"objects: {name} has shape {getattr(self, name).shape}, expected {shape}")

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, index: slice | Sequence[int] | np.ndarray) -> "Objects":
        """Return some of the objects, chosen by a slice, a mask or indices."""
        arrays = [getattr(self, field.name)[index] for field in fields(self)[1:]]
        return Objects(self.names, *arrays)

    @property
    def detections(self) -> Detections:
        """All keypoints of all objects, with the number of their object; best first."""
        numbers = np.arange(len(self))
        parts = []
        for k, name in enumerate(self.names):
            x, y = self.points[:, k].T
            one = make_detections(x, y, self.scales, self.keypoint_scores[:, k], name)
            one.object[:] = numbers
            one.found[:] = self.found[:, k]
            parts.append(one)
        return join_detections(parts)


def no_objects(names: tuple[str, ...]) -> Objects:
    """Objects of some keypoints, none of them found."""
    k = len(names)
    ends = (4,), (3,), (), (), (k, 2), (k,), (k,), (), (k,)
    boxes, poses, sizes, scores, points, found, *others = (np.zeros((0, *end)) for end in ends)
    return Objects(names, boxes, poses, sizes, scores, points, found.astype(bool), *others)


def moved_objects(found: Objects, by: np.ndarray) -> Objects:
    """Objects with all their places moved by x, y."""
    return replace(found, points=found.points + by, boxes=found.boxes + np.concatenate([by, by]))


def objects_turned_back(found: Objects, turn: Turn) -> Objects:
    """Objects found in a turned photo as objects of the photo."""
    points = turn.to_photo(found.points)
    room = BOX_MARGIN * found.sizes[:, None]
    boxes = np.concatenate([points.min(axis=1) - room, points.max(axis=1) + room], axis=1)
    poses = found.poses.copy()
    poses[:, 2] = (poses[:, 2] + turn.degrees + 180) % 360 - 180
    return replace(found, points=points, boxes=boxes, poses=poses)


def best_objects(parts: Sequence[Objects]) -> Objects:
    """The best objects of several sets, none of which covers a better one's box; best first."""
    every = joined_objects(parts)
    return every[apart_objects(every, 1)]


def joined_objects(parts: Sequence[Objects]) -> Objects:
    """Return all objects of several sets, best first."""
    columns = [[getattr(part, field.name) for part in parts] for field in fields(Objects)[1:]]
    every = Objects(parts[0].names, *(np.concatenate(column) for column in columns))
    return every[np.argsort(-every.scores, kind="stable")]


def apart_objects(objects: Objects, most: int) -> np.ndarray:
    """Indices of those, best first, whose box fewer than `most` better ones that are chosen cover."""
    kept: list[int] = []
    for i in range(len(objects)):
        if np.sum(overlaps(objects.boxes[i], objects.boxes[kept]) >= OVERLAP) < most:
            kept.append(i)
    return np.array(kept, dtype=np.int64)


@dataclass(eq=False)
class Evidence:
    """What speaks for hypotheses: for each keypoint, the detection that belongs to it.

    Its arrays are filled in place while a photo is looked at again.

    Attributes
    ----------
    points : ndarray of shape (n, n_keypoints, 2), float64
        x, y of the detection; the predicted place where there is none.
    found : ndarray of shape (n, n_keypoints), bool
    score : ndarray of shape (n, n_keypoints), float64
        The classifier's score, zero where there is none.
    octaves : ndarray of shape (n, n_keypoints), float64
        By how much the detection's scale differs from the hypothesis's; zero where there is none.
    unsure : ndarray of shape (n, n_keypoints), float64
        How far alignments from several starts end from one another, in parts of the size; zero if the
        keypoints were not aligned.
    """

    points: np.ndarray
    found: np.ndarray
    score: np.ndarray
    octaves: np.ndarray
    unsure: np.ndarray

    def __getitem__(self, index: slice | np.ndarray) -> "Evidence":
        return Evidence(*(getattr(self, field.name)[index] for field in fields(self)))


N_KEYPOINT_TERMS = 3
N_POSE_TERMS = 3
N_POINT_TERMS = 5
_FARTHEST = 9.0  # squared residuals, in spreads, count no more beyond
_SCORES = -3.0, 12.0  # nor do scores outside
_UNSURE_UNIT = 0.05  # parts of the size
_MOST_UNSURE = 6.0  # such units count no more beyond


@dataclass(frozen=True, eq=False)
class ObjectModel:
    """A shape and how to weigh evidence for it.

    The log-odds of an object are a sum: an intercept, and for each keypoint that was found a constant, a
    multiple of its score, and a multiple of its squared distance from the prediction; and multiples of
    the squared angles (Mahalanobis), of the squared octaves between the sizes of the keypoints and of
    the object, and of how unsure the alignment is of all keypoints. The log-odds of a keypoint are another
    such sum: of the object's log-odds and its own evidence. All factors are logistic regressions
    (object_fitting.py).

    Attributes
    ----------
    shape : RigidShape
    spread : ndarray of shape (n_keypoints,), float64
        Standard deviation of a coordinate of a detection around its prediction, in parts of the size.
    intercept : float
    keypoint_weights : ndarray of shape (n_keypoints, 3), float64
        Factors of 1, score, and squared distance over squared spread of a found keypoint.
    pose_weights : ndarray of shape (3,), float64
        Factors of the squared angles, the squared octaves, and the mean of `Evidence.unsure` (in 0.05).
    point_weights : ndarray of shape (2, n_keypoints, 5), float64
        Factors of 1, object log-odds, score, squared distance, and `Evidence.unsure` (in 0.05), for
        keypoints that were not found (first) and that were.
    threshold : float
        Lowest log-odds of an object that is reported.
    stages : tuple of AlignmentStage
        How the keypoints of an object are moved to their exact places; none for a model that leaves them
        where they were detected.
    anchors : tuple of int
        Keypoints that photos are scanned for; the others are only looked for in objects.
    proposal : ObjectModel or None
        Weighs the detections of the anchors alone, to choose poses; None: this model does that too.
    """

    shape: RigidShape
    spread: np.ndarray
    intercept: float
    keypoint_weights: np.ndarray
    pose_weights: np.ndarray
    point_weights: np.ndarray
    threshold: float
    stages: tuple[AlignmentStage, ...] = ()
    anchors: tuple[int, ...] = ()
    proposal: "ObjectModel | None" = None

    def __post_init__(self) -> None:
        n = len(self.shape.points)
        shapes = {
            "spread": (n,),
            "keypoint_weights": (n, N_KEYPOINT_TERMS),
            "pose_weights": (N_POSE_TERMS,),
            "point_weights": (2, n, N_POINT_TERMS),
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape or not np.isfinite(array).all():
                raise DataError(
                    f"object model: {name} must be finite numbers of shape {shape}, got {array.shape}"
                )
        if not ((self.spread >= SMALLEST) & (self.spread <= LARGEST)).all():
            raise DataError(f"object model: spread must be above 0, in {SMALLEST:g}..{LARGEST:g}")
        if len(set(self.anchors)) != len(self.anchors) or not set(self.anchors) <= set(range(n)):
            raise DataError(
                f"object model: anchors must be different keypoints 0..{n - 1}, got {self.anchors}"
            )
        if any(len(stage.model.intercept) != 2 * n for stage in self.stages):
            raise DataError(f"object model: a stage of alignment does not move {n} keypoints")
        if not np.isfinite([self.intercept, self.threshold]).all():
            raise DataError("object model: intercept or threshold is not finite")

    def squared_residuals(self, poses: np.ndarray, evidence: Evidence) -> np.ndarray:
        """Squared distance of detections from their prediction, in spreads, (n, n_keypoints), bounded."""
        offset = evidence.points - project(poses, self.shape.points)
        squared = np.sum(offset**2, axis=2) / (np.exp(poses[:, LOG_SIZE])[:, None] * self.spread) ** 2
        return np.minimum(squared, _FARTHEST)

    def terms(self, poses: np.ndarray, evidence: Evidence) -> np.ndarray:
        """What the log-odds of objects are a weighted sum of, (n, 3 * n_keypoints + 3)."""
        found = evidence.found.astype(np.float64)
        residual = self.squared_residuals(poses, evidence)
        own = np.stack([found, found * np.clip(evidence.score, *_SCORES), found * residual], axis=2)
        n_found = np.maximum(found.sum(axis=1), 1)
        octaves = np.sum(evidence.octaves**2, axis=1) / n_found
        angles = np.minimum(squared_angles(poses, self.shape.prior), 2 * _FARTHEST)
        unsure = _bounded(evidence.unsure).mean(axis=1)
        return np.column_stack([own.reshape(len(own), self.keypoint_weights.size), angles, octaves, unsure])

    def log_odds(self, poses: np.ndarray, evidence: Evidence) -> np.ndarray:
        """Log-odds of objects with these poses, (n,)."""
        weights = np.concatenate([self.keypoint_weights.ravel(), self.pose_weights])
        return self.intercept + self.terms(poses, evidence) @ weights

    def point_terms(self, poses: np.ndarray, evidence: Evidence, log_odds: np.ndarray) -> np.ndarray:
        """What the log-odds of keypoints are a weighted sum of, (n, n_keypoints, 5)."""
        found = evidence.found.astype(np.float64)
        whole = np.broadcast_to(log_odds[:, None], found.shape)
        score = found * np.clip(evidence.score, *_SCORES)
        residual = self.squared_residuals(poses, evidence)
        unsure = _bounded(evidence.unsure)
        return np.stack([np.ones_like(found), whole, score, residual, unsure], axis=2)

    def point_log_odds(self, poses: np.ndarray, evidence: Evidence, log_odds: np.ndarray) -> np.ndarray:
        """Log-odds of the keypoints of objects with these log-odds, (n, n_keypoints)."""
        either = np.einsum("nkt,fkt->fnk", self.point_terms(poses, evidence, log_odds), self.point_weights)
        return np.where(evidence.found, either[1], either[0])


def _bounded(unsure: np.ndarray) -> np.ndarray:
    """How unsure alignments are, in units of the hit radius of the paper's criteria."""
    return np.minimum(unsure / _UNSURE_UNIT, _MOST_UNSURE)


def squared_angles(poses: np.ndarray, prior: AnglePrior) -> np.ndarray:
    """Squared Mahalanobis distance of the rotations from the prior's mean, (n,)."""
    away = poses[:, ANGLES] - prior.mean
    return np.einsum("ni,ij,nj->n", away, np.linalg.inv(prior.covariance), away)


def boxes_of(poses: np.ndarray, shape: np.ndarray, margin: float = 0.0) -> np.ndarray:
    """Boxes x0, y0, x1, y1 around the projected shape, wider by a part of the size, (n, 4)."""
    seen = project(poses, shape)
    room = margin * np.exp(poses[:, LOG_SIZE])[:, None]
    return np.concatenate([seen.min(axis=1) - room, seen.max(axis=1) + room], axis=1)


def overlaps(box: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """Which part of the smaller of two boxes the other covers, for one box and many, (n,)."""
    low, high = np.maximum(box[:2], boxes[:, :2]), np.minimum(box[2:], boxes[:, 2:])
    area = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    smaller = np.minimum(np.prod(box[2:] - box[:2]), area)
    return np.prod(np.maximum(high - low, 0), axis=1) / np.maximum(smaller, 1e-12)
