"""Sparse subspace clustering, a second generator of candidates.

Every track is written as a sparse affine combination of the others; tracks of one motion need only
tracks of the same motion. E. Elhamifar, R. Vidal. Sparse Subspace Clustering: Algorithm, Theory, and
Applications. IEEE TPAMI 35(11), 2013 (section 4: affine subspaces, noise and outlying entries; solved by
the alternating direction method of multipliers).
"""

import numpy as np

from .spectral import spectral_clustering

N_ITER = 200
TOLERANCE = 2e-4
KEPT_WEIGHT = 0.7  # share of a track's absolute weight that its largest coefficients keep


def sparse_subspace_clustering(vectors: np.ndarray, n_clusters: int, *, alpha: float = 800.0) -> np.ndarray:
    """Cluster tracks by their sparse affine representation in each other.

    Parameters
    ----------
    vectors : ndarray of shape (P, 2 F)
        Positions, one row per track.
    n_clusters : int
    alpha : float
        Weight of the fit against sparsity, in multiples of the least weight at which anything but zero is
        a solution.

    Returns
    -------
    ndarray of shape (P,), int64
    """
    return spectral_clustering(sparse_subspace_affinity(vectors, alpha=alpha), n_clusters)


def sparse_subspace_affinity(vectors: np.ndarray, *, alpha: float = 800.0) -> np.ndarray:
    """Return how much tracks (P, 2 F) are used in the sparse representation of each other, (P, P)."""
    centred = vectors.reshape(len(vectors), -1, 2)
    centred = (centred - centred.mean(axis=(0, 1))).reshape(len(vectors), -1)
    return _affinity(strongest(affine_sparse_representation(centred, alpha), KEPT_WEIGHT))


def strongest(coefficients: np.ndarray, share: float) -> np.ndarray:
    """Keep the largest entries of each column that carry `share` of its absolute weight, zero the rest."""
    size = np.abs(coefficients)
    order = np.argsort(-size, axis=0, kind="stable")
    carried = np.cumsum(np.take_along_axis(size, order, axis=0), axis=0)
    before = carried - np.take_along_axis(size, order, axis=0)
    kept = np.zeros(size.shape, dtype=bool)
    np.put_along_axis(kept, order, before < share * carried[-1:], axis=0)
    return np.where(kept, coefficients, 0)


def _affinity(coefficients: np.ndarray) -> np.ndarray:
    """Absolute coefficients, each track's scaled by its largest, made symmetric."""
    size = np.abs(coefficients)
    largest = size.max(axis=0, keepdims=True)
    size = np.divide(size, largest, out=np.zeros_like(size), where=largest > 0)
    return size + size.T


def affine_sparse_representation(vectors: np.ndarray, alpha: float) -> np.ndarray:
    """Minimise ||C||_1 + (lambda / 2) ||Y - Y C||^2 with diag(C) = 0 and columns that sum to one.

    Parameters
    ----------
    vectors : ndarray of shape (P, D)
        Y transposed.
    alpha : float
        lambda = alpha / min_i max_{j != i} |y_i . y_j|.

    Returns
    -------
    ndarray of shape (P, P), float64
        C; column i represents track i.
    """
    n = len(vectors)
    gram = vectors @ vectors.T
    off_diagonal = np.abs(gram - np.diag(np.diag(gram)))
    weight = alpha / max(off_diagonal.max(axis=0).min(), np.finfo(float).tiny)
    rho = alpha
    inverse = np.linalg.inv(weight * gram + rho * np.eye(n) + rho)
    sparse = np.zeros((n, n))
    multiplier = np.zeros((n, n))
    affine_multiplier = np.zeros(n)
    for _ in range(N_ITER):
        right = weight * gram + rho * (sparse - multiplier / rho) + (rho - affine_multiplier)
        dense = inverse @ right
        np.fill_diagonal(dense, 0)
        shifted = dense + multiplier / rho
        sparse = np.sign(shifted) * np.maximum(np.abs(shifted) - 1 / rho, 0)
        np.fill_diagonal(sparse, 0)
        multiplier += rho * (dense - sparse)
        gap = dense.sum(axis=0) - 1
        affine_multiplier += rho * gap
        if max(np.abs(dense - sparse).max(), np.abs(gap).max()) < TOLERANCE:
            break
    return sparse
