"""Where keypoints lie in a frame: by themselves, or relative to one another along a tree.

A keypoint's place is drawn from a Gaussian: around a mean of its own, if it is fixed to the frame; around
another one's place and an offset, if it goes along with it; or around a linear function of that place, as
for one paw seen in two views, whose x is common and whose y is not. Which one, and the tree, are those
that make the held-out points most likely. C. K. Chow and C. N. Liu, "Approximating discrete probability
distributions with dependence trees", IEEE Transactions on Information Theory 14, 1968; P. F. Felzenszwalb and
D. P. Huttenlocher, "Pictorial structures for object recognition", IJCV 61, 2005.
"""

from dataclasses import dataclass

import numpy as np

from ....features.errors import DataError

NO_PARENT = -1

FARTHEST = 16.0
"""Squared distance, in standard deviations, from which on a place speaks no more against a relation."""

_LEAST_SPREAD = 0.01  # of a coordinate, in units of the frame
_FEWEST = 8  # objects that know both points
_WORTH = 2.0  # nats by which all held-out points together must be likelier along an edge than without


@dataclass(frozen=True, eq=False)
class Relations:
    """A tree of linear Gaussian relations.

    Attributes
    ----------
    mean : ndarray of shape (n_keypoints, 2), float64
        Usual place of each keypoint, in units of the frame.
    parent : ndarray of shape (n_keypoints,), int64
        -1 for keypoints that depend on no other.
    slope : ndarray of shape (n_keypoints, 2, 2), float64
        By how much a keypoint goes along with its parent, away from both usual places; zero without one.
    covariance : ndarray of shape (n_keypoints, 2, 2), float64
        Of what is left.
    """

    mean: np.ndarray
    parent: np.ndarray
    slope: np.ndarray
    covariance: np.ndarray

    def __post_init__(self) -> None:
        n = len(self.mean)
        shapes = {"mean": (n, 2), "parent": (n,), "slope": (n, 2, 2), "covariance": (n, 2, 2)}
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape or not np.isfinite(array).all():
                raise DataError(f"relations: {name} must be finite numbers of shape {shape}")
        if not ((self.parent >= NO_PARENT) & (self.parent < n)).all() or len(self.order) != n:
            raise DataError("relations: the keypoints' parents make no tree")
        if np.linalg.eigvalsh(self.covariance).min() < (0.1 * _LEAST_SPREAD) ** 2:
            raise DataError("relations: a covariance is not positive")

    @property
    def order(self) -> list[int]:
        """The keypoints, each after its parent."""
        order = np.flatnonzero(self.parent == NO_PARENT).tolist()
        for k in order:
            order.extend(np.flatnonzero(self.parent == k).tolist())
        return order

    def predicted(self, k: int, parents: np.ndarray) -> np.ndarray:
        """Where keypoint k is for places (n, 2) of its parent; its usual place without one."""
        if self.parent[k] == NO_PARENT:
            return np.broadcast_to(self.mean[k], (len(parents), 2))
        return self.mean[k] + (parents - self.mean[self.parent[k]]) @ self.slope[k].T

    def squared(self, k: int, offsets: np.ndarray) -> np.ndarray:
        """Squared distance, in standard deviations, of places from where they are predicted."""
        return np.einsum("...i,ij,...j->...", offsets, np.linalg.inv(self.covariance[k]), offsets)


def fit_relations(points: np.ndarray) -> Relations:
    """Learn the tree from points (n, n_keypoints, 2) of frames, NaN where unknown."""
    n_keypoints = points.shape[1]
    known = np.isfinite(points).all(axis=2)
    mean = np.array([_middle(points[known[:, k], k]) for k in range(n_keypoints)])
    slope = np.zeros((n_keypoints, 2, 2))
    covariance = np.array([_covariance(points[known[:, k], k] - mean[k]) for k in range(n_keypoints)])
    gains = np.zeros((n_keypoints, n_keypoints))
    slopes = {}
    for parent in range(n_keypoints):
        for child in range(n_keypoints):
            both = known[:, parent] & known[:, child]
            if parent != child and both.sum() >= _FEWEST:
                here = points[both, child] - mean[child], points[both, parent] - mean[parent]
                gains[parent, child], slopes[parent, child] = _best_slope(*here)
    tree = _largest_tree(gains)
    for child, parent in enumerate(tree.tolist()):
        if parent != NO_PARENT:
            both = known[:, parent] & known[:, child]
            slope[child] = slopes[parent, child]
            left = points[both, child] - mean[child] - (points[both, parent] - mean[parent]) @ slope[child].T
            covariance[child] = _covariance(left)
    return Relations(mean, tree, slope, covariance)


def log_likelihood(relations: Relations, points: np.ndarray) -> np.ndarray:
    """Logarithm of the density of each object's known points (n, n_keypoints, 2), (n,)."""
    total = np.zeros(len(points))
    known = np.isfinite(points).all(axis=2)
    for k, parent in enumerate(relations.parent.tolist()):
        if parent == NO_PARENT:
            offset, covariance = points[:, k] - relations.mean[k], relations.covariance[k]
        else:
            offset = points[:, k] - relations.predicted(k, points[:, parent])
            covariance = relations.covariance[k]
            alone = points[:, k] - relations.mean[k]
            offset = np.where(known[:, parent, None], offset, alone)
        total += np.where(known[:, k], _log_density(np.nan_to_num(offset), covariance), 0.0)
    return total


def _middle(points: np.ndarray) -> np.ndarray:
    return points.mean(axis=0) if len(points) else np.zeros(2)


def _covariance(offsets: np.ndarray) -> np.ndarray:
    """Of offsets (n, 2) from zero, with a little that is added so that none is ever sure of its place."""
    n = len(offsets)
    shrunken = offsets.T @ offsets / max(n - 3, 1)
    return shrunken * (1 + 2 / max(n, 1)) + np.eye(2) * _LEAST_SPREAD**2


def _log_density(offsets: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Of a Gaussian, (n,), as at four standard deviations at least: relations are not always true."""
    squared = np.einsum("ni,ij,nj->n", offsets, np.linalg.inv(covariance), offsets)
    return -0.5 * np.minimum(squared, FARTHEST) - 0.5 * np.linalg.slogdet(2 * np.pi * covariance)[1]


def _best_slope(child: np.ndarray, parent: np.ndarray) -> tuple[float, np.ndarray]:
    """How much likelier places left out are along an edge, and its slope: an offset or linear."""
    n = len(child)
    fold = np.arange(n) % 5
    slopes = {"along": np.eye(2), "linear": None}
    alone, best, chosen = 0.0, -np.inf, np.zeros((2, 2))
    values = dict.fromkeys(slopes, 0.0)
    for number in range(5):
        out, rest = fold == number, fold != number
        alone += _log_density(child[out], _covariance(child[rest])).sum()
        for name, slope in slopes.items():
            fitted = _linear(child[rest], parent[rest]) if slope is None else slope
            left = child[rest] - parent[rest] @ fitted.T
            values[name] += _log_density(child[out] - parent[out] @ fitted.T, _covariance(left)).sum()
    for name, slope in slopes.items():
        if values[name] > best:
            best, chosen = values[name], _linear(child, parent) if slope is None else slope
    return best - alone, chosen


def _linear(child: np.ndarray, parent: np.ndarray) -> np.ndarray:
    """Least squares, slightly shrunken."""
    normal = parent.T @ parent + np.eye(2) * len(parent) * _LEAST_SPREAD**2
    return np.linalg.solve(normal, parent.T @ child).T


def _largest_tree(gains: np.ndarray) -> np.ndarray:
    """Parents of the forest whose edges gain the most (Prim); edges that gain nothing are left out."""
    n = len(gains)
    either = np.maximum(gains, gains.T)
    parent = np.full(n, NO_PARENT)
    inside = np.zeros(n, dtype=bool)
    while not inside.all():
        edges = np.where(inside[:, None] & ~inside[None], either, -np.inf)
        best = np.unravel_index(edges.argmax(), edges.shape)
        if not inside.any() or edges[best] < _WORTH:
            left = np.flatnonzero(~inside)
            inside[left[either[left].sum(axis=1).argmax()]] = True
            continue
        parent[best[1]] = best[0]
        inside[best[1]] = True
    return parent
