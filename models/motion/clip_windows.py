"""Long clips part by part: shots, windows that overlap, and the same motion by the same number in all."""

import numpy as np
from scipy.optimize import linear_sum_assignment

WINDOW = 60  # frames
LONGEST = 120  # a clip of at most so many frames is one window
UNLABELLED = -1
CUT_REACH = 3  # frames before and after a cut, in which tracks are looked for
LEAST_CARRIED = 0.1  # of the tracks on the poorer side of a frame; fewer go on only where there is a cut
LEAST_AT_A_CUT = 10  # tracks on either side, to tell


def cuts(visible: np.ndarray) -> list[int]:
    """Return the frames that begin a new shot: hardly a track goes on from the frames before.

    Parameters
    ----------
    visible : ndarray of shape (P, F), bool
    """
    found = []
    for f in range(CUT_REACH, visible.shape[1] - CUT_REACH + 1):
        before = visible[:, f - CUT_REACH : f].any(axis=1)
        after = visible[:, f : f + CUT_REACH].any(axis=1)
        poorer = min(int(before.sum()), int(after.sum()))
        carried = int(np.sum(before & after))
        if poorer >= LEAST_AT_A_CUT and carried < LEAST_CARRIED * poorer:
            found.append(f)
    return found


def window_starts(n_frames: int, length: int = WINDOW, longest: int = LONGEST) -> list[tuple[int, int]]:
    """Return first frame and end of each window; neighbours share half of their frames or more."""
    if n_frames <= longest:
        return [(0, n_frames)]
    n = int(np.ceil(2 * (n_frames - length) / length)) + 1
    starts = np.linspace(0, n_frames - length, n).round().astype(int)
    return [(int(start), int(start) + length) for start in starts]


def matched(labels: np.ndarray, before: np.ndarray, next_label: int) -> np.ndarray:
    """Renumber the motions of a window as those of what came before.

    Parameters
    ----------
    labels, before : ndarray of shape (P,), int
        Of the same tracks; `UNLABELLED` where a track has none in this window, or had none before.
    next_label : int
        The first number that is free, for motions that nothing before was like.

    Returns
    -------
    ndarray of shape (P,), int64
    """
    n_motions = int(labels.max()) + 1
    names = np.full(n_motions, UNLABELLED)
    both = (labels >= 0) & (before >= 0)
    if both.any():
        counts = np.zeros((n_motions, int(before.max()) + 1), dtype=np.int64)
        np.add.at(counts, (labels[both], before[both]), 1)
        for row, column in zip(*linear_sum_assignment(counts, maximize=True), strict=True):
            if counts[row, column] > 0:
                names[row] = column
    new = np.flatnonzero(names == UNLABELLED)
    names[new] = next_label + np.arange(len(new))
    return np.where(labels >= 0, names[labels], UNLABELLED).astype(np.int64)


class Votes:
    """Frames for which each track was given each motion, over all windows."""

    def __init__(self, n_tracks: int) -> None:
        self._frames = np.zeros((n_tracks, 0))

    @property
    def n_motions(self) -> int:
        return self._frames.shape[1]

    @property
    def labels(self) -> np.ndarray:
        """The motion that each track had longest, (P,), int64; `UNLABELLED` without any."""
        if self.n_motions == 0:
            return np.full(len(self._frames), UNLABELLED)
        return np.where(self._frames.max(axis=1) > 0, self._frames.argmax(axis=1), UNLABELLED)

    def add(self, labels: np.ndarray, n_frames: np.ndarray) -> None:
        """Count the labels (P,) of a window, in which the tracks were visible in `n_frames` (P,) frames."""
        missing = int(labels.max(initial=-1)) + 1 - self.n_motions
        if missing > 0:
            self._frames = np.pad(self._frames, ((0, 0), (0, missing)))
        rows = np.flatnonzero(labels >= 0)
        self._frames[rows, labels[rows]] += n_frames[rows]
