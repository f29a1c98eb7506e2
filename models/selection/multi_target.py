"""Selection for several targets: jointly where a method can, else by the votes of the single targets."""

import numpy as np
from sklearn.utils import get_tags

from ...features.errors import DataError
from ..target_kinds import CLASSIFICATION, REGRESSION, are_labels
from .registry import make_selector, method_named


def selects_jointly(method: str) -> bool:
    """Return whether a method takes a target with several columns."""
    task = REGRESSION if REGRESSION in method_named(method).tasks else CLASSIFICATION
    return bool(get_tags(make_selector(method, 1, task=task)).target_tags.multi_output)


def votes(orders: list[np.ndarray], weights: np.ndarray, n_features: int, k: int) -> np.ndarray:
    """Return the k features with the most votes, best first: weight / place in each order; ties by index.

    Parameters
    ----------
    orders : list of ndarray of int64
        Features for each target, best first; places after k do not count.
    weights : ndarray of shape (n_targets,)
    n_features, k : int
    """
    total = np.zeros(n_features)
    for order, weight in zip(orders, weights, strict=True):
        places = order[:k]
        total[places] += weight / np.arange(1, len(places) + 1)
    best = np.argsort(-total, kind="stable")[:k]
    return best[total[best] > 0]


def varying_targets(Y: np.ndarray) -> np.ndarray:
    """Return the columns of Y with more than one value; the others say nothing about any feature."""
    varying = np.flatnonzero((Y[0] != Y).any(axis=0))
    if len(varying) == 0:
        raise DataError("every target holds one value only")
    return varying


def target_weights(Y: np.ndarray) -> np.ndarray:
    """Return what the votes of each target weigh: the same, or a label's standard deviation.

    Without that, the many rare labels of a table outvote the frequent ones, though few samples have them.
    """
    return Y.std(axis=0) if are_labels(Y) else np.ones(Y.shape[1])
