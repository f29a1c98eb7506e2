"""What a training run keeps of its precision-recall curves on held-out photos."""

from typing import Any

import numpy as np

from ..evaluation import PrecisionRecall

VALIDATION_FLOOR = 0.0
"""Lowest score that is looked at on held-out photos: below it a window is no positive at all."""

CURVE_POINTS = 100


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


def summarise(curve: PrecisionRecall) -> dict[str, Any]:
    """What is kept of a validation curve: its best threshold and what that gives, and some points."""
    threshold = best_threshold(curve)
    recall, precision, false_per_photo = curve.at(threshold)
    points = np.unique(np.linspace(0, max(len(curve.threshold) - 1, 0), CURVE_POINTS).astype(int))
    points = points[: len(curve.threshold)]
    return {
        "photos": curve.n_photos,
        "keypoints": curve.n_keypoints,
        "average_precision": curve.average_precision,
        "threshold": threshold,
        "recall": recall,
        "precision": precision,
        "false_per_photo": false_per_photo,
        "curve": [[float(curve.recall[p]), float(curve.precision[p])] for p in points],
    }
