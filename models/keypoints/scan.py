"""Scores of all windows of a pyramid level.

A block of neighbouring windows of a row goes through the features together, in the order of the soft
cascade (cascade.py): the compiler turns one feature of a block into vector instructions. Once only a few
windows of the block are left, whose partial sums have not fallen below a stage's rejection threshold,
these go on one by one.
"""

import numpy as np
from numba import njit, prange

from ...features.codes import code_of, code_scale, quantise
from ...features.jit import LEAF
from ...features.maps import LevelMaps, evaluate, value_at
from .cascade import NEVER
from .classifier import KeypointClassifier

BLOCK = 64
"""Windows in a block."""

SINGLY = 6
"""Windows of a block that are as quick to finish one by one as together."""


def scan_level(
    maps: LevelMaps, classifier: KeypointClassifier, floor: float, *, exact: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the windows of a level that score at least `floor`.

    Parameters
    ----------
    maps : LevelMaps
        With all the maps that the classifier's features read.
    classifier : KeypointClassifier
    floor : float
    exact : bool
        Compute the full sum of every window instead of giving most of them up early.

    Returns
    -------
    rows, cols : ndarray of shape (n,), int64
        Centre pixels on the level, in the order of reading.
    scores : ndarray of shape (n,), float32
        Full sums.
    """
    scores = score_map(maps, classifier, floor, exact=exact)
    places = np.flatnonzero(scores >= np.float32(floor))
    rows, cols = np.divmod(places, scores.shape[1])
    return rows + maps.first_row, cols, scores.ravel()[places]


def score_map(
    maps: LevelMaps, classifier: KeypointClassifier, floor: float, *, exact: bool = False
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
        scores,
    )
    return scores


@njit(cache=True, parallel=True)
def _scan_rows(kinds, offsets, low, high, scale, tables, rejection, integral, cells, norms, stride, scores):
    """Add the features to `scores`, which holds the intercept; every thread owns rows of it."""
    height, width = scores.shape
    for row in prange(height):
        values = np.empty(BLOCK, dtype=np.float32)
        codes = np.empty((1, BLOCK), dtype=np.uint8)
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
