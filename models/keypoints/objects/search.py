"""From detections in a photo to its objects: choose poses, look again for what is missing, align, score."""

from collections.abc import Sequence

import numpy as np

from ....features.pool import WINDOW_PX, cut_windows
from ....features.pyramid import Level
from ..detections import Detections
from ..keypoint_classifier import KeypointClassifier
from ..nms import Suppression
from ..refinement import refine
from ..window_model import WindowModel
from .alignment import align
from .hypotheses import RADIUS, best_hypotheses, candidates_of, fit_to, support_value
from .model import BOX_MARGIN, OVERLAP, Evidence, ObjectModel, Objects, boxes_of, overlaps
from .poses import ANGLES, LOG_SIZE, project

FLOOR, BELOW = 0.0, 1.0
"""Objects are made of single detections that score at least the first, and at most the second less than their
keypoint's threshold: lower ones are many and take long to scan for."""

N_ANCHORS = 4
"""Photos are scanned for so many keypoints, those that are detected best; the others are looked for where
objects may be. Weak detectors take the longest to scan and mislead the choice of poses."""

LEAST_LIKELY = -2.0
"""Log-odds that a pose must have by the detections of the anchors alone."""

LOOK_RADIUS = 0.2
"""A missing keypoint is looked for within this part of the size around its prediction."""

LOOK_OCTAVES = 0.3
"""... on levels that show the object this near to the size at which it was trained."""

SEE_RADIUS = 0.06
"""A keypoint that was aligned is seen by the best window within this part of the size around it."""

LOOK_FLOOR = -1.0
"""Windows that score less are no sign of a keypoint: a margin loss ignores such negatives."""


def gather_evidence(
    detections: Detections,
    levels: Sequence[Level],
    classifiers: Sequence[KeypointClassifier],
    refiners: Sequence[WindowModel],
    model: ObjectModel,
    object_px: float,
    suppression: Suppression,
    lowest: float | None = None,
) -> tuple[np.ndarray, Evidence]:
    """Choose the poses of a photo that may be objects, and gather all evidence for them.

    Parameters
    ----------
    detections : Detections
        Single ones, best first; not refined.
    levels : sequence of Level
        Of the photo.
    classifiers : sequence of KeypointClassifier
        In the order of the model's keypoints.
    refiners : sequence of WindowModel
        One per classifier, or none.
    model : ObjectModel
    object_px : float
        Size of the object in pixels of a window.
    suppression : Suppression
        How windows that agree are averaged.
    lowest : float, optional
        Log-odds that a pose must have by the detections alone; `LEAST_LIKELY` by default.

    Returns
    -------
    poses : ndarray of shape (n, 6), float64
    evidence : Evidence
    """
    names = tuple(classifier.keypoint for classifier in classifiers)
    candidates = candidates_of(detections, names, object_px)
    poses, evidence = best_hypotheses(
        candidates, model.proposal or model, LEAST_LIKELY if lowest is None else lowest
    )
    if len(poses):
        for k, classifier in enumerate(classifiers):
            _look_again(k, poses, evidence, levels, classifier, model, object_px, suppression)
        if model.stages:
            return _aligned(poses, evidence, levels, classifiers, model, object_px)
        for k, refiner in enumerate(refiners):
            _refine_found(k, poses, evidence, levels, refiner, object_px)
        poses = fit_to(poses, evidence, model)
        _drop_far(poses, evidence, model)
    return poses, evidence


def _aligned(
    poses: np.ndarray,
    evidence: Evidence,
    levels: Sequence[Level],
    classifiers: Sequence[KeypointClassifier],
    model: ObjectModel,
    object_px: float,
) -> tuple[np.ndarray, Evidence]:
    """Move all keypoints to where they are, seen from where the pose predicts them, and score them there."""
    poses = fit_to(poses, evidence, model)
    poses, points, unsure = align(poses, levels, model.shape, model.stages)
    sizes = np.exp(poses[:, LOG_SIZE])
    score = np.full(points.shape[:2], -np.inf)
    octaves = np.zeros(points.shape[:2])
    for k, classifier in enumerate(classifiers):
        pose, level, row, col = _windows_near(points[:, k], sizes, levels, object_px, SEE_RADIUS)
        if not len(pose):
            continue
        seen, _, scale = _scores_at(levels, level, row, col, classifier)
        order = np.lexsort((-seen, pose))
        whose, first = np.unique(pose[order], return_index=True)
        best = order[first]
        score[whose, k] = seen[best]
        octaves[whose, k] = np.log2(scale[best] * object_px / sizes[whose])
    found = score >= LOOK_FLOOR
    return poses, Evidence(points, found, np.where(found, score, 0.0), np.where(found, octaves, 0.0), unsure)


def _drop_far(poses: np.ndarray, evidence: Evidence, model: ObjectModel) -> None:
    """Forget detections that the final pose predicts too far away, in place."""
    places = project(poses, model.shape.points)
    far = np.linalg.norm(evidence.points - places, axis=2) > RADIUS * np.exp(poses[:, LOG_SIZE, None])
    evidence.found[far] = False
    evidence.points[~evidence.found] = places[~evidence.found]
    evidence.score[far] = evidence.octaves[far] = 0.0


def objects_of(
    poses: np.ndarray, evidence: Evidence, model: ObjectModel, names: tuple[str, ...], object_px: float
) -> Objects:
    """Put the result together, best first; a second look may have moved objects onto one another."""
    log_odds = model.log_odds(poses, evidence)
    kept: list[int] = []
    boxes = boxes_of(poses, model.shape.points)
    for i in np.argsort(-log_odds, kind="stable").tolist():
        if (overlaps(boxes[i], boxes[kept]) < OVERLAP).all():
            kept.append(i)
    chosen = np.array(kept, dtype=np.int64)
    poses, evidence, log_odds = poses[chosen], evidence[chosen], log_odds[chosen]
    return Objects(
        names,
        boxes_of(poses, model.shape.points, BOX_MARGIN),
        np.rad2deg(poses[:, ANGLES]),
        np.exp(poses[:, LOG_SIZE]),
        log_odds,
        evidence.points,
        evidence.found,
        model.point_log_odds(poses, evidence, log_odds),
        np.exp(poses[:, LOG_SIZE]) / object_px,
        np.full(evidence.score.shape, np.nan),
    )


def _look_again(
    k: int,
    poses: np.ndarray,
    evidence: Evidence,
    levels: Sequence[Level],
    classifier: KeypointClassifier,
    model: ObjectModel,
    object_px: float,
    suppression: Suppression,
) -> None:
    """Look for keypoint k of all objects that miss it, and add what is found to the evidence, in place."""
    missing = np.flatnonzero(~evidence.found[:, k])
    places = project(poses[missing], model.shape.points)[:, k]
    sizes = np.exp(poses[missing, LOG_SIZE])
    pose, level, row, col = _windows_near(places, sizes, levels, object_px, LOOK_RADIUS)
    if not len(pose):
        return
    score, points, scale = _scores_at(levels, level, row, col, classifier)
    offset = points - places[pose]
    distance = np.sum(offset**2, axis=1) / (sizes[pose] * model.spread[k]) ** 2
    value = support_value(score, distance)
    value[score < LOOK_FLOOR] = -np.inf
    for i in range(len(missing)):
        here = np.flatnonzero(pose == i)
        if not len(here) or not np.isfinite(value[here]).any():
            continue
        best = here[value[here].argmax()]
        reach = suppression.refine_radius * WINDOW_PX * scale[best]
        near = here[np.sum((points[here] - points[best]) ** 2, axis=1) <= reach**2]
        weight = np.exp(suppression.sharpness * (score[near] - score[near].max()))
        evidence.points[missing[i], k] = np.average(points[near], axis=0, weights=weight)
        evidence.found[missing[i], k] = True
        evidence.score[missing[i], k] = score[best]
        evidence.octaves[missing[i], k] = np.log2(scale[best] * object_px / sizes[i])


def _refine_found(
    k: int,
    poses: np.ndarray,
    evidence: Evidence,
    levels: Sequence[Level],
    refiner: WindowModel,
    object_px: float,
) -> None:
    """Move keypoint k of all objects that have it to the exact place."""
    found = np.flatnonzero(evidence.found[:, k])
    scales = np.exp(poses[found, LOG_SIZE]) / object_px
    evidence.points[found, k] = refine(evidence.points[found, k], scales, levels, refiner)


def _windows_near(
    places: np.ndarray, sizes: np.ndarray, levels: Sequence[Level], object_px: float, reach: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pose, level, row and column of the windows on matching levels around places (n, 2), x and y.

    They lie within `reach` sizes; the nearest one always does.
    """
    found = [np.empty((4, 0), dtype=np.int64)]
    for number, level in enumerate(levels):
        ratio = float(np.sqrt(np.prod(level.ratio)))
        fits = np.abs(np.log2(np.maximum(sizes * ratio, 1e-9) / object_px)) <= LOOK_OCTAVES
        for i in np.flatnonzero(fits).tolist():
            centre, radius = level.from_photo(places[i]), max(reach * sizes[i] * ratio, np.sqrt(0.5))
            low = np.maximum(np.ceil(centre - radius), 0).astype(np.int64)
            high = np.minimum(np.floor(centre + radius), level.size - 1).astype(np.int64)
            if (low > high).any():
                continue
            rows, cols = np.mgrid[low[1] : high[1] + 1, low[0] : high[0] + 1].reshape(2, -1)
            inside = (cols - centre[0]) ** 2 + (rows - centre[1]) ** 2 <= radius**2
            rows, cols = rows[inside], cols[inside]
            found.append(np.stack([np.full(len(rows), i), np.full(len(rows), number), rows, cols]))
    pose, level, row, col = np.concatenate(found, axis=1)
    return pose, level, row, col


def _scores_at(
    levels: Sequence[Level],
    level: np.ndarray,
    row: np.ndarray,
    col: np.ndarray,
    classifier: KeypointClassifier,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Exact scores of windows, their places (n, 2) in the photo, x and y, and their scales."""
    patches = np.empty((len(level), WINDOW_PX + 2, WINDOW_PX + 2, 3), dtype=np.uint8)
    points, scale = np.empty((len(level), 2)), np.empty(len(level))
    for number in np.unique(level).tolist():
        here = level == number
        patches[here] = cut_windows(levels[number].image, row[here], col[here])
        points[here] = levels[number].to_photo(np.stack([col[here], row[here]], axis=1))
        scale[here] = 1 / np.sqrt(np.prod(levels[number].ratio))
    return classifier.scores(patches).astype(np.float64), points, scale
