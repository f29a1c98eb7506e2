"""How many edges of nearest-neighbour graphs a segmentation cuts (supplement, prior features)."""

import numpy as np
from numba import njit


def nearest_neighbours(coordinates: np.ndarray, n_neighbours: int, *, angular: bool) -> np.ndarray:
    """Return each track's nearest other tracks, nearest first.

    Parameters
    ----------
    coordinates : ndarray of shape (P, D)
    n_neighbours : int
    angular : bool
        Whether tracks are near by the angle between them (the affinity of equation 27), not by their
        Euclidean distance.

    Returns
    -------
    ndarray of shape (P, min(n_neighbours, P - 1)), int64
        Ties go to the lower number.
    """
    products = coordinates @ coordinates.T
    squares = np.diag(products).copy()
    if angular:
        scale = np.maximum(squares, np.finfo(float).tiny)
        distance = -(products**2) / (scale[:, None] * scale)
    else:
        distance = squares[:, None] + squares - 2 * products
    np.fill_diagonal(distance, np.inf)
    n_neighbours = min(n_neighbours, len(coordinates) - 1)
    return _least(distance, n_neighbours)


def _least(distance: np.ndarray, n_wanted: int) -> np.ndarray:
    """Return the columns of each row's least entries, in order; of equal ones the first comes first."""
    if not 0 < n_wanted < distance.shape[1]:
        return np.argsort(distance, axis=1, kind="stable")[:, :n_wanted]
    near = np.sort(np.argpartition(distance, n_wanted - 1, axis=1)[:, :n_wanted], axis=1)
    values = np.take_along_axis(distance, near, axis=1)
    near = np.take_along_axis(near, np.argsort(values, axis=1, kind="stable"), axis=1)
    # A partition takes any of several entries that equal the largest one taken.
    tied = np.flatnonzero(np.count_nonzero(distance <= values.max(axis=1)[:, None], axis=1) > n_wanted)
    near[tied] = np.argsort(distance[tied], axis=1, kind="stable")[:, :n_wanted]
    return near


def cut_proportions(neighbours: np.ndarray, labels: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the share of edges between different labels, for graphs of several sizes in one pass.

    Parameters
    ----------
    neighbours : ndarray of shape (P, K), int64
        Nearest first; the graph of size k has the first k as its edges.
    labels : ndarray of shape (P,), int
    sizes : ndarray of shape (n_sizes,), int
        Neighbours k of each graph, from 1; a size above K means K.

    Returns
    -------
    ndarray of shape (n_sizes,), float64 in [0, 1]
        F_G of the supplement. Zero where there is no edge.
    """
    if neighbours.shape[1] == 0:
        return np.zeros(len(sizes))
    cuts = np.zeros(neighbours.shape[1])
    _count_cuts(neighbours, np.asarray(labels, dtype=np.int64), cuts)
    share = np.cumsum(cuts) / (len(labels) * np.arange(1, len(cuts) + 1))
    return share[np.minimum(sizes, len(cuts)) - 1]


@njit(cache=True)
def _count_cuts(neighbours, labels, cuts):
    """cuts[r] = how many tracks have a different label than their r-th neighbour."""
    for i in range(neighbours.shape[0]):
        for r in range(neighbours.shape[1]):
            if labels[neighbours[i, r]] != labels[i]:
                cuts[r] += 1
