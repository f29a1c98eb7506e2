"""Candidate segmentations of a set of tracks (supplement, Algorithm 2, steps 1 to 3)."""

from dataclasses import dataclass, field, replace

import numpy as np

from ...features.errors import DataError, ParameterError
from ...features.velocities import check_complete_tracks, principal_coordinates, raw_trajectories, velocities
from .cues import MotionCues
from .spectral import angular_affinity, spectral_clustering
from .ssc import sparse_subspace_clustering
from .subspace_refinement import refine

POOLS = ("paper", "large", "widest", "pairs")
TRAJECTORY_ALPHA = 4.0
CUTS = (
    *(("affine", power) for power in (5, 10)),
    *(("homography", power) for power in (5, 10, 15)),
    ("fundamental", 10),
    *(("near fundamental", power) for power in (5, 10)),
    *(("all", power) for power in (5, 10, 15)),
    *(("near all", power) for power in (5, 10)),
)
"""Graphs of agreement, and the powers that thin them out; see `MotionCues.graph`."""
REFINED = (("ssc", None), ("near fundamental", 5), ("all", 10))
VELOCITY_ALPHA = 2.0
REFINED_DIMENSIONS = (3, 4)
LEAST_SHARE_OF_PAIRS = 0.05
LEAST_SHARE = 0.1  # of n_tracks / K; a smaller cluster is a handful of outliers, not a motion


@dataclass(frozen=True)
class Candidate:
    """One way to segment the tracks.

    Attributes
    ----------
    labels : ndarray of shape (P,), int64
        Numbered from 0 in the order of first appearance.
    generator : str
        "velocity", "trajectory", "ssc", the name of a graph of agreement that was cut (see `CUTS`), one of
        these after "refined", "consensus", or "single" for one motion.
    parameters : dict
        What the generator was run with.
    repetitions : tuple of Candidate
        Other runs that gave the same segmentation, and were dropped.
    """

    labels: np.ndarray
    generator: str
    parameters: dict[str, float]
    repetitions: tuple["Candidate", ...] = field(default=())


def candidates(
    positions: np.ndarray, n_motions: int, *, pool: str = "paper", least_share: float = LEAST_SHARE
) -> list[Candidate]:
    """Generate distinct candidate segmentations.

    Parameters
    ----------
    positions : ndarray of shape (P, F, 2)
        Complete tracks in pixels.
    n_motions : int
        K, from 2 to P.
    pool : {"paper", "large", "widest", "pairs"}
        "paper" is velocity clustering in 2K to 4K dimensions with alpha = 2; "large" adds sparse subspace
        clustering; "widest" adds to that the clustering of the positions themselves with alpha = 4, and of
        the velocities in K + 2 to 5K dimensions. "pairs" is another kind of pool; see `candidates_of_cues`.
    least_share : float
        Candidates with a cluster smaller than this share of n_tracks / K are dropped, see `plausible`; 0
        keeps all, as in the paper.

    Returns
    -------
    list of Candidate
        No two are the same up to the numbering of the labels; the earlier one stays.
    """
    check_problem(positions, n_motions)
    check_pool(pool)
    if pool == "pairs":
        return candidates_of_cues(MotionCues(positions, np.ones(positions.shape[:2], bool)), n_motions)
    found = velocity_clustering(positions, n_motions)
    if pool == "widest":
        found += velocity_clustering(positions, n_motions, dimensions=(n_motions + 2, 5 * n_motions))
        found += trajectory_clustering(positions, n_motions)
    if pool != "paper":
        found += sparse_subspace_candidates(positions, n_motions)
    return distinct(plausible(found, n_motions, least_share))


def candidates_of_cues(
    cues: MotionCues, n_motions: int, least_share: float = LEAST_SHARE_OF_PAIRS
) -> list[Candidate]:
    """Generate distinct candidates for tracks that may have gaps, the pool "pairs".

    Graphs of agreement between pairs of frames, by each geometric model and together, cut; sparse subspace
    clustering and velocity clustering of the filled tracks; some of these refined by subspaces of three and
    four dimensions; and the consensus of all.

    Parameters
    ----------
    cues : MotionCues
    n_motions : int
        K, from 1 to the number of tracks.
    least_share : float
        See `candidates`.
    """
    if n_motions == 1:
        return [Candidate(np.zeros(len(cues.positions), dtype=np.int64), "single", {})]
    found = distinct([*_agreement_cuts(cues, n_motions), *_filled_clusterings(cues, n_motions)])
    refined = [
        Candidate(
            renumbered(refine(cues.positions, cues.visible, cues.filled, start.labels, n_dimensions)),
            f"refined {start.generator}",
            {**start.parameters, "dimensions": n_dimensions},
        )
        for start in found
        if (start.generator, start.parameters.get("power")) in REFINED
        for n_dimensions in REFINED_DIMENSIONS
    ]
    found = plausible(distinct(found + refined), n_motions, least_share)
    return distinct([*found, _consensus(found, n_motions)])


def _consensus(found: list[Candidate], n_motions: int) -> Candidate:
    """Cut how often candidates put two tracks together, each counting as often as it was found.

    A. Strehl, J. Ghosh. Cluster ensembles: a knowledge reuse framework for combining multiple partitions.
    JMLR 3, 2002 (their similarity by co-association).
    """
    together = np.zeros((len(found[0].labels),) * 2)
    for candidate in found:
        member = np.eye(n_motions)[candidate.labels]
        together += (1 + len(candidate.repetitions)) * (member @ member.T)
    return Candidate(renumbered(spectral_clustering(together, n_motions)), "consensus", {})


def _agreement_cuts(cues: MotionCues, n_motions: int) -> list[Candidate]:
    return [
        Candidate(renumbered(cues.cut(name, power, n_motions)), name, {"power": power})
        for name, power in CUTS
    ]


def _filled_clusterings(cues: MotionCues, n_motions: int) -> list[Candidate]:
    labels = renumbered(spectral_clustering(cues.sparse_affinity, n_motions))
    found = [Candidate(labels, "ssc", {})]
    for d in (2 * n_motions, 3 * n_motions, 4 * n_motions):
        affinity = angular_affinity(cues.velocity_coordinates[:, :d], VELOCITY_ALPHA)
        labels = renumbered(spectral_clustering(affinity, n_motions))
        found.append(Candidate(labels, "velocity", {"d": d, "alpha": VELOCITY_ALPHA}))
    return found


def check_pool(pool: str) -> None:
    """Raise a ParameterError unless there is such a pool of candidates."""
    if pool not in POOLS:
        raise ParameterError(f"pool must be one of {POOLS}, got {pool!r}")


def check_problem(positions: np.ndarray, n_motions: int) -> None:
    """Raise a DataError or ParameterError unless there are tracks to be cut into `n_motions`."""
    n_tracks, n_frames = check_complete_tracks(positions).shape[:2]
    if n_frames < 3:
        raise DataError(f"tracks of {n_frames} frames cannot be segmented by their motion; 3 are needed")
    check_number(n_motions, n_tracks)
    if np.ptp(positions, axis=1).max() == 0:
        raise DataError("no track moves: there is nothing to tell motions apart by")


def check_number(n_motions: int, n_tracks: int) -> None:
    """Raise a ParameterError unless so many tracks can be cut into `n_motions`."""
    if not 2 <= n_motions <= n_tracks:
        raise ParameterError(
            f"the number of motions must be from 2 to {n_tracks} (the tracks), got {n_motions}"
        )


def velocity_clustering(
    positions: np.ndarray,
    n_motions: int,
    *,
    alpha: float = VELOCITY_ALPHA,
    dimensions: tuple[int, int] | None = None,
) -> list[Candidate]:
    """Cluster velocity vectors in every dimension from 2K to 4K (equations 26 and 27).

    Parameters
    ----------
    positions : ndarray of shape (P, F, 2)
    n_motions : int
    alpha : float
        Of the affinity, equation (27).
    dimensions : (int, int), optional
        First and last dimension instead of 2K and 4K. Dimensions beyond those that the tracks span are
        left out, but for one.
    """
    return _spectral_candidates(velocities(positions), n_motions, alpha, dimensions, "velocity")


def trajectory_clustering(
    positions: np.ndarray,
    n_motions: int,
    *,
    alpha: float = TRAJECTORY_ALPHA,
    dimensions: tuple[int, int] | None = None,
) -> list[Candidate]:
    """Cluster the tracks' positions as `velocity_clustering` clusters their velocities."""
    return _spectral_candidates(raw_trajectories(positions), n_motions, alpha, dimensions, "trajectory")


def _spectral_candidates(
    vectors: np.ndarray,
    n_motions: int,
    alpha: float,
    dimensions: tuple[int, int] | None,
    generator: str,
) -> list[Candidate]:
    first, last = (2 * n_motions, 4 * n_motions) if dimensions is None else dimensions
    coordinates = principal_coordinates(vectors, last)
    found: list[Candidate] = []
    for d in range(first, last + 1):
        if d > coordinates.shape[1] and found:
            break
        labels = spectral_clustering(angular_affinity(coordinates[:, :d], alpha), n_motions)
        found.append(Candidate(renumbered(labels), generator, {"d": d, "alpha": alpha}))
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


def plausible(found: list[Candidate], n_motions: int, least_share: float = LEAST_SHARE) -> list[Candidate]:
    """Drop candidates with a cluster of less than `least_share` of an equal share of the tracks.

    An equal share is n_tracks / K. Any few tracks fit a subspace, so that residuals speak for such a
    candidate. Where every candidate has such a cluster, all stay.
    """
    sizes = [np.bincount(candidate.labels, minlength=n_motions) for candidate in found]
    kept = [c for c, n in zip(found, sizes, strict=True) if n.min() * n_motions >= least_share * n.sum()]
    return kept or found


def distinct(found: list[Candidate]) -> list[Candidate]:
    """Drop candidates that repeat an earlier one; that one lists them."""
    groups: dict[bytes, list[Candidate]] = {}
    for candidate in found:
        groups.setdefault(candidate.labels.tobytes(), []).append(candidate)
    return [
        replace(
            first, repetitions=(*first.repetitions, *(run for c in others for run in (c, *c.repetitions)))
        )
        for first, *others in groups.values()
    ]
