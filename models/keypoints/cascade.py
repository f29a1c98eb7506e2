"""The soft cascade: in which order features are added up, and when a window is given up.

After each feature a window whose partial sum is below that stage's threshold is rejected, which leaves
most windows of a photo with a handful of look-ups instead of k. How strict a stage may be depends on
the score that is asked for in the end: there is one row of thresholds for each of several such floors,
calibrated on the positives that reach the floor so that almost none of them is lost. Negatives that would
reach it may be lost: no detection is the poorer for it.
"""

import numpy as np

from ...features.errors import ParameterError

NEVER = np.float32(-np.inf)
"""Threshold of a stage that rejects nothing."""

GREEDY_STAGES = 96
LOSING_STAGES = 64
"""Stages over which the permitted loss is spread; the earlier a window goes, the more is saved."""

_MOST_POSITIVES = 2000
_MOST_NEGATIVES = 4000
_MOST_CALIBRATING = 20_000
N_FLOORS = 8


def cascade_order(positives: np.ndarray, negatives: np.ndarray) -> np.ndarray:
    """Order features so that partial sums tell the classes apart as early as possible.

    The first features are chosen one by one: each is the one after which the difference of the classes'
    mean partial sums, measured in their standard deviations, is largest. The others follow by the
    spread of their responses.

    Parameters
    ----------
    positives, negatives : ndarray of shape (k, n), float32
        Responses of the features to examples; the negatives should be typical, not hard.

    Returns
    -------
    ndarray of shape (k,), int64
    """
    positives = _thinned(positives, _MOST_POSITIVES)
    negatives = _thinned(negatives, _MOST_NEGATIVES)
    gain = positives.mean(axis=1, dtype=np.float64) - negatives.mean(axis=1, dtype=np.float64)
    classes = [responses - responses.mean(axis=1, keepdims=True) for responses in (positives, negatives)]
    variances = [np.einsum("kn,kn->k", r, r, dtype=np.float64) / r.shape[1] for r in classes]
    sums = [np.zeros(r.shape[1], dtype=np.float32) for r in classes]
    left = np.ones(len(gain), dtype=bool)
    chosen: list[int] = []
    total = 0.0
    while left.any() and len(chosen) < GREEDY_STAGES:
        spread = np.zeros(len(gain))
        for responses, variance, partial in zip(classes, variances, sums, strict=True):
            # var(s + r) = var(s) + 2 cov(s, r) + var(r)
            together = np.einsum("kn,n->k", responses, 2 * partial, dtype=np.float64)
            spread += (together + np.dot(partial, partial)) / len(partial) + variance
        merit = (total + gain) / np.sqrt(np.maximum(spread, 1e-12))
        best = int(np.argmax(np.where(left, merit, -np.inf)))
        chosen.append(best)
        left[best] = False
        total += gain[best]
        for responses, partial in zip(classes, sums, strict=True):
            partial += responses[best]
    others = np.flatnonzero(left)
    widest = np.argsort(-(variances[0] + variances[1])[others], kind="stable")
    return np.concatenate([np.array(chosen, dtype=np.int64), others[widest]])


def calibrate(
    tables: np.ndarray, codes: np.ndarray, scores: np.ndarray, intercept: float, lowest: float, loss: float
) -> tuple[np.ndarray, np.ndarray]:
    """Calibrate rows of rejection thresholds for several floors.

    Parameters
    ----------
    tables : ndarray of shape (k, 256), float32
        Response of each feature at each code, in the order of the cascade.
    codes : ndarray of shape (k, n), uint8
        Codes of positives.
    scores : ndarray of shape (n,), float32
        Their full sums.
    intercept : float
        Where sums start.
    lowest : float
        The lowest floor; the others are evenly spaced up to the median score.
    loss : float
        Share of the positives above a floor that its row may lose.

    Returns
    -------
    floors : ndarray of shape (n_floors,), float32
        Ascending.
    rejection : ndarray of shape (n_floors, k), float32
    """
    highest = max(lowest, float(np.median(scores))) if len(scores) else lowest
    floors = np.unique(np.linspace(lowest, highest, N_FLOORS).astype(np.float32))
    rejection = np.empty((len(floors), len(tables)), dtype=np.float32)
    for row, floor in zip(rejection, floors, strict=True):
        reaching = _thinned(np.flatnonzero(scores >= floor)[None], _MOST_CALIBRATING)[0]
        row[:] = rejection_thresholds(tables, codes[:, reaching], intercept, loss)
    return floors, rejection


def rejection_thresholds(tables: np.ndarray, codes: np.ndarray, intercept: float, loss: float) -> np.ndarray:
    """Calibrate a threshold for every stage so that a share of the examples gets through.

    Up to stage t a share of at most ``loss * min(1, (t + 1) / min(k, 64))`` of the examples may be
    rejected; each threshold is the lowest partial sum of the examples that are left.

    Parameters
    ----------
    tables : ndarray of shape (k, 256), float32
        In the order of the cascade.
    codes : ndarray of shape (k, n), uint8
    intercept : float
    loss : float
        Share of the examples that may be lost in all, from 0 (none) to 1 excluded.

    Returns
    -------
    ndarray of shape (k,), float32
        A window is rejected after stage t if its partial sum is *below* entry t.
    """
    if not 0 <= loss < 1:
        raise ParameterError(f"cascade_loss must be at least 0 and below 1, got {loss}")
    k, n = codes.shape
    thresholds = np.full(k, NEVER, dtype=np.float32)
    if n == 0:
        return thresholds
    sums = np.full(n, intercept, dtype=np.float32)
    alive = np.arange(n)
    for t in range(k):
        sums = sums + tables[t][codes[t][alive]]
        budget = int(loss * n * min(1.0, (t + 1) / min(k, LOSING_STAGES))) - (n - len(alive))
        thresholds[t] = np.partition(sums, budget)[budget]
        stays = sums >= thresholds[t]
        alive, sums = alive[stays], sums[stays]
    return thresholds


def _thinned(columns: np.ndarray, most: int) -> np.ndarray:
    """At most `most` of the columns, evenly spaced."""
    n = columns.shape[1]
    return columns if n <= most else np.ascontiguousarray(columns[:, np.arange(most) * n // most])
