"""Which features are still kept, in which units, and who left when."""

import numpy as np
from numba import njit

from ..features.errors import DataError, ParameterError


class Survivors:
    """The features that an annealing run still keeps.

    They stay or leave in units: single features, or groups of them.

    Attributes
    ----------
    kept : ndarray of int64
        Ascending numbers of the features kept.
    n_units : int
        Features or groups kept.
    """

    def __init__(self, n_features: int, groups: np.ndarray | None, always_keep: np.ndarray | None) -> None:
        self.kept = np.arange(n_features)
        self.groups = None if groups is None else _check_groups(groups, n_features)
        self.n_units = n_features if self.groups is None else int(self.groups.max()) + 1
        self.forced = np.zeros(n_features, dtype=bool)
        if always_keep is not None:
            self.forced[_check_indices(always_keep, n_features)] = True
        self._left: list[np.ndarray] = []

    def check_size(self, size: int) -> None:
        """Raise a ParameterError if the features that must stay are more than `size` units."""
        units = np.arange(len(self.kept)) if self.groups is None else self.groups
        needed = len(np.unique(units[self.forced]))
        if needed > size:
            raise ParameterError(f"always_keep names {needed} features or groups, more than k = {size}")

    def choose(self, norms: np.ndarray, size: int) -> np.ndarray:
        """Return the positions of the `size` best units' features and record who leaves.

        Parameters
        ----------
        norms : ndarray of shape (features kept,)
            Norm of each feature's coefficients; ties go to the lower index.

        Returns
        -------
        ndarray of int64, ascending
        """
        scores = np.where(self.forced, np.inf, norms)
        if self.groups is None:
            indices, leaving = _part(scores, size)
        else:
            best, _ = _part(_group_scores(scores, self.groups), size)
            stays = np.isin(self.groups, best)
            indices, leaving = np.flatnonzero(stays), np.flatnonzero(~stays)
        self._left.append(self.kept[leaving[np.argsort(scores[leaving], kind="stable")]])
        self.kept = self.kept[indices]
        self.forced = self.forced[indices]
        self.n_units = size
        if self.groups is not None:
            self.groups = np.unique(self.groups[indices], return_inverse=True)[1]
        return indices

    def ranking(self) -> np.ndarray:
        """Return 1 for the features kept, then 2, 3, ... from the last to the first that left."""
        order = np.concatenate([*self._left, self.kept[:0]])
        ranking = np.ones(len(order) + len(self.kept), dtype=np.int64)
        ranking[order] = 1 + np.arange(len(order), 0, -1)
        return ranking


@njit(cache=True)
def _part(scores, size):
    """Return the positions of the `size` largest scores and of the others, both ascending.

    Among equal scores, the lower position is larger.
    """
    threshold = np.partition(scores, len(scores) - size)[len(scores) - size]
    n_tied_that_stay = size - np.count_nonzero(scores > threshold)
    indices = np.empty(size, dtype=np.int64)
    leaving = np.empty(len(scores) - size, dtype=np.int64)
    n_stay = 0
    for position, score in enumerate(scores):
        stays = score > threshold
        if score == threshold and n_tied_that_stay > 0:
            stays = True
            n_tied_that_stay -= 1
        if stays:
            indices[n_stay] = position
            n_stay += 1
        else:
            leaving[position - n_stay] = position
    return indices, leaving


def _group_scores(scores: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Root mean square of each group's scores."""
    return np.sqrt(np.bincount(groups, weights=scores**2) / np.bincount(groups))


def _check_groups(groups: np.ndarray, n_features: int) -> np.ndarray:
    groups = np.asarray(groups)
    if groups.shape != (n_features,):
        raise DataError(f"groups must name a group for each of {n_features} features, got {groups.shape}")
    return np.unique(groups, return_inverse=True)[1]


def _check_indices(indices: np.ndarray, n_features: int) -> np.ndarray:
    indices = np.asarray(indices)
    if indices.size == 0:
        return indices.astype(np.int64)
    if not np.issubdtype(indices.dtype, np.integer) or indices.min() < 0 or indices.max() >= n_features:
        raise ParameterError(f"always_keep must hold feature numbers from 0 to {n_features - 1}")
    return indices
