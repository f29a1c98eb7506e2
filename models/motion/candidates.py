"""Candidate segmentations of a set of tracks (supplement, Algorithm 2, steps 1 to 3)."""

from dataclasses import dataclass, field, replace

import numpy as np

from ...features.errors import DataError, ParameterError
from ...features.velocities import check_complete_tracks, principal_coordinates, raw_trajectories, velocities
from .spectral import angular_affinity, spectral_clustering
from .ssc import sparse_subspace_clustering

POOLS = ("paper", "large")


@dataclass(frozen=True)
class Candidate:
    """One way to segment the tracks.

    Attributes
    ----------
    labels : ndarray of shape (P,), int64
        Numbered from 0 in the order of first appearance.
    generator : str
        "velocity", "trajectory" or "ssc".
    parameters : dict
        What the generator was run with.
    repetitions : tuple of Candidate
        Other runs that gave the same segmentation, and were dropped.
    """

    labels: np.ndarray
    generator: str
    parameters: dict[str, float]
    repetitions: tuple["Candidate", ...] = field(default=())


def candidates(positions: np.ndarray, n_motions: int, *, pool: str = "paper") -> list[Candidate]:
    """Generate distinct candidate segmentations.

    Parameters
    ----------
    positions : ndarray of shape (P, F, 2)
        Complete tracks in pixels.
    n_motions : int
        K, from 2 to P.
    pool : {"paper", "large"}
        "paper" is velocity clustering in 2K to 4K dimensions with alpha = 2; "large" adds sparse subspace
        clustering.

    Returns
    -------
    list of Candidate
        No two are the same up to the numbering of the labels; the earlier one stays.
    """
    check_problem(positions, n_motions)
    if pool not in POOLS:
        raise ParameterError(f"pool must be one of {POOLS}, got {pool!r}")
    found = list(velocity_clustering(positions, n_motions))
    if pool == "large":
        found += sparse_subspace_candidates(positions, n_motions)
    return distinct(found)


def check_problem(positions: np.ndarray, n_motions: int) -> None:
    """Raise a DataError or ParameterError unless there are tracks to be cut into `n_motions`."""
    n_tracks, n_frames = check_complete_tracks(positions).shape[:2]
    if n_frames < 3:
        raise DataError(f"tracks of {n_frames} frames cannot be segmented by their motion; 3 are needed")
    if not 2 <= n_motions <= n_tracks:
        raise ParameterError(
            f"the number of motions must be from 2 to {n_tracks} (the tracks), got {n_motions}"
        )
    if np.ptp(positions, axis=1).max() == 0:
        raise DataError("no track moves: there is nothing to tell motions apart by")


def velocity_clustering(positions: np.ndarray, n_motions: int, alpha: float = 2.0) -> list[Candidate]:
    """Cluster velocity vectors in every dimension from 2K to 4K (equations 26 and 27)."""
    coordinates = principal_coordinates(velocities(positions), 4 * n_motions)
    found: list[Candidate] = []
    for d in range(2 * n_motions, 4 * n_motions + 1):
        if d > coordinates.shape[1] and found:
            break
        labels = spectral_clustering(angular_affinity(coordinates[:, :d], alpha), n_motions)
        found.append(Candidate(renumbered(labels), "velocity", {"d": d, "alpha": alpha}))
    return found


def sparse_subspace_candidates(positions: np.ndarray, n_motions: int) -> list[Candidate]:
    """Sparse subspace clustering of the positions, one candidate."""
    labels = sparse_subspace_clustering(raw_trajectories(positions), n_motions)
    return [Candidate(renumbered(labels), "ssc", {})]


def renumbered(labels: np.ndarray) -> np.ndarray:
    """Number labels from 0 in the order of their first appearance."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def distinct(found: list[Candidate]) -> list[Candidate]:
    """Drop candidates that repeat an earlier one; that one lists them."""
    groups: dict[bytes, list[Candidate]] = {}
    for candidate in found:
        groups.setdefault(candidate.labels.tobytes(), []).append(candidate)
    return [replace(first, repetitions=tuple(others)) for first, *others in groups.values()]
