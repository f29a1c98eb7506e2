"""Segmenting tracks with gaps: complete tracks by ranking, the others by the nearest fitted subspace."""

from dataclasses import dataclass

import numpy as np

from ...features.errors import DataError, ParameterError
from ...features.subspaces import MOTION_DIMENSIONS
from .motion_ranker import MotionRanker, Ranking

UNLABELLED = -1
NOISE_PX = 0.5  # what tracking is taken to be wrong by
MIN_VISIBLE = 3  # frames; two leave 4 coordinates for 3 unknowns, and next to nothing to compare


@dataclass(frozen=True, eq=False)
class Segmentation:
    """The motion of every track.

    Attributes
    ----------
    labels : ndarray of shape (P,), int64
        From 0; `UNLABELLED` for a track that is visible in fewer than `MIN_VISIBLE` frames.
    ranking : Ranking
        Candidates for the complete tracks alone, in their order; the labels are those of the best.
    complete : ndarray of shape (P,), bool
        Tracks visible in every frame, which were segmented.
    by_subspace : ndarray of shape (P,), bool
        Tracks with gaps, which took the label of the nearest subspace.
    """

    labels: np.ndarray
    ranking: Ranking
    complete: np.ndarray
    by_subspace: np.ndarray

    @property
    def n_unlabelled(self) -> int:
        """Number of tracks too short to be labelled."""
        return int(np.sum(self.labels == UNLABELLED))


def segment(positions: np.ndarray, visible: np.ndarray, n_motions: int, ranker: MotionRanker) -> Segmentation:
    """Segment tracks by their motion.

    Parameters
    ----------
    positions : ndarray of shape (P, F, 2)
        x and y in pixels; anything where a point is not visible.
    visible : ndarray of shape (P, F), bool
    n_motions : int
        K, at least 2.
    ranker : MotionRanker
        Fitted; segments the complete tracks.

    Returns
    -------
    Segmentation

    Raises
    ------
    ParameterError
        If `n_motions` is below 2 or above the number of tracks.
    DataError
        If a visible position is not finite, fewer than `n_motions` different tracks are complete, there are
        fewer than three frames, or nothing moves.
    """
    positions, visible = np.asarray(positions, dtype=np.float64), np.asarray(visible, dtype=bool)
    _check(positions, visible, n_motions)
    complete = np.asarray(visible.all(axis=1))
    ranking = ranker.rank(positions[complete], n_motions)
    labels = np.full(len(positions), UNLABELLED, dtype=np.int64)
    labels[complete] = ranking.best.labels
    by_subspace = ~complete & (visible.sum(axis=1) >= MIN_VISIBLE)
    subspaces = fit_subspaces(positions[complete], labels[complete])
    labels[by_subspace] = nearest_subspace(positions[by_subspace], visible[by_subspace], subspaces)
    return Segmentation(labels, ranking, complete, by_subspace)


def _check(positions: np.ndarray, visible: np.ndarray, n_motions: int) -> None:
    if positions.ndim != 3 or positions.shape[2] != 2 or visible.shape != positions.shape[:2]:
        raise DataError(
            "tracks must have shape (P, F, 2) and their visibility (P, F), got "
            f"{positions.shape} and {visible.shape}"
        )
    if not np.isfinite(positions[visible]).all():
        raise DataError("a visible point has a position that is not finite")
    if not 2 <= n_motions <= len(positions):
        raise ParameterError(
            f"the number of motions must be from 2 to {len(positions)} (the tracks), got {n_motions}"
        )
    complete = positions[visible.all(axis=1)]
    if len(complete) < n_motions:
        raise DataError(
            f"{len(complete)} of {len(positions)} tracks are visible in all {positions.shape[1]} frames; "
            f"{n_motions} motions need at least as many: take fewer frames"
        )
    n_different = len(np.unique(complete.reshape(len(complete), -1), axis=0))
    if n_different < n_motions:
        raise DataError(
            f"the {len(complete)} complete tracks are copies of {n_different}; {n_motions} motions need at "
            "least as many different ones"
        )


Subspace = tuple[np.ndarray, np.ndarray]
"""Mean, (2 F,), and directions, (2 F, at most 3), each as long as the tracks' standard deviation along it."""


def fit_subspaces(positions: np.ndarray, labels: np.ndarray) -> list[Subspace]:
    """Fit an affine subspace of up to three dimensions to the complete tracks of each label.

    Parameters
    ----------
    positions : ndarray of shape (P, F, 2)
    labels : ndarray of shape (P,), int
        From 0, every number up to the largest used.

    Returns
    -------
    list of (mean, directions)
        By label, least squares.
    """
    vectors = positions.reshape(len(positions), -1)
    subspaces = []
    for label in range(int(labels.max()) + 1):
        members = vectors[labels == label]
        mean = members.mean(axis=0)
        _, spread, directions = np.linalg.svd(members - mean, full_matrices=False)
        deviations = spread[:MOTION_DIMENSIONS] / np.sqrt(len(members))
        subspaces.append((mean, directions[:MOTION_DIMENSIONS].T * deviations))
    return subspaces


def nearest_subspace(positions: np.ndarray, visible: np.ndarray, subspaces: list[Subspace]) -> np.ndarray:
    """Return the subspace that each track with gaps is nearest to, by its visible frames alone.

    A track's place in a subspace is the one of least squares, with a place far from the motion's own tracks
    counted as an error too, as far as tracking noise does not explain it: from a few frames, a direction in
    which the motion's tracks hardly differ would else explain any other motion. On the 155 sequences of
    Hopkins with 30 % of the tracks cut to half (a quarter) of their frames, this mistakes 0.2 % (0.3 %) of
    these, plain least squares 0.6 % (1.0 %).

    Parameters
    ----------
    positions : ndarray of shape (n, F, 2)
    visible : ndarray of shape (n, F), bool
    subspaces : list of (mean, directions)

    Returns
    -------
    ndarray of shape (n,), int64
    """
    vectors = np.where(visible[:, :, None], positions, 0.0).reshape(len(positions), 2 * visible.shape[1])
    labels = np.zeros(len(positions), dtype=np.int64)
    # Tracks that are visible in the same frames share a projection.
    patterns, pattern = np.unique(visible, axis=0, return_inverse=True)
    for p, frames in enumerate(patterns):
        members = np.flatnonzero(pattern.ravel() == p)
        seen = np.repeat(frames, 2)
        distances = [_distance(vectors[members][:, seen], mean[seen], a[seen]) for mean, a in subspaces]
        labels[members] = np.argmin(distances, axis=0)
    return labels


def _distance(vectors: np.ndarray, mean: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Least |v - mean - A c|^2 + NOISE_PX^2 |c|^2 over c, of each row v."""
    n = directions.shape[1]
    stacked = np.vstack([directions, NOISE_PX * np.eye(n)])
    target = np.vstack([(vectors - mean).T, np.zeros((n, len(vectors)))])
    coordinates = np.linalg.lstsq(stacked, target, rcond=None)[0]
    return np.sum((target - stacked @ coordinates) ** 2, axis=0)
