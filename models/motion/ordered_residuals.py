"""How alike tracks are in the motions that they prefer, summed over pairs of frames.

Between two frames many motions are fitted to small samples of points. Two tracks of one motion put the same
hypotheses first when each orders them by its residuals. The kernel counts what their lists of the best have
in common; a pair of frames takes part with the tracks that are visible in both, so that no track need be
complete.

- T.-J. Chin, H. Wang, D. Suter. The ordered residual kernel for robust motion subspace clustering. NIPS 2009.
- X. Xu, L.-F. Cheong, Z. Li. Motion segmentation by exploiting complementary geometric models. CVPR 2018.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from ...features.threads import in_threads
from .pair_hypotheses import SAMPLE_SIZES, hypothesis_residuals

N_HYPOTHESES = 300
TOP_SHARE = 0.1  # of the hypotheses, that make a track's list of the best
MAX_PAIRS = 24
LEAST_TRACKS = 12  # a pair of frames with fewer tracks is passed over


@dataclass(frozen=True, eq=False)
class PairKernel:
    """Agreement of tracks.

    Attributes
    ----------
    similarity : ndarray of shape (P, P), float64 in [0, 1]
        Mean agreement over the pairs of frames that two tracks share, 0 where they share none.
    shared : ndarray of shape (P, P), float64
        How many pairs of frames two tracks share.
    """

    similarity: np.ndarray
    shared: np.ndarray


def frame_pairs(n_frames: int, gaps: Sequence[int], most: int = MAX_PAIRS) -> list[tuple[int, int]]:
    """Pairs of frames at the given distances, spread evenly over the clip, at most `most` in all."""
    pairs = [(f, f + gap) for gap in sorted(set(gaps)) for f in range(n_frames - gap)]
    chosen = np.unique(np.linspace(0, len(pairs) - 1, min(most, len(pairs))).round().astype(int))
    return [pairs[i] for i in chosen]


def ordered_residual_kernel(
    positions: np.ndarray,
    visible: np.ndarray,
    model: str,
    pairs: Sequence[tuple[int, int]],
    *,
    guide: np.ndarray | None = None,
    n_hypotheses: int = N_HYPOTHESES,
) -> PairKernel:
    """Sum the ordered residual kernels of pairs of frames.

    Parameters
    ----------
    positions : ndarray of shape (P, F, 2)
        Pixels.
    visible : ndarray of shape (P, F), bool
    model : {"affine", "homography", "fundamental"}
    pairs : sequence of (int, int)
    guide : ndarray of shape (P, P), float in [0, 1], optional
        Samples are drawn from tracks that are alike by it; by default from all.
    n_hypotheses : int
        For each pair of frames.

    Returns
    -------
    PairKernel
    """
    n = len(positions)
    agreement, shared = np.zeros((n, n), dtype=np.float32), np.zeros((n, n), dtype=np.float32)
    n_best = max(1, round(TOP_SHARE * n_hypotheses))

    def agreement_of(number: int) -> tuple[np.ndarray, np.ndarray] | None:
        first, second = pairs[number]
        members = np.flatnonzero(visible[:, first] & visible[:, second])
        if len(members) < LEAST_TRACKS:
            return None
        near = None if guide is None else guide[np.ix_(members, members)]
        rng = np.random.default_rng([0, number])
        samples = _samples(rng, len(members), SAMPLE_SIZES[model], n_hypotheses, near)
        before, after = _scaled(positions[members, first], positions[members, second])
        best = best_hypotheses(hypothesis_residuals(model, before, after, samples), n_best)
        return members, best @ best.T

    for found in in_threads(agreement_of, range(len(pairs))):
        if found is not None:
            members, product = found
            # Whole numbers below 2**24, so that the sums are exact in any order.
            agreement[np.ix_(members, members)] += product
            shared[np.ix_(members, members)] += 1
    similarity = np.divide(agreement, n_best * shared, out=np.zeros((n, n)), where=shared > 0)
    return PairKernel(similarity, shared.astype(np.float64))


def _scaled(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Put the mean of the first points at the origin and make their spread one."""
    centre = before.mean(axis=0)
    scale = max(float(np.sqrt(np.mean((before - centre) ** 2))), 1e-6)
    return (before - centre) / scale, (after - centre) / scale


def _samples(
    rng: np.random.Generator, n_tracks: int, size: int, n_samples: int, near: np.ndarray | None
) -> np.ndarray:
    """Draw tracks for each hypothesis, without repetition; (n_samples, size), int64."""
    keys = rng.random((n_samples, n_tracks))
    if near is not None:
        # The k smallest of E / w, E exponential, are a draw without repetition by the weights w.
        seeds = rng.integers(n_tracks, size=n_samples)
        weight = near[seeds] ** 2 + 1e-4
        weight[np.arange(n_samples), seeds] = np.inf
        keys = -np.log1p(-keys) / weight
    return np.argpartition(keys, size, axis=1)[:, :size]


def best_hypotheses(residuals: np.ndarray, n_best: int) -> np.ndarray:
    """Mark the `n_best` hypotheses of least residual of each track, shape (P, H), float32; ties by number."""
    best = np.zeros(residuals.shape, dtype=np.float32)
    _mark_best(np.ascontiguousarray(residuals), n_best, best)
    return best


@njit(cache=True, nogil=True)
def _mark_best(residuals, n_best, best):
    for i in range(len(residuals)):
        row = residuals[i]
        last = np.partition(row, n_best - 1)[n_best - 1]
        left = n_best - np.sum(row < last)
        for h in range(len(row)):
            if row[h] < last:
                best[i, h] = 1
            elif row[h] == last and left > 0:
                best[i, h] = 1
                left -= 1
