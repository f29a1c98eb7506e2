"""Normalised spectral clustering with a deterministic k-means."""

import numpy as np
from numba import njit
from scipy.linalg import eigh

N_STARTS = 20
MAX_KMEANS_ITER = 100


def angular_affinity(coordinates: np.ndarray, alpha: float) -> np.ndarray:
    """Return the affinity of each pair of tracks, equation (27).

    Parameters
    ----------
    coordinates : ndarray of shape (P, d)
    alpha : float
        Separability; the affinity is the cosine to the power of 2 alpha.

    Returns
    -------
    ndarray of shape (P, P), float64 in [0, 1]
        A track whose coordinates are all zero has affinity 0 with every other.
    """
    norms = np.linalg.norm(coordinates, axis=1, keepdims=True)
    unit = np.divide(coordinates, norms, out=np.zeros_like(coordinates), where=norms > 0)
    return np.square(unit @ unit.T) ** alpha


def spectral_clustering(affinity: np.ndarray, n_clusters: int) -> np.ndarray:
    """Cut a graph into clusters by its normalised Laplacian.

    The rows of the leading eigenvectors of D^-1/2 A D^-1/2, scaled to unit length, are clustered by
    k-means (A. Ng, M. Jordan, Y. Weiss. On spectral clustering: analysis and an algorithm. NIPS 2001).

    Parameters
    ----------
    affinity : ndarray of shape (P, P), symmetric, not negative
        The diagonal is not looked at: no track supports itself.
    n_clusters : int

    Returns
    -------
    ndarray of shape (P,), int64
        Cluster numbers from 0.
    """
    normalised = _normalised(affinity)
    n = len(affinity)
    _, vectors = eigh(normalised, subset_by_index=[n - n_clusters, n - 1], driver="evr")
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return kmeans(rows, n_clusters)


def least_eigenvalues(affinity: np.ndarray, n_values: int) -> np.ndarray:
    """Return the least eigenvalues of a graph's normalised Laplacian, ascending, shape (n_values,).

    As many are near zero as the graph has parts that hardly touch.
    """
    n = len(affinity)
    found = eigh(_normalised(affinity), subset_by_index=[n - n_values, n - 1], eigvals_only=True)
    return 1 - found[::-1]


def _normalised(affinity: np.ndarray) -> np.ndarray:
    """D^-1/2 A D^-1/2 without the diagonal."""
    affinity = affinity.copy()
    np.fill_diagonal(affinity, 0)
    degree = np.maximum(affinity.sum(axis=1), np.finfo(float).tiny)
    scale = 1 / np.sqrt(degree)
    return affinity * scale[:, None] * scale


def kmeans(points: np.ndarray, n_clusters: int) -> np.ndarray:
    """Cluster points by Lloyd's algorithm, the best of `N_STARTS` k-means++ starts.

    Deterministic: the starts are drawn from a fixed seed.

    Parameters
    ----------
    points : ndarray of shape (P, d)
    n_clusters : int
        At most P.

    Returns
    -------
    ndarray of shape (P,), int64

    References
    ----------
    D. Arthur, S. Vassilvitskii. k-means++: the advantages of careful seeding. SODA 2007.
    """
    draws = np.random.default_rng(0).random((N_STARTS, n_clusters))
    return _best_kmeans(np.ascontiguousarray(points, dtype=np.float64), n_clusters, draws)


@njit(cache=True)
def _best_kmeans(points, n_clusters, draws):
    best_spread = np.inf
    best = np.zeros(len(points), dtype=np.int64)
    labels = np.zeros(len(points), dtype=np.int64)
    for start in range(len(draws)):
        spread = _lloyd(points, _spread_centres(points, n_clusters, draws[start]), labels)
        if spread < best_spread * (1 - 1e-12):
            best_spread = spread
            best[:] = labels
    return best


@njit(cache=True)
def _squared_distance(a, b):
    total = 0.0
    for k in range(len(a)):
        total += (a[k] - b[k]) ** 2
    return total


@njit(cache=True)
def _spread_centres(points, n_clusters, draws):
    """Draw each centre with a probability proportional to its squared distance from those before."""
    centres = np.empty((n_clusters, points.shape[1]))
    nearest = np.ones(len(points))
    for c in range(n_clusters):
        cumulated = np.cumsum(nearest)
        chosen = np.searchsorted(cumulated, draws[c] * cumulated[-1], side="right")
        centres[c] = points[min(chosen, len(points) - 1)]
        for i in range(len(points)):
            distance = _squared_distance(points[i], centres[c])
            nearest[i] = distance if c == 0 else min(nearest[i], distance)
    return centres


@njit(cache=True)
def _lloyd(points, centres, labels):
    """Iterate until no label changes; return the sum of squared distances.

    A cluster without points keeps its centre.
    """
    n, d = points.shape
    n_clusters = len(centres)
    spread = 0.0
    for iteration in range(MAX_KMEANS_ITER):
        changed = iteration == 0
        spread = 0.0
        for i in range(n):
            best = np.inf
            label = 0
            for c in range(n_clusters):
                distance = _squared_distance(points[i], centres[c])
                if distance < best:
                    best = distance
                    label = c
            spread += best
            changed = changed or labels[i] != label
            labels[i] = label
        if not changed:
            break
        counts = np.zeros(n_clusters)
        sums = np.zeros((n_clusters, d))
        for i in range(n):
            counts[labels[i]] += 1
            sums[labels[i]] += points[i]
        for c in range(n_clusters):
            if counts[c] > 0:
                centres[c] = sums[c] / counts[c]
    return spread
