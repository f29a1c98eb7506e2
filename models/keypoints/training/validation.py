"""Detection thresholds from precision-recall curves on held-out photos."""

import numpy as np

from ..evaluation import PrecisionRecall

VALIDATION_FLOOR = 0.0
"""Lowest score that is looked at on held-out photos: below it a window is no positive at all."""


def best_threshold(curve: PrecisionRecall) -> float:
    """The score with the best F1, half way down to the next score at which the curve changes.

    Half way, because the lowest hit's own score would leave no room for hits on other photos.
    """
    if len(curve.threshold) == 0:
        return VALIDATION_FLOOR
    f1 = 2 * curve.recall * curve.precision / np.maximum(curve.recall + curve.precision, 1e-12)
    best = int(np.flatnonzero(f1 == f1.max())[-1])
    below = float(curve.threshold[best + 1]) if best + 1 < len(curve.threshold) else VALIDATION_FLOOR
    return (float(curve.threshold[best]) + below) / 2
