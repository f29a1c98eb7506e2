"""Whole objects beside their annotation: object keypoint similarity, PCK and errors in pixels.

Object keypoint similarity (OKS) is COCO's: the mean over an object's annotated keypoints of
``exp(-d^2 / (2 (2 sigma)^2 area))``, where d is a keypoint's distance in pixels and sigma says how far
apart people put it, in parts of the square root of the object's area. Average precision treats an object
as found if its similarity reaches a threshold; the mean over thresholds .50, .55, ..., .95 is COCO's AP. A
test compares it with pycocotools.

PCK is the share of annotated keypoints that lie within a part of the object's size; errors in pixels are
what people who track animals report.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...features.errors import ParameterError

THRESHOLDS = np.linspace(0.5, 0.95, 10)
"""Similarities at which COCO counts an object as found."""

MOST_OBJECTS = 20
"""Detections of a photo that are looked at, best first, as COCO does."""

UNIFORM_SIGMA = 0.05
"""Of keypoints that nobody stated anything about; COCO's lie between 0.025 (eyes) and 0.107 (hips)."""

_RECALLS = np.linspace(0, 1, 101)
_FARTHEST = 1e6  # sizes; what a missing keypoint costs in the assignment


@dataclass(frozen=True, eq=False)
class PhotoObjects:
    """What was found in a photo beside what is annotated there.

    Attributes
    ----------
    points : ndarray of shape (n, n_keypoints, 2), float64
        x, y of the objects found; NaN for a keypoint that was not.
    scores : ndarray of shape (n,), float64
    truth : ndarray of shape (m, n_keypoints, 2), float64
        x, y of the annotated objects; NaN for a keypoint that is not annotated.
    areas : ndarray of shape (m,), float64
        Of the annotated objects, square pixels.
    ignore : ndarray of shape (r, 4), float64
        x0, y0, x1, y1 of regions with objects that nobody annotated.
    """

    points: np.ndarray
    scores: np.ndarray
    truth: np.ndarray
    areas: np.ndarray
    ignore: np.ndarray


@dataclass(frozen=True)
class SimilarityScores:
    """Average precision and recall over object keypoint similarity.

    Attributes
    ----------
    ap, ap50, ap75 : float
        Mean over all thresholds, at .5, at .75; NaN if nothing is annotated.
    recall : float
        Largest recall, mean over the thresholds.
    n_objects : int
        Annotated.
    """

    ap: float
    ap50: float
    ap75: float
    recall: float
    n_objects: int


def check_sigmas(sigmas: Sequence[float], n_keypoints: int) -> np.ndarray:
    """Return sigmas, one per keypoint, as an array; one number stands for all.

    Raises
    ------
    ParameterError
        If their number is another, or one is not above zero.
    """
    values = np.asarray(sigmas, dtype=np.float64).ravel()
    if len(values) == 1:
        values = np.repeat(values, n_keypoints)
    if len(values) != n_keypoints or not (np.isfinite(values) & (values > 0)).all():
        raise ParameterError(
            f"sigmas must be one number above 0, or one for each of {n_keypoints} keypoints, "
            f"got {list(sigmas)}"
        )
    return values


def fitted_sigmas(
    first: Sequence[np.ndarray], second: Sequence[np.ndarray], areas: Sequence[np.ndarray]
) -> np.ndarray:
    """Fit sigmas to two labellings of the same objects, as COCO did.

    Parameters
    ----------
    first, second : sequence of ndarray of shape (n_objects, n_keypoints, 2)
        x, y by photo; NaN where a keypoint is not annotated.
    areas : sequence of ndarray of shape (n_objects,)

    Returns
    -------
    ndarray of shape (n_keypoints,), float64
        sigma_k, the root mean square distance of one labelling from the other in parts of the root of
        the area; `UNIFORM_SIGMA` for a keypoint that was never labelled twice.
    """
    away = np.concatenate([a - b for a, b in zip(first, second, strict=True)])
    squared = np.sum(away**2, axis=2) / np.concatenate(list(areas))[:, None]
    counts = np.isfinite(squared).sum(axis=0)
    mean = np.nansum(squared, axis=0) / np.maximum(counts, 1)
    return np.where((counts > 0) & (mean > 0), np.sqrt(mean), UNIFORM_SIGMA)


def object_similarity(photo: PhotoObjects, sigmas: np.ndarray) -> np.ndarray:
    """Return the similarity of every object found with every annotated one, (n, m), float64."""
    squared = np.sum((photo.points[:, None] - photo.truth[None]) ** 2, axis=3)
    exponent = squared / (2 * sigmas) ** 2 / (photo.areas[:, None] + np.spacing(1)) / 2
    return _mean_similarity(exponent, np.isfinite(photo.truth).all(axis=2)[None])


def _region_similarity(photo: PhotoObjects, sigmas: np.ndarray) -> np.ndarray:
    """Similarity with regions to ignore: one inside a region twice as wide and high, COCO's rule, (n, r)."""
    low, high = photo.ignore[:, :2], photo.ignore[:, 2:]
    size = high - low
    below = np.maximum(0, (low - size)[None, :, None] - photo.points[:, None])
    above = np.maximum(0, photo.points[:, None] - (low + 2 * size)[None, :, None])
    squared = np.sum((below + above) ** 2, axis=3)
    exponent = squared / (2 * sigmas) ** 2 / (np.prod(size, axis=1)[:, None] + np.spacing(1)) / 2
    return _mean_similarity(exponent, np.ones((1, 1, len(sigmas)), dtype=bool))


def _mean_similarity(exponent: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Mean of exp(-exponent) over known keypoints; a keypoint that was not found is worth nothing."""
    worth = np.where(np.isfinite(exponent), np.exp(-np.where(np.isfinite(exponent), exponent, 0)), 0.0)
    return np.sum(worth * known, axis=2) / np.maximum(known.sum(axis=2), 1)


def average_precision(photos: Iterable[PhotoObjects], sigmas: np.ndarray) -> SimilarityScores:
    """Average precision over object keypoint similarity, as COCO computes it.

    Parameters
    ----------
    photos : iterable of PhotoObjects
        An annotated object without any keypoint counts for nothing.
    sigmas : ndarray of shape (n_keypoints,), float64
    """
    scores: list[np.ndarray] = [np.empty(0)]
    found: list[np.ndarray] = [np.empty((len(THRESHOLDS), 0), dtype=bool)]
    counted: list[np.ndarray] = [np.empty((len(THRESHOLDS), 0), dtype=bool)]
    n_objects = 0
    for photo in photos:
        order = np.argsort(-photo.scores, kind="mergesort")[:MOST_OBJECTS]
        hits, in_region = _matches(photo, order, sigmas)
        scores.append(photo.scores[order])
        found.append(hits)
        counted.append(~in_region)
        n_objects += int(np.isfinite(photo.truth).all(axis=2).any(axis=1).sum())
    if n_objects == 0:
        return SimilarityScores(np.nan, np.nan, np.nan, np.nan, 0)
    order = np.argsort(-np.concatenate(scores), kind="mergesort")
    hits = np.concatenate(found, axis=1)[:, order]
    used = np.concatenate(counted, axis=1)[:, order]
    curves = [_curve(h & u, ~h & u, n_objects) for h, u in zip(hits, used, strict=True)]
    precision, recall = np.array(curves).T
    return SimilarityScores(
        float(precision.mean()), float(precision[0]), float(precision[5]), float(recall.mean()), n_objects
    )


def _matches(photo: PhotoObjects, order: np.ndarray, sigmas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which objects, in an order, are found at each threshold, and which only lie in regions to ignore.

    An object takes the most similar annotated one that no better object took; (n_thresholds, n) each.
    """
    truth = np.isfinite(photo.truth).all(axis=2).any(axis=1)
    similarity = object_similarity(photo, sigmas)[order][:, truth]
    regions = _region_similarity(photo, sigmas)[order]
    hits = np.zeros((len(THRESHOLDS), len(order)), dtype=bool)
    in_region = np.zeros_like(hits)
    for t, threshold in enumerate(THRESHOLDS):
        free = np.ones(similarity.shape[1], dtype=bool)
        for i in range(len(order)):
            worth = np.where(free, similarity[i], -1.0)
            # of equally similar ones the last, as COCO's loop takes it
            best = len(worth) - 1 - int(np.argmax(worth[::-1])) if len(worth) else 0
            if len(worth) and worth[best] >= min(threshold, 1 - 1e-10):
                free[best] = False
                hits[t, i] = True
            else:
                in_region[t, i] = (regions[i] >= threshold).any()
    return hits, in_region


def _curve(hits: np.ndarray, false: np.ndarray, n_objects: int) -> tuple[float, float]:
    """Average precision at 101 recalls, and the largest recall."""
    n_hits, n_false = np.cumsum(hits).astype(float), np.cumsum(false).astype(float)
    recall = n_hits / n_objects
    precision = n_hits / (n_hits + n_false + np.spacing(1))
    best_beyond = np.maximum.accumulate(precision[::-1])[::-1]
    places = np.searchsorted(recall, _RECALLS, side="left")
    values = np.append(best_beyond, 0.0)[np.minimum(places, len(recall))]
    return float(values.mean()), float(recall[-1]) if len(recall) else 0.0


def keypoint_errors(photo: PhotoObjects) -> np.ndarray:
    """Distance of every annotated keypoint from where it was found.

    Objects are given to annotated ones so that the sum of their keypoints' distances is least.

    Returns
    -------
    ndarray of shape (m, n_keypoints), float64
        Pixels; inf where an annotated keypoint was not found, NaN where none is annotated.
    """
    distance = np.linalg.norm(photo.points[:, None] - photo.truth[None], axis=3)
    known = np.isfinite(photo.truth).all(axis=2)
    cost = np.where(known, np.where(np.isfinite(distance), distance, _FARTHEST), 0.0).sum(axis=2)
    errors = np.where(known, np.inf, np.nan)
    for i, j in zip(*linear_sum_assignment(cost), strict=True):
        errors[j] = np.where(known[j], np.where(np.isfinite(distance[i, j]), distance[i, j], np.inf), np.nan)
    return errors


def correct_share(errors: np.ndarray, sizes: np.ndarray, part: float) -> np.ndarray:
    """PCK: share of annotated keypoints within a part of the size, by keypoint; NaN where none is annotated.

    Parameters
    ----------
    errors : ndarray of shape (m, n_keypoints), float64
        As `keypoint_errors` gives them.
    sizes : ndarray of shape (m,), float64
    part : float
    """
    known = ~np.isnan(errors)
    with np.errstate(invalid="ignore"):
        near = (errors <= part * sizes[:, None]) & known
    n = known.sum(axis=0)
    return np.where(n > 0, near.sum(axis=0) / np.maximum(n, 1), np.nan)
