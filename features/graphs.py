"""How many edges of nearest-neighbour graphs a segmentation cuts (supplement, prior features)."""

import numpy as np
from numba import njit

TINY = np.finfo(np.float64).tiny


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
    near = np.zeros((len(coordinates), min(n_neighbours, len(coordinates) - 1)), dtype=np.int64)
    if near.shape[1] > 0:
        _find_nearest(coordinates @ coordinates.T, angular, near)
    return near


@njit(cache=True)
def _find_nearest(products, angular, near):
    """Fill `near` from all scalar products, by insertion into the sorted neighbours found so far."""
    n, n_wanted = near.shape
    distances = np.empty(n_wanted)
    squares = np.diag(products).copy()
    scale = np.maximum(squares, TINY)
    for i in range(n):
        row, found = products[i], near[i]
        n_found = 0
        for j in range(n):
            if angular:
                distance = -(row[j] ** 2) / (scale[i] * scale[j])
            else:
                distance = squares[i] + squares[j] - 2 * row[j]
            if j == i or (n_found == n_wanted and distance >= distances[-1]):
                continue
            place = min(n_found, n_wanted - 1)
            while place > 0 and distances[place - 1] > distance:
                distances[place] = distances[place - 1]
                found[place] = found[place - 1]
                place -= 1
            distances[place] = distance
            found[place] = j
            n_found = min(n_found + 1, n_wanted)


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
