"""The soft cascade: in which order features are added up, and when a window is given up.

After each feature a window whose partial sum is below that stage's threshold is rejected. Thresholds
are calibrated on the training positives so that almost none of them is lost, which leaves most
windows of a photo with tens of look-ups instead of k.
"""

import numpy as np

from ...features.errors import ParameterError

NEVER = np.float32(-np.inf)
"""Threshold of a stage that rejects nothing."""


def spread_order(tables: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Order features by the spread of their responses, largest first.

    A feature with a wide response decides more, so it belongs early.

    Parameters
    ----------
    tables : ndarray of shape (k, 256), float32
        Response of each feature at each code.
    codes : ndarray of shape (k, n), uint8
        Codes of the training examples.

    Returns
    -------
    ndarray of shape (k,), int64
    """
    spread = [np.std(table[code], dtype=np.float64) for table, code in zip(tables, codes, strict=True)]
    return np.argsort(-np.array(spread), kind="stable")


def rejection_thresholds(tables: np.ndarray, codes: np.ndarray, intercept: float, loss: float) -> np.ndarray:
    """Calibrate a threshold for every stage on the training positives.

    Up to stage t a share of at most ``loss * (t + 1) / k`` of the positives may be rejected; each
    threshold is the lowest partial sum of the positives that are left.

    Parameters
    ----------
    tables : ndarray of shape (k, 256), float32
        In the order of the cascade.
    codes : ndarray of shape (k, n), uint8
        Codes of the positives.
    intercept : float
        Where the sum starts.
    loss : float
        Share of the positives that may be lost in all, from 0 (none) to 1 excluded.

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
        budget = int(loss * n * (t + 1) / k) - (n - len(alive))
        thresholds[t] = np.partition(sums, budget)[budget]
        stays = sums >= thresholds[t]
        alive, sums = alive[stays], sums[stays]
    return thresholds
