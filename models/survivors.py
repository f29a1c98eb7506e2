"""Which features are still kept, in which units, and who left when."""

from typing import NamedTuple

import numpy as np
from numba import njit

from ..features.errors import DataError, ParameterError


class Choice(NamedTuple):
    """Positions, among the features kept, of those that stay (ascending) and of those that leave.

    The weakest leaves first; `size` counts units.
    """

    indices: np.ndarray
    leaving: np.ndarray
    size: int


class Survivors:
    """The features that an annealing run still keeps.

    They stay or leave in units: single features, or groups of them.

    Attributes
    ----------
    kept : ndarray of int64
        Ascending numbers of the features kept.
    left : ndarray of int64
        Those that left, the first one first.
    n_units : int
        Features or groups kept.
    """

    STATE = ("kept", "left", "forced", "n_units")

    def __init__(
        self, n_features: int, feature_groups: np.ndarray | None, always_keep: np.ndarray | None
    ) -> None:
        self.kept = np.arange(n_features)
        self.feature_groups = None if feature_groups is None else _check_groups(feature_groups, n_features)
        self.n_units = n_features if self.feature_groups is None else int(self.feature_groups.max()) + 1
        self.forced = np.zeros(n_features, dtype=bool)
        if always_keep is not None:
            self.forced[_check_indices(always_keep, n_features)] = True
        self.left = self.kept[:0]

    def check_size(self, size: int) -> None:
        """Raise a ParameterError if the features that must stay are more than `size` units."""
        units = np.arange(len(self.kept)) if self.feature_groups is None else self.feature_groups
        needed = len(np.unique(units[self.forced]))
        if needed > size:
            raise ParameterError(f"always_keep names {needed} features or groups, more than k = {size}")

    def choose(self, norms: np.ndarray, size: int) -> Choice:
        """Choose the `size` best units' features.

        Parameters
        ----------
        norms : ndarray of shape (features kept,)
            Norm of each feature's coefficients; ties go to the lower index.
        """
        scores = np.where(self.forced, np.inf, norms)
        if self.feature_groups is None:
            indices, leaving = _part(scores, size)
        else:
            best, _ = _part(_group_scores(scores, self.feature_groups), size)
            stays = np.isin(self.feature_groups, best)
            indices, leaving = np.flatnonzero(stays), np.flatnonzero(~stays)
        return Choice(indices, leaving[np.argsort(scores[leaving], kind="stable")], size)

    def keep(self, choice: Choice) -> None:
        """Let the others go."""
        self.left = np.concatenate([self.left, self.kept[choice.leaving]])
        self.kept = self.kept[choice.indices]
        self.forced = self.forced[choice.indices]
        self.n_units = choice.size
        if self.feature_groups is not None:
            self.feature_groups = _numbered(self.feature_groups[choice.indices])

    def renumber_groups(self) -> None:
        """Cut the groups of all features down to those that `kept` names, after it was loaded."""
        if self.feature_groups is not None:
            self.feature_groups = _numbered(self.feature_groups[self.kept])

    def ranking(self) -> np.ndarray:
        """Return 1 for the features kept, then 2, 3, ... from the last to the first that left."""
        ranking = np.ones(len(self.left) + len(self.kept), dtype=np.int64)
        ranking[self.left] = 1 + np.arange(len(self.left), 0, -1)
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
        raise DataError(
            f"feature_groups must name a group for each of {n_features} features, got {groups.shape}"
        )
    return _numbered(groups)


def _numbered(groups: np.ndarray) -> np.ndarray:
    """Number groups from 0 in their order."""
    return np.unique(groups, return_inverse=True)[1]


def _check_indices(indices: np.ndarray, n_features: int) -> np.ndarray:
    indices = np.asarray(indices)
    if indices.size == 0:
        return indices.astype(np.int64)
    if not np.issubdtype(indices.dtype, np.integer) or indices.min() < 0 or indices.max() >= n_features:
        raise ParameterError(f"always_keep must hold feature numbers from 0 to {n_features - 1}")
    return indices
