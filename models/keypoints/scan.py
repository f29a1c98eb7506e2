"""Scores of all windows of a photo.

A block of neighbouring windows of a row goes through the features together, in the order of the soft
cascade (cascade.py): the compiler turns one feature of a block into vector instructions. Once only a few
windows of the block are left, whose partial sums have not fallen below a stage's rejection threshold,
these go on one by one. The levels of a photo are cut into bands of rows, whose maps stay in the cache of
one core; all classifiers read them before the next band's are made.

A keypoint is seen in windows that lie side by side, as classifiers are trained on all that are within a
pixel of it. A sparse scan, for detection, takes every other row, and of the rows between them the windows
beside one that was found: half the time, and what it misses has no neighbour that is found.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from ...features.codes import code_of, code_scale, quantise
from ...features.jit import LEAF
from ...features.maps import LevelMaps, evaluate, value_at
from ...features.pyramid import Level
from ...features.threads import in_threads
from .cascade import NEVER
from .classifier import KeypointClassifier

BAND_ROWS = 96

BLOCK = 64
"""Windows in a block."""

SINGLY = 6
"""Windows of a block that are as quick to finish one by one as together."""

_spare_maps: list[LevelMaps] = []  # whose memory the next band may take; fresh memory costs more than maps


@dataclass(frozen=True, eq=False)
class FoundWindows:
    """Windows of a photo's levels, in the order of level, row and column.

    Attributes
    ----------
    level, row, col : ndarray of shape (n,), int64
        Number of the level, centre pixel on it.
    score : ndarray of shape (n,), float32
        Full sums.
    """

    level: np.ndarray
    row: np.ndarray
    col: np.ndarray
    score: np.ndarray

    def __len__(self) -> int:
        return len(self.score)

    def __getitem__(self, index: np.ndarray) -> "FoundWindows":
        return FoundWindows(self.level[index], self.row[index], self.col[index], self.score[index])


def scan_photo(
    levels: Sequence[Level],
    classifiers: Sequence[KeypointClassifier],
    floors: Sequence[float],
    *,
    exact: bool = False,
    sparse: bool = False,
    parallel: bool = True,
) -> list[FoundWindows]:
    """Find the windows of a photo that score at least a classifier's floor.

    Parameters
    ----------
    levels : sequence of Level
    classifiers : sequence of KeypointClassifier
    floors : sequence of float
        One a classifier.
    exact : bool
        Compute the full sum of every window instead of giving most of them up early.
    sparse : bool
        Leave out the windows of every other row of a band, unless one right above or below is found.
    parallel : bool
        Share the bands out to threads; False within a thread that is one of several already.

    Returns
    -------
    list of FoundWindows
        One a classifier.
    """
    hog = any(classifier.pool.needs[0] for classifier in classifiers)
    haar = any(classifier.pool.needs[1] for classifier in classifiers)

    def scan_band(band: tuple[int, int]) -> list[FoundWindows]:
        index, first = band
        image = levels[index].image
        rows = first, min(first + BAND_ROWS, len(image))
        maps = LevelMaps(image, rows=rows, hog=hog, haar=haar, reuse=_take_spare_maps())
        found = []
        for classifier, floor in zip(classifiers, floors, strict=True):
            row, col, score = scan_level(maps, classifier, floor, exact=exact, sparse=sparse)
            found.append(FoundWindows(np.full(len(row), index), row, col, score))
        _spare_maps.append(maps)
        return found

    share_out: Callable[..., Iterable] = in_threads if parallel else map
    by_band = list(share_out(scan_band, _bands(levels)))
    return [_joined(parts) for parts in zip(*by_band, strict=True)]


def _take_spare_maps() -> LevelMaps | None:
    try:
        return _spare_maps.pop()
    except IndexError:
        return None


def _bands(levels: Sequence[Level]) -> Iterator[tuple[int, int]]:
    """Level and first row of every band."""
    for index, level in enumerate(levels):
        for first in range(0, len(level.image), BAND_ROWS):
            yield index, first


def _joined(parts: Sequence[FoundWindows]) -> FoundWindows:
    names = ("level", "row", "col", "score")
    return FoundWindows(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def scan_level(
    maps: LevelMaps,
    classifier: KeypointClassifier,
    floor: float,
    *,
    exact: bool = False,
    sparse: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the windows of a level that score at least `floor`.

    Parameters
    ----------
    maps : LevelMaps
        With all the maps that the classifier's features read.
    classifier : KeypointClassifier
    floor : float
    exact, sparse : bool
        See `scan_photo`.

    Returns
    -------
    rows, cols : ndarray of shape (n,), int64
        Centre pixels on the level, in the order of reading.
    scores : ndarray of shape (n,), float32
        Full sums.
    """
    scores = score_map(maps, classifier, floor, exact=exact, sparse=sparse)
    places = np.flatnonzero(scores >= np.float32(floor))
    rows, cols = np.divmod(places, scores.shape[1])
    return rows + maps.first_row, cols, scores.ravel()[places]


def score_map(
    maps: LevelMaps,
    classifier: KeypointClassifier,
    floor: float,
    *,
    exact: bool = False,
    sparse: bool = False,
) -> np.ndarray:
    """Return the score of every window of the maps, -inf for those given up, `maps.shape` float32.

    Windows whose full sum is below `floor` may be given up at the last stage.
    """
    rejection = classifier.cascade(-np.inf if exact else floor).copy()
    if not exact:
        rejection[-1] = max(rejection[-1], np.float32(floor))
    low, high, scale = code_scale(classifier.low, classifier.high)
    scores = np.full(maps.shape, classifier.intercept, dtype=np.float32)
    _scan_rows(
        classifier.pool.kinds,
        classifier.pool.offsets(maps.layout),
        low,
        high,
        scale,
        classifier.tables,
        rejection,
        maps.integral,
        maps.cells,
        maps.norms,
        maps.stride,
        2 if sparse else 1,
        scores,
    )
    return scores


@njit(cache=True, nogil=True)
def _scan_rows(
    kinds, offsets, low, high, scale, tables, rejection, integral, cells, norms, stride, step, scores
):
    """Add the features to `scores`, which holds the intercept: each step-th row, then those beside it."""
    height, width = scores.shape
    values = np.empty(BLOCK, dtype=np.float32)
    codes = np.empty((1, BLOCK), dtype=np.uint8)
    for row in range(0, height, step):
        for first in range(0, width, BLOCK):
            n = min(BLOCK, width - first)
            start = row * stride + first
            left, t = n, 0
            while left > SINGLY and t < len(kinds):
                evaluate(kinds, offsets, t, integral, cells, norms, start, n, values)
                quantise(values, low[t], high[t], scale[t], n, codes, 0, 0)
                left = _add_responses(tables, codes, t, rejection, n, scores, row, first)
                t += 1
            if left > 0 and t < len(kinds):
                _finish(
                    kinds, offsets, low, high, scale, tables, rejection, integral, cells, norms,
                    t, n, start, scores, row, first,
                )  # fmt: skip
    for row in range(height):
        if row % step:
            _keep_beside(scores, row)
            _finish(
                kinds, offsets, low, high, scale, tables, rejection, integral, cells, norms,
                0, width, row * stride, scores, row, 0,
            )  # fmt: skip


@njit(**LEAF)
def _keep_beside(scores, row):
    """Give up the windows of a row but those right below or above one that is left."""
    below = row + 1 if row + 1 < len(scores) else row - 1
    for col in range(scores.shape[1]):
        if scores[row - 1, col] <= NEVER and scores[below, col] <= NEVER:
            scores[row, col] = NEVER


@njit(**LEAF)
def _add_responses(tables, codes, t, rejection, n, scores, row, first):
    """Add feature t to a block of windows, give up those below its threshold, and count those left."""
    left = 0
    threshold = rejection[t]
    for k in range(n):
        i = np.uintp(first + k)
        partial = scores[row, i] + tables[t, codes[0, np.uintp(k)]]
        alive = partial >= threshold and partial > NEVER
        scores[row, i] = partial if alive else NEVER
        left += alive
    return left


@njit(**LEAF)
def _finish(
    kinds, offsets, low, high, scale, tables, rejection, integral, cells, norms,
    t, n, start, scores, row, first,
):  # fmt: skip
    """Add the features from t on to the windows of a block that are left, one window after the other."""
    for k in range(n):
        partial = scores[row, first + k]
        if partial > NEVER:
            for f in range(t, len(kinds)):
                value = value_at(kinds, offsets, f, integral, cells, norms, start + k)
                partial += tables[f, code_of(value, low[f], high[f], scale[f])]
                if partial < rejection[f]:
                    partial = NEVER
                    break
            scores[row, first + k] = partial
