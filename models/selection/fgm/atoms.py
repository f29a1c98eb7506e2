"""What is selected, and its worst-case analysis (Algorithm 2): features and groups of features.

Groups may be disjoint, overlap, or form a tree (Definition 1); a feature of several groups is a column of
each.
"""

from collections.abc import Callable, Sequence
from heapq import heappush, heappushpop

import numpy as np
from scipy import sparse

from ....features.errors import DataError, ParameterError


def top(scores: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the `count` largest scores and the scores, largest first; ties by number."""
    if count < len(scores):
        threshold = np.partition(scores, len(scores) - count)[len(scores) - count]
        candidates = np.flatnonzero(scores >= threshold)
    else:
        candidates = np.arange(len(scores))
    order = candidates[np.argsort(-scores[candidates], kind="stable")[:count]]
    return order, scores[order]


class FeatureAtoms:
    """Each feature by itself (section 4.1).

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features), float32 or float64
    scale : ndarray of shape (n_features,), float64
        lambda of equation (4): a feature counts as this times its column.
    """

    def __init__(self, X, scale: np.ndarray):
        self.X = sparse.csc_array(X) if sparse.issparse(X) else X
        self.scale = scale

    @property
    def n_atoms(self) -> int:
        return len(self.scale)

    def correlations(self, dual: np.ndarray) -> np.ndarray:
        """Return omega, the scaled columns' products with `dual`, shape (n_features, n_outputs)."""
        return np.asarray(self.X.T @ dual.astype(self.X.dtype), dtype=np.float64) * self.scale[:, None]

    def scores(self, dual: np.ndarray) -> np.ndarray:
        """Return the score of every feature."""
        return (self.correlations(dual) ** 2).sum(axis=1)

    def strongest(self, dual: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        return top(self.scores(dual), count)

    def columns(self, atoms: np.ndarray):
        if sparse.issparse(self.X):
            return (self.X[:, atoms].astype(np.float64) @ sparse.diags_array(self.scale[atoms])).tocsc()
        return np.asfortranarray(self.X[:, atoms], dtype=np.float64) * self.scale[atoms]

    def widths(self, atoms: np.ndarray) -> np.ndarray:
        return np.ones(len(atoms), dtype=np.int64)


class GroupAtoms:
    """Groups of features, disjoint or not (section 4.2).

    Parameters
    ----------
    features : FeatureAtoms
    groups : list of ndarray of int64
        Features of each group.
    weights : ndarray of shape (n_groups,), float64
        lambda of equation (11).
    """

    def __init__(self, features: FeatureAtoms, groups: list[np.ndarray], weights: np.ndarray):
        self.features = features
        self.groups = groups
        self.weights = weights
        self._members = np.concatenate(groups)
        self._sizes = np.array([len(group) for group in groups])
        self._starts = np.concatenate([[0], np.cumsum(self._sizes)[:-1]])

    @property
    def n_atoms(self) -> int:
        return len(self.groups)

    def scores(self, dual: np.ndarray) -> np.ndarray:
        """Return the score of every group."""
        squares = self.features.scores(dual)
        return self.weights**2 * np.add.reduceat(squares[self._members], self._starts)

    def strongest(self, dual: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        return top(self.scores(dual), count)

    def columns(self, atoms: np.ndarray):
        members = np.concatenate([self.groups[g] for g in atoms])
        factors = np.repeat(self.weights[atoms], self._sizes[atoms])
        columns = self.features.columns(members)
        return (
            (columns @ sparse.diags_array(factors)).tocsc() if sparse.issparse(columns) else columns * factors
        )

    def widths(self, atoms: np.ndarray) -> np.ndarray:
        return self._sizes[atoms]


class TreeAtoms(GroupAtoms):
    """Groups that contain each other or are disjoint, searched with the pruning of Proposition 2.

    A group's correlations have at least the norm of any part's, so that a whole subtree is passed over once
    its root, times the subtree's largest weight, scores less than the `count` best so far.
    `n_visited` counts the groups that the last search looked at.
    """

    def __init__(self, features: FeatureAtoms, groups: list[np.ndarray], weights: np.ndarray):
        super().__init__(features, groups, weights)
        self.parents = tree_parents(groups)
        self.children: list[list[int]] = [[] for _ in groups]
        for child, parent in enumerate(self.parents):
            if parent >= 0:
                self.children[parent].append(child)
        self._largest = weights.copy()
        for group in np.argsort(self._sizes, kind="stable"):
            if self.parents[group] >= 0:
                parent = self.parents[group]
                self._largest[parent] = max(self._largest[parent], self._largest[group])
        self.n_visited = 0

    def strongest(self, dual, count):
        squares = self.features.scores(dual)
        best: list[tuple[float, int]] = []  # a heap of (score, -group): the weakest of the best first
        pending = [int(g) for g in np.flatnonzero(self.parents < 0)]
        self.n_visited = 0
        while pending:
            group = pending.pop()
            self.n_visited += 1
            square = float(squares[self.groups[group]].sum())
            if len(best) == count and self._largest[group] ** 2 * square < best[0][0] * (1 - 1e-12):
                continue
            entry = (float(self.weights[group] ** 2 * square), -group)
            if len(best) < count:
                heappush(best, entry)
            else:
                heappushpop(best, entry)
            pending.extend(self.children[group])
        best.sort(key=lambda entry: (-entry[0], -entry[1]))
        return np.array([-number for _, number in best]), np.array([score for score, _ in best])


def tree_parents(groups: Sequence[np.ndarray]) -> np.ndarray:
    """Return the smallest group that contains each group, or -1; of equal groups, the first is the parent.

    Raises
    ------
    ParameterError
        Two groups overlap and neither contains the other.
    """
    order = sorted(range(len(groups)), key=lambda g: (-len(groups[g]), g))
    innermost = np.full(1 + max(int(group.max()) for group in groups), -1)
    parents = np.full(len(groups), -1)
    for group in order:
        above = innermost[groups[group]]
        if (above != above[0]).any():
            raise ParameterError(
                f"groups[{group}] partly overlaps groups[{int(above.max())}]; in a tree, groups contain each "
                'other or are disjoint (structure="overlapping" takes any)'
            )
        parents[group] = above[0]
        innermost[groups[group]] = group
    return parents


def check_groups(groups, n_features: int) -> list[np.ndarray]:
    """Return the features of each group, ascending.

    Parameters
    ----------
    groups : array-like of shape (n_features,), int, or sequence of sequences of int
        The group of each feature, or the features of each group.

    Raises
    ------
    ParameterError, DataError
        An entry is no feature, a group is empty, or a feature is in no group.
    """
    if all(np.ndim(entry) == 0 for entry in groups):
        numbers = np.asarray(groups)
        if numbers.shape != (n_features,):
            raise DataError(f"groups has {len(numbers)} entries for {n_features} features")
        return [np.flatnonzero(numbers == number) for number in np.unique(numbers)]
    members = [_check_group(number, group, n_features) for number, group in enumerate(groups)]
    missing = np.setdiff1d(np.arange(n_features), np.concatenate(members))
    if len(missing):
        raise DataError(
            f"groups must cover all features; {len(missing)} are in none, the first is {missing[0]}"
        )
    return members


def _check_group(number: int, group, n_features: int) -> np.ndarray:
    members = np.unique(np.asarray(group))
    if len(members) == 0 or not np.issubdtype(members.dtype, np.integer):
        raise ParameterError(f"groups[{number}] must hold numbers of features, got {group!r}")
    if members[0] < 0 or members[-1] >= n_features:
        raise ParameterError(f"groups[{number}] must hold numbers from 0 to {n_features - 1}, got {group!r}")
    return members.astype(np.int64)


STRUCTURES: dict[str, Callable[..., GroupAtoms]] = {"overlapping": GroupAtoms, "tree": TreeAtoms}
