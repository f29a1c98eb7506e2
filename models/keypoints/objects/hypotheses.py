"""Poses of objects that detections of single keypoints suggest, and the detections that support a pose."""

from dataclasses import dataclass, fields

import numpy as np

from ..detections import Detections
from .model import OVERLAP, Evidence, ObjectModel, boxes_of, overlaps
from .poses import ANGLES, LOG_SIZE, ROLL, fit_poses, project, rotations

MOST_OF_A_KEYPOINT = 40
"""Detections of a keypoint that are looked at; further, weaker ones are left out."""

RADIUS = 0.5
"""A detection farther than this part of the size from its prediction does not support an object."""

OCTAVES = 0.8
"""... nor one whose scale differs by more."""

BY_DISTANCE = 0.5
FARTHEST = 16.0
"""What a detection's score loses for each squared spread from the prediction, and from where on no more."""

MOST_OBJECTS = 30

_MOST_PAIRS = 1500
_MOST_HYPOTHESES = 100
_SCALE_SPREAD = 0.25  # of the logarithm of the size that a detection's scale tells
_WIDEST_ROLL = 1.0  # radians from the mean


@dataclass(frozen=True, eq=False)
class Candidates:
    """Detections that objects are made of.

    Attributes
    ----------
    keypoint : ndarray of shape (n,), int64
    points : ndarray of shape (n, 2), float64
        x, y.
    log_size : ndarray of shape (n,), float64
        Logarithm of the object's size in pixels of the photo, as the scale has it.
    score : ndarray of shape (n,), float64
    """

    keypoint: np.ndarray
    points: np.ndarray
    log_size: np.ndarray
    score: np.ndarray

    def __len__(self) -> int:
        return len(self.score)


def candidates_of(detections: Detections, names: tuple[str, ...], object_px: float) -> Candidates:
    """The strongest detections of each keypoint of the model."""
    chosen, keypoints = [], []
    for k, name in enumerate(names):
        strongest = np.flatnonzero(detections.keypoint == name)[:MOST_OF_A_KEYPOINT]
        chosen.append(strongest)
        keypoints.append(np.full(len(strongest), k))
    some = detections[np.concatenate(chosen)]
    return Candidates(
        np.concatenate(keypoints),
        np.stack([some.x, some.y], axis=1),
        np.log(some.scale * object_px),
        some.score,
    )


def propose(candidates: Candidates, model: ObjectModel) -> np.ndarray:
    """Return the poses that single detections and pairs of them suggest, (n, 6)."""
    return np.concatenate([_from_single(candidates, model), _from_pairs(candidates, model)])


def _from_single(candidates: Candidates, model: ObjectModel) -> np.ndarray:
    """The mean pose, at the detection's size, through the detection."""
    poses = np.zeros((len(candidates), 6))
    poses[:, LOG_SIZE] = candidates.log_size
    poses[:, ANGLES] = model.shape.prior.mean
    seen = project(poses, model.shape.points)[np.arange(len(poses)), candidates.keypoint]
    poses[:, :2] = candidates.points - seen
    return poses


def _from_pairs(candidates: Candidates, model: ObjectModel) -> np.ndarray:
    """The mean pose, with size and roll such that two keypoints are where two detections are."""
    prior = model.shape.prior
    flat = model.shape.points @ rotations(prior.mean[None] * [1, 1, 0])[0, :2].T
    i, j = np.triu_indices(len(candidates), 1)
    first, second = candidates.keypoint[i], candidates.keypoint[j]
    wanted = flat[second] - flat[first]
    length = np.linalg.norm(wanted, axis=1)
    seen = candidates.points[j] - candidates.points[i]
    distance = np.linalg.norm(seen, axis=1)
    by_scale = (candidates.log_size[i] + candidates.log_size[j]) / 2
    with np.errstate(divide="ignore"):
        log_size = np.log(distance) - np.log(length)
    fits = (first != second) & (np.abs(candidates.log_size[i] - candidates.log_size[j]) < OCTAVES * np.log(2))
    fits &= np.abs(log_size - by_scale) < OCTAVES * np.log(2)
    roll = _angle(seen) - _angle(wanted)
    away = (roll - prior.mean[2] + np.pi) % (2 * np.pi) - np.pi
    fits &= np.abs(away) < _WIDEST_ROLL
    chosen = np.flatnonzero(fits)
    best = np.argsort(-(candidates.score[i] + candidates.score[j])[chosen], kind="stable")
    chosen = chosen[best[:_MOST_PAIRS]]
    poses = np.zeros((len(chosen), 6))
    poses[:, ANGLES] = prior.mean
    poses[:, ROLL] += away[chosen]
    # the distance in the picture shrinks as the object turns, so the scales have a say
    poses[:, LOG_SIZE] = (log_size[chosen] + by_scale[chosen]) / 2
    both = project(poses, model.shape.points)
    rows = np.arange(len(poses))
    middle = (both[rows, first[chosen]] + both[rows, second[chosen]]) / 2
    poses[:, :2] = (candidates.points[i] + candidates.points[j])[chosen] / 2 - middle
    return poses


def _angle(vectors: np.ndarray) -> np.ndarray:
    return np.arctan2(vectors[:, 1], vectors[:, 0])


def supports(
    poses: np.ndarray, candidates: Candidates, model: ObjectModel, used: np.ndarray | None = None
) -> tuple[Evidence, np.ndarray]:
    """Find the detection of each keypoint that supports each pose best.

    Parameters
    ----------
    poses : ndarray of shape (n, 6), float64
    candidates : Candidates
    model : ObjectModel
    used : ndarray of shape (n_candidates,), bool, optional
        Detections that belong to other objects.

    Returns
    -------
    evidence : Evidence
    index : ndarray of shape (n, n_keypoints), int64
        Number of the candidate, -1 where there is none.
    """
    places = project(poses, model.shape.points)
    n, n_keypoints = places.shape[:2]
    index = np.full((n, n_keypoints), -1)
    size = np.exp(poses[:, LOG_SIZE])
    for k in range(n_keypoints):
        free = candidates.keypoint == k if used is None else (candidates.keypoint == k) & ~used
        choice = np.flatnonzero(free)
        if not len(choice):
            continue
        offset = candidates.points[choice] - places[:, k, None]
        distance = np.sum(offset**2, axis=2) / size[:, None] ** 2
        octaves = (candidates.log_size[choice] - poses[:, LOG_SIZE, None]) / np.log(2)
        allowed = (distance <= RADIUS**2) & (np.abs(octaves) <= OCTAVES)
        value = support_value(candidates.score[choice], distance / model.spread[k] ** 2)
        value = np.where(allowed, value, -np.inf)
        best = value.argmax(axis=1)
        rows = np.flatnonzero(np.isfinite(value[np.arange(n), best]))
        index[rows, k] = choice[best[rows]]
    return _evidence(places, poses, candidates, index), index


def support_value(score: np.ndarray, squared: np.ndarray) -> np.ndarray:
    """How good a detection is for an object: its score, less for its squared distance in spreads."""
    return score - BY_DISTANCE * np.minimum(squared, FARTHEST)


def _evidence(places: np.ndarray, poses: np.ndarray, candidates: Candidates, index: np.ndarray) -> Evidence:
    found = index >= 0
    octaves = (candidates.log_size[index] - poses[:, LOG_SIZE, None]) / np.log(2)
    return Evidence(
        np.where(found[..., None], candidates.points[index], places),
        found,
        np.where(found, candidates.score[index], 0.0),
        np.where(found, octaves, 0.0),
        np.zeros(found.shape),
    )


def fit_to(poses: np.ndarray, evidence: Evidence, model: ObjectModel, n_steps: int = 3) -> np.ndarray:
    """Fit poses to their evidence, with the usual rotations and the size that the scales tell as priors."""
    found = evidence.found.astype(np.float64)
    n_found = np.maximum(found.sum(axis=1), 1)
    by_scale = poses[:, LOG_SIZE] + evidence.octaves.sum(axis=1) / n_found * np.log(2)
    return fit_poses(
        poses,
        model.shape.points,
        evidence.points,
        found,
        model.spread,
        model.shape.prior,
        log_size=(by_scale, _SCALE_SPREAD),
        n_steps=n_steps,
    )


def best_hypotheses(candidates: Candidates, model: ObjectModel, lowest: float) -> tuple[np.ndarray, Evidence]:
    """Choose poses greedily: the best, then the best of those that do not overlap it, and so on.

    Parameters
    ----------
    candidates : Candidates
    model : ObjectModel
    lowest : float
        Log-odds at which the choice ends.

    Returns
    -------
    poses : ndarray of shape (n, 6), float64
        Best first.
    evidence : Evidence
    """
    nothing = np.empty((0, 6))
    if not len(candidates):
        return nothing, _no_evidence(len(model.shape.points))
    poses = propose(candidates, model)
    evidence, index = supports(poses, candidates, model)
    best = _different(index, model.log_odds(poses, evidence))[:_MOST_HYPOTHESES]
    poses = fit_to(poses[best], evidence[best], model, n_steps=2)
    evidence, _ = supports(poses, candidates, model)
    poses = fit_to(poses, evidence, model)
    return _choose(poses, candidates, model, lowest)


def _different(index: np.ndarray, log_odds: np.ndarray) -> np.ndarray:
    """Hypotheses with different supports, best first: an object with many detections must not be all."""
    order = np.argsort(-log_odds, kind="stable")
    _, first = np.unique(index[order], axis=0, return_index=True)
    return order[np.sort(first)]


def _choose(
    poses: np.ndarray, candidates: Candidates, model: ObjectModel, lowest: float
) -> tuple[np.ndarray, Evidence]:
    used = np.zeros(len(candidates), dtype=bool)
    chosen: list[np.ndarray] = []
    support: list[Evidence] = []
    evidence, index = supports(poses, candidates, model)
    while len(poses) and len(chosen) < MOST_OBJECTS:
        log_odds = model.log_odds(poses, evidence)
        best = int(log_odds.argmax())
        if log_odds[best] < lowest:
            break
        chosen.append(poses[best])
        support.append(evidence[best : best + 1])
        taken = index[best][index[best] >= 0]
        used[taken] = True
        boxes = boxes_of(poses, model.shape.points)
        others = overlaps(boxes[best], boxes) < OVERLAP
        others[best] = False
        poses, evidence, index = poses[others], evidence[others], index[others]
        changed = np.flatnonzero(np.isin(index, taken).any(axis=1))
        if len(changed):
            again, again_index = supports(poses[changed], candidates, model, used)
            index[changed] = again_index
            for name in ("points", "found", "score", "octaves"):
                getattr(evidence, name)[changed] = getattr(again, name)
    if not chosen:
        return np.empty((0, 6)), _no_evidence(len(model.shape.points))
    return np.stack(chosen), join_evidence(support)


def _no_evidence(n_keypoints: int) -> Evidence:
    empty = np.empty((0, n_keypoints))
    return Evidence(np.empty((0, n_keypoints, 2)), empty.astype(bool), empty, empty, empty)


def join_evidence(parts: list[Evidence]) -> Evidence:
    """One after the other."""
    columns = [[getattr(part, field.name) for part in parts] for field in fields(Evidence)]
    return Evidence(*(np.concatenate(column) for column in columns))
