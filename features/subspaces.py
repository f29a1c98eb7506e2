"""How far tracks of one label are from an affine subspace of three dimensions (supplement).

Under an orthographic camera the tracks of one rigid motion lie in such a subspace.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

MOTION_DIMENSIONS = 3


class Residuals(NamedTuple):
    """Distance of each track to the subspace of its own label, three ways; each of shape (P,).

    Attributes
    ----------
    plain : ndarray
        Euclidean distance to the least-squares subspace.
    free : ndarray
        The same per degree of freedom: a subspace fitted to n tracks leaves n - 4 of them free, so that
        a handful of tracks, which any subspace fits, gains nothing.
    left_out : ndarray
        Distance to the subspace that the other tracks of the label would have had, to first order.
    """

    plain: np.ndarray
    free: np.ndarray
    left_out: np.ndarray


def subspace_residuals(vectors: np.ndarray, labels: np.ndarray) -> Residuals:
    """Fit an affine subspace to the tracks of each label and return their distances.

    Parameters
    ----------
    vectors : ndarray of shape (P, D)
    labels : ndarray of shape (P,), int

    Returns
    -------
    Residuals
    """
    result = Residuals(*np.zeros((3, len(vectors))))
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        for whole, part in zip(result, _cluster_residuals(vectors[members]), strict=True):
            whole[members] = part
    return result


def _cluster_residuals(points: np.ndarray) -> Residuals:
    """Residuals of points that share a label."""
    n, n_dimensions = points.shape
    rank = min(MOTION_DIMENSIONS, n_dimensions, n)
    centred = points - points.mean(axis=0)
    eigenvalues, coordinates = _principal(centred, rank)
    squared = np.einsum("ij,ij->i", centred, centred) - np.einsum("ij,ij->i", coordinates, coordinates)
    plain = np.sqrt(np.maximum(squared, 0))
    # An affine subspace of dimension 3 passes through any 4 points.
    free = plain * np.sqrt(n / max(n - MOTION_DIMENSIONS - 1, 0.5))
    floor = 1e-12 * max(float(np.sum(centred**2)), np.finfo(float).tiny)
    leverage = 1 / n + np.sum(coordinates**2 / np.maximum(eigenvalues, floor), axis=1)
    return Residuals(plain, free, plain / np.maximum(1 - leverage, 0.05))


def _principal(centred: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Leading eigenvalues of the scatter, shape (rank,), and coordinates along them, (n, rank).

    From the smaller of the two product matrices, and only the eigenvectors that are wanted.
    """
    n, n_dimensions = centred.shape
    by_points = n < n_dimensions
    product = centred @ centred.T if by_points else centred.T @ centred
    size = len(product)
    eigenvalues, vectors = eigh(
        product, subset_by_index=[size - rank, size - 1], driver="evr", check_finite=False, overwrite_a=True
    )
    eigenvalues = np.maximum(eigenvalues, 0)
    return eigenvalues, vectors * np.sqrt(eigenvalues) if by_points else centred @ vectors
