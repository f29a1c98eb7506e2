"""Learn an object model: the shape from annotations, and how to weigh evidence from detections in photos.

Poses are chosen in photos with crude weights and labelled by the annotation, and a logistic regression
weighs each kind of evidence for a pose. With these weights they are chosen again, their keypoints are
looked for and aligned, and other regressions weigh that evidence.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from ....features.errors import DataError
from ....features.pyramid import Level
from ..detections import Detections
from ..detector import KeypointDetector
from ..evaluation import inside_regions
from ..objects.alignment import AlignmentStage
from ..objects.hypotheses import best_hypotheses, candidates_of, join_evidence
from ..objects.model import Evidence, ObjectModel
from ..objects.poses import LOG_SIZE, project
from ..objects.shape import RigidShape
from .logistic import fit_logistic
from .targets import AnnotatedPhoto

NOISE = 0.05
"""Standard deviation of a detection around the keypoint's place, in parts of the size."""

SAME, OTHER = 0.25, 0.5
"""A pose whose keypoints lie this near to an annotated object's, in the mean and in parts of the size, is
that object's; one that is at least as far as the second from all is none."""

HIT, MISS = 0.05, 0.10
"""A keypoint of an object is right up to the first distance, wrong from the second on."""

LOWEST = -6.0
"""Log-odds down to which poses are chosen to learn from: what is unlikely is the example of no object."""

_CRUDE = 0.0, 1.0, -0.1  # each keypoint's constant, factors of its score and its squared distance
_CRUDE_POSE = -0.1, -0.5, -0.5
_CRUDE_INTERCEPT = -4.0

# Of the weights: a higher score speaks for an object or a keypoint, distance, turning and doubt against it. A
# hundred objects are too few to leave that open.
_KEYPOINT_SIGNS = np.array([0, 1, -1])
_POSE_SIGNS = np.array([-1, -1, -1])
_POINT_SIGNS = np.array([1, 1, -1, -1])

Gathered = Iterator[tuple[AnnotatedPhoto, np.ndarray, Evidence]]
Gather = Callable[[ObjectModel], Iterable[tuple[AnnotatedPhoto, np.ndarray, Evidence]]]
"""Given a model, yields photos with the poses that may be objects in them and the evidence."""


@dataclass(frozen=True, eq=False)
class _Examples:
    """Poses, evidence and labels: 1 true, 0 false, -1 neither; (n,) and (n, n_keypoints)."""

    poses: np.ndarray
    evidence: Evidence
    is_object: np.ndarray
    is_point: np.ndarray


def with_object_model(
    detector: KeypointDetector,
    shape: RigidShape,
    looked_at: Sequence[AnnotatedPhoto],
    columns: Sequence[int],
    stages: tuple[AlignmentStage, ...] = (),
    anchors: tuple[int, ...] = (),
    report: Callable[[int, int], None] = lambda done, total: None,
) -> KeypointDetector:
    """Give a detector an object model.

    Parameters
    ----------
    detector : KeypointDetector
    shape : RigidShape
    looked_at : sequence of AnnotatedPhoto
        Photos that nothing here was trained on, otherwise the scores are not those of new photos; a hundred
        are enough. With the sizes of their objects set. A photo that cannot be read is left out.
    columns : sequence of int
        The detector's keypoints in the annotation.
    stages : tuple of AlignmentStage
        Stay only if no fewer keypoints are right with them.
    anchors : tuple of int
        Keypoints that photos are scanned for; none stands for all.
    report : callable
        Told (done, total) photos.
    """
    single: dict[int, Detections] = {}
    variants = [(), stages] if stages else [()]
    n_steps = (1 + len(variants)) * len(looked_at)
    steps = iter(range(n_steps))
    crude = replace(crude_model(shape), anchors=anchors)
    scanning = replace(detector, object_model=crude)

    def photos() -> Iterator[tuple[int, list[Level]]]:
        for i, photo in enumerate(looked_at):
            report(next(steps), n_steps)
            with suppress(DataError):
                yield i, detector.pyramid.levels(photo.read())

    def propose(model: ObjectModel) -> Gathered:
        for i, levels in photos():
            single[i] = scanning.detections_for_objects(levels)
            candidates = candidates_of(single[i], detector.keypoint_names, detector.object_px)
            yield looked_at[i], *best_hypotheses(candidates, model, LOWEST)

    def gather(model: ObjectModel) -> Gathered:
        for i, levels in photos():
            yield looked_at[i], *detector.gather_objects(single[i], levels, model, LOWEST)

    proposal, _ = fit_object_model(crude, propose, columns)
    fitted = [
        fit_object_model(replace(crude, proposal=proposal, stages=variant), gather, columns)
        for variant in variants
    ]
    model, _ = max(reversed(fitted), key=lambda result: result[1])
    return replace(detector, object_model=model)


def crude_model(shape: RigidShape) -> ObjectModel:
    """The weights to begin with."""
    n = len(shape.points)
    return ObjectModel(
        shape,
        np.hypot(shape.spread, NOISE),
        _CRUDE_INTERCEPT,
        np.tile(_CRUDE, (n, 1)).astype(np.float64),
        np.array(_CRUDE_POSE),
        np.tile([[-3.0, 0.5, 0, -0.1, -0.5], [-1.0, 0.5, 0.5, -0.1, -0.5]], (n, 1, 1)).transpose(1, 0, 2),
        0.0,
    )


def fit_object_model(model: ObjectModel, gather: Gather, columns: Sequence[int]) -> tuple[ObjectModel, int]:
    """Learn the weights of evidence.

    Parameters
    ----------
    model : ObjectModel
        With the weights to begin with.
    gather : callable
        Given a model, yields annotated photos with the poses and the evidence found in them.
    columns : sequence of int
        The model's keypoints in the annotation.

    Returns
    -------
    model : ObjectModel
        With the weights that it had where there are too few examples of either kind.
    n_right : int
        Keypoints that are in the right place in true objects.
    """
    examples = _label(gather(model), model, columns)
    n_right = 0 if examples is None else int(np.sum(examples.is_point[examples.is_object == 1] == 1))
    return fit_weights(model, examples), n_right


def _label(
    found: Iterable[tuple[AnnotatedPhoto, np.ndarray, Evidence]], model: ObjectModel, columns: Sequence[int]
) -> _Examples | None:
    parts = []
    for photo, poses, evidence in found:
        if len(poses):
            parts.append(_Examples(poses, evidence, *label_objects(photo, poses, evidence, model, columns)))
    if not parts:
        return None
    return _Examples(
        np.concatenate([part.poses for part in parts]),
        join_evidence([part.evidence for part in parts]),
        np.concatenate([part.is_object for part in parts]),
        np.concatenate([part.is_point for part in parts]),
    )


def label_objects(
    photo: AnnotatedPhoto, poses: np.ndarray, evidence: Evidence, model: ObjectModel, columns: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Compare objects with a photo's annotation: 1 true, 0 false, -1 neither.

    Returns
    -------
    is_object : ndarray of shape (n,), int64
    is_point : ndarray of shape (n, n_keypoints), int64
    """
    truth, sizes = photo.points[:, columns], photo.sizes
    usable = np.isfinite(sizes)
    seen = project(poses, model.shape.points)
    offset = np.linalg.norm(seen[:, None] - truth[None], axis=3) / sizes[:, None]
    known = np.isfinite(offset)
    mean = np.where(known, offset, 0).sum(axis=2) / np.maximum(known.sum(axis=2), 1)
    mean = np.where(known.any(axis=2), mean, np.inf)
    ratio = np.abs(poses[:, LOG_SIZE, None] - np.log(np.where(usable, sizes, 1.0)))
    same = ((mean <= SAME) & (ratio < np.log(2))).any(axis=1)
    unclear = inside_regions(seen.mean(axis=1), photo.ignore) | (~usable).any()
    other = (mean >= OTHER).all(axis=1) & ~unclear
    is_object = np.where(same, 1, np.where(other, 0, -1))
    distance = np.linalg.norm(evidence.points[:, None] - truth[None], axis=3) / sizes[:, None]
    hit = ((distance <= HIT) & photo.visible[:, columns]).any(axis=1)
    far = np.where(np.isfinite(distance), distance, np.inf)
    miss = (far >= MISS).all(axis=1) & (is_object != -1)[:, None]
    miss &= ~((is_object == 1)[:, None] & ~np.isfinite(truth).all(axis=2).all(axis=0))
    return is_object, np.where(hit, 1, np.where(miss, 0, -1))


def fit_weights(model: ObjectModel, examples: _Examples | None) -> ObjectModel:
    """Logistic regressions of the labels on the terms."""
    if examples is None:
        return model
    labelled = np.flatnonzero(examples.is_object >= 0)
    n_keypoints = len(model.spread)
    signs = np.concatenate([np.tile(_KEYPOINT_SIGNS, n_keypoints), _POSE_SIGNS])
    fitted = fit_logistic(
        model.terms(examples.poses, examples.evidence)[labelled], examples.is_object[labelled], signs
    )
    if fitted is not None:
        intercept, weights = fitted
        n = model.keypoint_weights.size
        model = replace(
            model,
            intercept=intercept,
            keypoint_weights=weights[:n].reshape(model.keypoint_weights.shape),
            pose_weights=weights[n:],
        )
    log_odds = model.log_odds(examples.poses, examples.evidence)
    terms = model.point_terms(examples.poses, examples.evidence, log_odds)
    point_weights = model.point_weights.copy()
    for k in range(terms.shape[1]):
        for found in (0, 1):
            rows = (examples.evidence.found[:, k] == found) & (examples.is_point[:, k] >= 0)
            fitted = fit_logistic(terms[rows, k, 1:], examples.is_point[rows, k], _POINT_SIGNS)
            if fitted is not None:
                point_weights[found, k] = [fitted[0], *fitted[1]]
    return replace(model, point_weights=point_weights, threshold=0.0)
