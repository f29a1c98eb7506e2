"""How wrong a segmentation is."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...features.errors import DataError


def disagreement(labels: np.ndarray, others: np.ndarray) -> float:
    """Return the share of tracks on which two segmentations differ, under the best matching of labels.

    Parameters
    ----------
    labels, others : ndarray of shape (P,), int, not negative

    Returns
    -------
    float in [0, 1]
        The misclassification error, where one of them is the truth.
    """
    labels, others = np.asarray(labels), np.asarray(others)
    if labels.shape != others.shape or labels.ndim != 1 or len(labels) == 0:
        raise DataError(
            f"two segmentations of the same tracks are needed, got {labels.shape}, {others.shape}"
        )
    counts = np.zeros((labels.max() + 1, others.max() + 1), dtype=np.int64)
    np.add.at(counts, (labels, others), 1)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return 1 - counts[rows, columns].sum() / len(labels)
