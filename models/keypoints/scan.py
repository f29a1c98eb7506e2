"""Scores of all windows of a pyramid level.

A block of neighbouring windows of a row goes through the features together, in the order of the soft
cascade (cascade.py), until the partial sum of each of them has fallen below a stage's rejection
threshold. The compiler turns one feature of a block of windows into vector instructions, and most blocks
are given up after a few features.
"""

import numpy as np
from numba import njit, prange

from ...features.maps import LevelMaps, evaluate
from ...features.windows import code_scale, quantise
from .cascade import NEVER
from .classifier import KeypointClassifier

BLOCK = 64
"""Windows in a block: many, because starting a feature costs as much as some twenty windows of it."""


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
        Centre pixels, in the order of reading.
    scores : ndarray of shape (n,), float32
        Full sums.
    """
    scores = score_map(maps, classifier, floor, exact=exact)
    places = np.flatnonzero(scores >= np.float32(floor))
    rows, cols = np.divmod(places, scores.shape[1])
    return rows, cols, scores.ravel()[places]


def score_map(
    maps: LevelMaps, classifier: KeypointClassifier, floor: float, *, exact: bool = False
) -> np.ndarray:
    """Return the score of every window of a level, -inf for those given up, (H, W) float32.

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
    for row in prange(scores.shape[0]):
        values = np.empty(BLOCK, dtype=np.float32)
        codes = np.empty((1, BLOCK), dtype=np.uint8)
        for first in range(0, scores.shape[1], BLOCK):
            total = scores[row, first : first + BLOCK]
            start = row * stride + first
            n = len(total)
            left = n
            t = 0
            while left > 0 and t < len(kinds):
                evaluate(kinds, offsets, t, integral, cells, norms, start, n, values)
                quantise(values, low[t], high[t], scale[t], n, codes, 0, 0)
                left = _add_responses(tables[t], codes[0], rejection[t], total)
                t += 1


@njit(cache=True)
def _add_responses(table, codes, threshold, total):
    """Add one feature's responses, give windows below the threshold up, and count those left."""
    left = 0
    for i in range(len(total)):
        partial = total[i] + table[codes[i]]
        alive = partial >= threshold and partial > NEVER
        total[i] = partial if alive else NEVER
        left += alive
    return left
