"""Scores of all windows of a photo.

The features are added up in the order of the soft cascade (cascade.py). The windows of a row get the first
few together: the compiler turns one feature of a row into vector instructions. Then those whose partial sums
have not fallen below a stage's rejection threshold are put on a list with those of other rows, which gets
shorter with every feature. The levels of a photo are cut into bands of rows, whose maps stay in the cache of
one core; all classifiers read them before the next band's are made.

A keypoint is seen in windows that lie side by side and on neighbouring levels, as classifiers are trained on
all that are within a pixel of it and within a range of sizes. A sparse scan, for detection, takes every other
row and column of some of the levels, and then the windows beside one that was found: what it misses has no
neighbour that is found.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from ...features.channels.dispatch import evaluate, evaluate_at
from ...features.codes import quantise
from ...features.errors import DataError
from ...features.jit import INNER, LEAF
from ...features.maps import LevelMaps
from ...features.pyramid import Level
from ...features.threads import in_threads
from .cascade import NEVER
from .keypoint_classifier import KeypointClassifier
from .scan_limits import MAX_WINDOWS, TOO_MANY
from .window_model import WindowModel

BAND_ROWS = 96

DENSE_STAGES = 3
"""Features that all windows of a row get."""

LISTED = 4096
"""Windows that are put on a list before it is gone through."""

LEVELS_AN_OBJECT = 2
"""Levels of a sparse scan on which an object has a size that classifiers are trained for."""

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
    octaves: float = 1.0,
    parallel: bool = True,
) -> list[FoundWindows]:
    """Find the windows of a photo that score at least a classifier's floor.

    Parameters
    ----------
    levels : sequence of Level
    classifiers : sequence of KeypointClassifier
    floors : sequence of float
        One per classifier.
    exact : bool
        Compute the full sum of every window instead of giving most of them up early.
    sparse : bool
        Scan every other row and column of some of the levels, and the windows beside those found.
    octaves : float
        Of the sizes that classifiers are trained for: that far apart, two levels show an object at the
        smallest and the largest of them. A sparse scan takes two levels in this range.
    parallel : bool
        Share the bands out to threads; False within a thread that is one of several already.

    Returns
    -------
    list of FoundWindows
        One per classifier.

    Raises
    ------
    DataError
        If there are so many that they would fill the memory.
    """
    channels = {channel for classifier in classifiers for channel in classifier.pool.channels}
    counts: list[int] = []  # by band; appending to a list is safe in threads

    def scan_band(band: tuple[int, int]) -> list[FoundWindows]:
        index, first = band
        image = levels[index].image
        rows = first, min(first + BAND_ROWS, len(image))
        maps = LevelMaps(image, rows=rows, channels=channels, reuse=_take_spare_maps())
        found = []
        for classifier, floor in zip(classifiers, floors, strict=True):
            row, col, score = scan_level(maps, classifier, floor, exact=exact, sparse=sparse)
            found.append(FoundWindows(np.full(len(row), index), row, col, score))
        _spare_maps.append(maps)
        counts.append(sum(map(len, found)))
        if sum(counts) > MAX_WINDOWS:
            raise DataError(f"more than {MAX_WINDOWS} windows of the photo are found; {TOO_MANY}")
        return found

    share_out: Callable[..., Iterable] = in_threads if parallel else map
    numbers = _some_levels(levels, octaves) if sparse else range(len(levels))
    by_band = list(share_out(scan_band, _bands(levels, numbers)))
    return [_joined(parts) for parts in zip(*by_band, strict=True)]


def _take_spare_maps() -> LevelMaps | None:
    try:
        return _spare_maps.pop()
    except IndexError:
        return None


def _some_levels(levels: Sequence[Level], octaves: float) -> list[int]:
    """Numbers of levels that are as far apart as is possible for an object to be seen on enough of them."""
    place = [-0.5 * float(np.sum(np.log2(level.ratio))) for level in levels]
    gap = octaves / LEVELS_AN_OBJECT + 0.05  # sizes of levels are whole numbers of pixels
    taken = [0]
    for i in range(1, len(levels)):
        if i + 1 == len(levels) or place[i + 1] - place[taken[-1]] > gap:
            taken.append(i)
    return taken


def _bands(levels: Sequence[Level], numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Level and first row of every band of some levels."""
    for index in numbers:
        for first in range(0, len(levels[index].image), BAND_ROWS):
            yield index, first


def _joined(parts: Sequence[FoundWindows]) -> FoundWindows:
    names = ("level", "row", "col", "score")
    return FoundWindows(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def window_places(levels: Sequence[Level], windows: FoundWindows) -> np.ndarray:
    """x, y, scale and score of windows of some levels, (4, n) float64 in photo pixels."""
    ratio = np.array([level.ratio for level in levels])[windows.level]
    x, y = (np.stack([windows.col, windows.row]) + 0.5) / ratio.T - 0.5
    return np.stack([x, y, 1 / np.sqrt(np.prod(ratio, axis=1)), windows.score.astype(np.float64)])


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
    pool = classifier.pool
    features = pool.kinds, pool.offsets(maps.layout), *classifier.model.scaling, classifier.tables, rejection
    n_dense = len(pool) if exact else min(DENSE_STAGES, len(pool))
    intercept = np.float32(classifier.intercept)
    scores = np.full(maps.shape, NEVER)
    step, memory = 2 if sparse else 1, _new_memory(LISTED + maps.shape[1])
    _scan_grid(features, maps.read, maps.stride, intercept, n_dense, step, memory, scores)
    if sparse:
        _scan_beside(features, maps.read, maps.stride, intercept, scores)
    return scores


def respond_at(maps: LevelMaps, model: WindowModel, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    """Return all sums of a model for windows centred on some pixels, (n_outputs, n) float32.

    They are those of `WindowModel.respond` on the same windows, to the last bit.
    """
    n = len(rows)
    places, _, values, codes = _new_memory(n)
    places[:] = maps.starts(rows, cols)
    out = np.empty((len(model.intercept), n), dtype=np.float32)
    out[:] = model.intercept[:, None]
    never = np.full(len(model), NEVER)
    offsets = model.pool.offsets(maps.layout)
    for tables, sums in zip(model.tables, out, strict=True):
        features = model.pool.kinds, offsets, *model.scaling, tables, never
        _go_through(features, maps.read, 0, places, sums, n, values, codes)
    return out


@njit(**LEAF, nogil=True)
def _scan_grid(features, read, stride, intercept, n_dense, step, memory, scores):
    """Write the scores of the windows that are left of each step-th row and column."""
    height, width = scores.shape
    places, partial, values, codes = memory
    n = np.intp(0)  # a literal would be compiled apart
    for row in range(0, height, step):
        start = row * stride
        _begin_row(features, read, start, width, intercept, n_dense, values, codes, partial[n:])
        n = _list_left(start, width, step, places, partial, n)
        if n >= LISTED or row + step >= height:
            n = _go_through(features, read, n_dense, places, partial, n, values, codes)
            _write(places, partial, n, stride, scores)
            n = np.intp(0)


def _new_memory(n):
    """Return room for n windows: their places, partial sums, values and codes."""
    return (
        np.empty(n, dtype=np.int32),
        np.empty(n, dtype=np.float32),
        np.empty(n, dtype=np.float32),
        np.empty((1, n), dtype=np.uint8),
    )


def _scan_beside(features, read, stride, intercept, scores):
    """Write the scores of the windows that are left beside one that a scan of every other one found."""
    rows, cols = _beside(scores)
    places, partial, values, codes = _new_memory(len(rows))
    places[:], partial[:] = rows * stride + cols, intercept
    n = _go_through(features, read, 0, places, partial, len(places), values, codes)
    scores[places[:n] // stride, places[:n] % stride] = partial[:n]


def _beside(scores):
    """Rows and columns of windows not found that lie beside one found in an even row and column."""
    height, width = scores.shape
    beside = np.zeros((height + 2, width + 2), dtype=bool)  # with a border
    rows, cols = (2 * places for places in np.nonzero(scores[::2, ::2] > NEVER))
    for down in range(3):
        for right in range(3):
            beside[rows + down, cols + right] = True
    return np.nonzero(beside[1:-1, 1:-1] & (scores == NEVER))


@njit(**INNER)
def _begin_row(features, read, start, width, intercept, n_dense, values, codes, partial):
    """Fill the partial sums of a row's windows over the first features, -inf for those given up."""
    kinds, offsets, low, high, scale, tables, rejection = features
    partial[:width] = intercept
    for t in range(n_dense):
        evaluate(kinds, offsets, t, read, start, width, values)
        quantise(values, low[t], high[t], scale[t], width, codes, 0, 0)
        threshold = rejection[t]
        for k in range(width):
            i = np.uintp(k)
            total = partial[i] + tables[t, codes[0, i]]
            partial[i] = total if total >= threshold else NEVER


@njit(**INNER)
def _list_left(start, width, step, places, partial, n):
    """Put the windows of a row that are left on the list, whose end holds their sums; return its length."""
    m = n
    for col in range(0, width, step):
        total = partial[n + col]
        places[m], partial[m] = start + col, total
        m += total > NEVER
    return m


@njit(**LEAF, nogil=True)
def _go_through(features, read, first, places, partial, n, values, codes):
    """Add the features from `first` on to the windows of a list; return how many are left of it."""
    kinds, offsets, low, high, scale, tables, rejection = features
    for t in range(first, len(kinds)):
        if n == 0:
            break
        evaluate_at(kinds, offsets, t, read, places, n, values)
        quantise(values, low[t], high[t], scale[t], n, codes, 0, 0)
        threshold = rejection[t]
        left = 0
        for k in range(n):
            i, j = np.uintp(k), np.uintp(left)
            total = partial[i] + tables[t, codes[0, i]]
            places[j], partial[j] = places[i], total
            left += total >= threshold
        n = left
    return n


@njit(**INNER)
def _write(places, partial, n, stride, scores):
    for i in range(n):
        scores[places[i] // stride, places[i] % stride] = partial[i]
