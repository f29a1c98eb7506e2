"""Segmenting any tracks: the number of motions, tracks with gaps, outliers, many tracks, long clips."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...features.completion import filled_tracks
from ...features.errors import DataError
from ...features.threads import one_blas_thread
from .candidates import check_number
from .clip_windows import Votes, cuts, matched, window_starts
from .cues import MotionCues
from .motion_ranker import MotionRanker, Ranking
from .subspace_refinement import LEAST_MEMBERS, FittedMotion

UNLABELLED = -1
MIN_VISIBLE = 3  # frames; two leave 4 coordinates for 3 unknowns, and next to nothing to compare
MOST_RANKED = 600  # tracks that candidates are made of; the others join the motions that are found
LEAST_PATH_PX = 0.3  # between a track's extremes; tracking errors make paths as long of points at rest
OUTLIER_RATIO = 6.0  # of a track's residual to its motion's median
OUTLIER_PX = 1.5
N_OUTLIER_PASSES = 3


@dataclass(frozen=True, eq=False)
class Segmentation:
    """The motion of every track.

    Attributes
    ----------
    labels : ndarray of shape (P,), int64
        From 0; `UNLABELLED` for an outlier and for a track visible in fewer than `MIN_VISIBLE` frames.
    outlier : ndarray of shape (P,), bool
        Tracks that fit no motion.
    confidence : ndarray of shape (P,), float64 in [0, 1]
        How much of the candidates' weight gives the track its label; 0 without a label.
    ranking : Ranking
        Candidates for the tracks `ranked`, in their order; of a long clip, those of the first window.
    ranked : ndarray of shape (P,), bool
        Tracks that candidates were made of: of very many some, and none that agrees with hardly any other.
    joined : ndarray of shape (P,), bool
        Tracks that took the label of the motion that they fit best.
    windows : list of (int, int)
        First frame and end of each part that was segmented by itself.
    cuts : list of int
        Frames that begin a new shot, in which the motions are others.
    """

    labels: np.ndarray
    outlier: np.ndarray
    confidence: np.ndarray
    ranking: Ranking
    ranked: np.ndarray
    joined: np.ndarray
    windows: list[tuple[int, int]]
    cuts: list[int] = field(default_factory=list)

    @property
    def n_motions(self) -> int:
        """Motions with a track."""
        return len(np.unique(self.labels[self.labels >= 0]))

    @property
    def n_unlabelled(self) -> int:
        """Number of tracks too short to be labelled."""
        return int(np.sum((self.labels == UNLABELLED) & ~self.outlier))


@one_blas_thread
def segment(
    positions: np.ndarray,
    visible: np.ndarray,
    n_motions: int | None,
    ranker: MotionRanker,
    *,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Segmentation:
    """Segment tracks by their motion.

    Parameters
    ----------
    positions : ndarray of shape (P, F, 2)
        x and y in pixels; anything where a point is not visible.
    visible : ndarray of shape (P, F), bool
    n_motions : int or None
        K, at least 2; None finds it.
    ranker : MotionRanker
        Fitted. One of another pool than "pairs" segments the complete tracks and needs the number.
    report : callable
        Called with (windows done, windows in all).

    Returns
    -------
    Segmentation

    Raises
    ------
    ParameterError
        If `n_motions` is below 2 or above the number of tracks, or not given to a ranker that cannot find
        it.
    DataError
        If a visible position is not finite, too few tracks are visible long enough, there are fewer than
        three frames, or nothing moves.
    """
    positions, visible = np.asarray(positions, dtype=np.float64), _as_mask(visible)
    _check(positions, visible, n_motions)
    positions = np.where(visible[:, :, None], positions, 0.0)
    shots = cuts(visible) if ranker.pool == "pairs" else []
    windows = _windows(positions.shape[1], shots) if ranker.pool == "pairs" else [(0, positions.shape[1])]
    parts: list[Segmentation] = []
    votes = Votes(len(positions))
    for number, (start, end) in enumerate(windows):
        report(number, len(windows))
        own = np.flatnonzero(visible[:, start:end].sum(axis=1) >= MIN_VISIBLE)
        try:
            part = _segment_window(positions[own, start:end], visible[own, start:end], n_motions, ranker)
        except DataError:
            if number == len(windows) - 1 and not parts:
                raise
            continue  # nothing moves or is tracked here; the rest of the clip goes on
        part = _spread(part, own, len(positions), (start, end))
        labels = part.labels
        if parts:
            before = np.full(len(labels), UNLABELLED) if start in shots else votes.labels
            labels = matched(labels, before, votes.n_motions)
        votes.add(labels, visible[:, start:end].sum(axis=1))
        parts.append(part)
    report(len(windows), len(windows))
    return parts[0] if len(windows) == 1 else _joined_parts(parts, votes, shots)


def _windows(n_frames: int, shots: list[int]) -> list[tuple[int, int]]:
    """First frame and end of each window; none reaches over a cut."""
    ends = [*shots, n_frames]
    return [
        (first + start, first + end)
        for first, last in zip([0, *shots], ends, strict=True)
        for start, end in window_starts(last - first)
    ]


def _as_mask(visible: np.ndarray) -> np.ndarray:
    """Visibility as bool; what is not a number says nothing, and would count as true."""
    visible = np.asarray(visible)
    if visible.dtype.kind == "f" and not np.isfinite(visible).all():
        raise DataError("the visibility holds values that are not finite")
    return visible.astype(bool)


def _check(positions: np.ndarray, visible: np.ndarray, n_motions: int | None) -> None:
    if positions.ndim != 3 or positions.shape[2] != 2 or visible.shape != positions.shape[:2]:
        raise DataError(
            "tracks must have shape (P, F, 2) and their visibility (P, F), got "
            f"{positions.shape} and {visible.shape}"
        )
    if not np.isfinite(positions[visible]).all():
        raise DataError("a visible point has a position that is not finite")
    if positions.shape[1] < MIN_VISIBLE:
        raise DataError(
            f"tracks of {positions.shape[1]} frames cannot be segmented by their motion; 3 are needed"
        )
    if n_motions is not None:
        check_number(n_motions, len(positions))


def _segment_window(
    positions: np.ndarray, visible: np.ndarray, n_motions: int | None, ranker: MotionRanker
) -> Segmentation:
    """Segment tracks that are all visible in `MIN_VISIBLE` frames or more."""
    ranked = chosen_tracks(visible) if ranker.pool == "pairs" else np.asarray(visible.all(axis=1))
    _check_tracks(positions, visible, ranked, n_motions or 1, complete=ranker.pool != "pairs")
    if ranker.pool == "pairs":
        cues, kept = MotionCues(positions[ranked], visible[ranked]).without_strays()
        ranked[ranked] = kept
        ranking = ranker.rank_cues(cues, n_motions)
    else:
        ranking = ranker.rank(positions[ranked], _given(n_motions))
    labels, confidence = np.full(len(positions), UNLABELLED), np.zeros(len(positions))
    labels[ranked], confidence[ranked] = ranking.best.labels, ranking.support()
    labels, outlier, costs = _completed(positions, visible, labels)
    joined = ~ranked
    confidence[joined] = np.exp(-(costs - costs.min(axis=0)) / 2).sum(axis=0) ** -1.0
    labels[outlier], confidence[outlier] = UNLABELLED, 0.0
    return Segmentation(
        labels, outlier, confidence, ranking, ranked, joined & ~outlier, [(0, visible.shape[1])]
    )


def _given(n_motions: int | None) -> int:
    if n_motions is None:
        raise DataError("this ranker cannot find the number of motions: give it")
    return n_motions


def chosen_tracks(visible: np.ndarray, most: int = MOST_RANKED) -> np.ndarray:
    """Choose the tracks that candidates are made of, (P,) bool: all, or so many, the longer ones rather."""
    chosen = np.ones(len(visible), dtype=bool)
    if len(visible) > most:
        length = visible.sum(axis=1)
        long = (
            np.flatnonzero(length >= np.sort(length)[-2 * most])
            if len(visible) > 2 * most
            else np.arange(len(visible))
        )
        chosen[:] = False
        # Every so-and-so-many-th, as neighbours in the list are often neighbours in the picture.
        chosen[long[np.linspace(0, len(long) - 1, most).round().astype(int)]] = True
    return chosen


def _check_tracks(
    positions: np.ndarray, visible: np.ndarray, ranked: np.ndarray, n_motions: int, *, complete: bool
) -> None:
    """Raise a DataError unless there are different, moving tracks for so many motions."""
    n_frames = visible.shape[1]
    n_ranked = int(ranked.sum())
    if n_ranked < max(n_motions, 2):
        kind = f"visible in all {n_frames} frames" if complete else f"visible in {MIN_VISIBLE} frames"
        raise DataError(
            f"{n_ranked} of {len(positions)} tracks are {kind}; {n_motions} motions need at least as many"
            + (": take fewer frames" if complete else "")
        )
    own, seen = positions[ranked], visible[ranked]
    n_different = len(np.unique(own.reshape(n_ranked, -1), axis=0))
    if n_different < n_motions:
        raise DataError(
            f"the {n_ranked} tracks are copies of {n_different}; {n_motions} motions need at least as many "
            "different ones"
        )
    low = np.where(seen[:, :, None], own, np.inf).min(axis=1)
    high = np.where(seen[:, :, None], own, -np.inf).max(axis=1)
    n_moving = int(np.sum((high - low).max(axis=1) > LEAST_PATH_PX))
    if n_moving == 0:
        raise DataError(
            f"no track moves by more than {LEAST_PATH_PX} pixels: there is nothing to tell motions apart by"
        )
    if n_moving < LEAST_MEMBERS <= n_ranked:
        raise DataError(
            f"of {n_ranked} tracks {n_moving} moves by more than {LEAST_PATH_PX} pixels; it takes "
            f"{LEAST_MEMBERS} to tell a motion"
        )


def completed(
    positions: np.ndarray, visible: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Label tracks without a motion by the one that they fit best, and tell which tracks fit none.

    Parameters
    ----------
    positions : ndarray of shape (P, F, 2)
    visible : ndarray of shape (P, F), bool
    labels : ndarray of shape (P,), int
        From 0; `UNLABELLED` for tracks that no candidate was made of.

    Returns
    -------
    labels : ndarray of shape (P,), int64
        The motion that is nearest, of outliers too.
    outlier : ndarray of shape (P,), bool
    """
    done = _completed(np.where(visible[:, :, None], positions, 0.0), visible, labels)
    return done.labels, done.outlier


class _Completed(NamedTuple):
    """Labels (P,) of all tracks, which of them are outliers, and the costs (K, n) of those that joined."""

    labels: np.ndarray
    outlier: np.ndarray
    costs: np.ndarray


def _completed(positions: np.ndarray, visible: np.ndarray, labels: np.ndarray) -> _Completed:
    motions, outlier = _fitted_motions(positions, visible, labels)
    fitted, joined = (labels >= 0) & ~outlier, labels < 0
    costs = np.stack([motion.costs(positions[joined], visible[joined]) for motion in motions])
    labels = labels.copy()
    labels[joined] = np.argmin(costs, axis=0)
    return _Completed(labels, outlier | _far(positions, visible, labels, motions, fitted), costs)


def _fitted_motions(
    positions: np.ndarray, visible: np.ndarray, labels: np.ndarray
) -> tuple[list[FittedMotion], np.ndarray]:
    """Fit every motion to its tracks without those that are far from it; which those are, (P,) bool."""
    outlier = np.zeros(len(labels), dtype=bool)
    filled = np.zeros_like(positions)
    filled[labels >= 0] = filled_tracks(positions[labels >= 0], visible[labels >= 0])
    motions: list[FittedMotion] = []
    for _ in range(N_OUTLIER_PASSES):
        motions = []
        for label in range(int(labels.max()) + 1):
            own = (labels == label) & ~outlier
            own = own if own.any() else labels == label
            motions.append(FittedMotion.of(positions[own], visible[own], filled[own]))
        far = _far(positions, visible, labels, motions, (labels >= 0) & ~outlier)
        if np.array_equal(far, outlier):
            break
        outlier = far
    return motions, outlier


def _far(
    positions: np.ndarray,
    visible: np.ndarray,
    labels: np.ndarray,
    motions: list[FittedMotion],
    fitted: np.ndarray,
) -> np.ndarray:
    """Tracks whose residual is many times that of the median track of their motion, (P,) bool.

    `fitted` (P,) bool are those that the motions were fitted to.
    """
    far = np.zeros(len(labels), dtype=bool)
    for label, motion in enumerate(motions):
        own = np.flatnonzero(labels == label)
        if len(own):
            residuals = motion.residuals(positions[own], visible[own], fitted[own])
            far[own] = residuals > max(OUTLIER_RATIO * float(np.median(residuals)), OUTLIER_PX)
    return far


def _spread(part: Segmentation, own: np.ndarray, n_tracks: int, window: tuple[int, int]) -> Segmentation:
    """Give a part's arrays a row for every track of the clip."""

    def over_all(values: np.ndarray, otherwise: float) -> np.ndarray:
        whole = np.full(n_tracks, otherwise, dtype=values.dtype)
        whole[own] = values
        return whole

    return Segmentation(
        over_all(part.labels, UNLABELLED),
        over_all(part.outlier, False),
        over_all(part.confidence, 0.0),
        part.ranking,
        over_all(part.ranked, False),
        over_all(part.joined, False),
        [window],
    )


def _joined_parts(parts: list[Segmentation], votes: Votes, shots: list[int]) -> Segmentation:
    """Put the windows of a clip together; numbers of motions without a track are closed up."""
    labels = votes.labels
    names = np.unique(labels[labels >= 0])
    labels = np.where(labels >= 0, np.searchsorted(names, labels), UNLABELLED)
    outlier = np.any([part.outlier for part in parts], axis=0) & (labels == UNLABELLED)
    seen = np.sum([part.confidence > 0 for part in parts], axis=0)
    confidence = np.sum([part.confidence for part in parts], axis=0) / np.maximum(seen, 1)
    ranked = np.any([part.ranked for part in parts], axis=0)
    return Segmentation(
        labels,
        outlier,
        np.where(labels >= 0, confidence, 0.0),
        parts[0].ranking,
        ranked,
        (labels >= 0) & ~ranked,
        [part.windows[0] for part in parts],
        shots,
    )
