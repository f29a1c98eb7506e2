"""Trajectories as velocity vectors and their projections (supplement, equation 26 and Algorithm 2)."""

import numpy as np

from .errors import DataError


def velocities(positions: np.ndarray) -> np.ndarray:
    """Return each track's frame-to-frame motion and its last position, equation (26).

    Parameters
    ----------
    positions : ndarray of shape (P, F, 2)
        Complete tracks.

    Returns
    -------
    ndarray of shape (P, 2 F), float64
        x1 - x2, y1 - y2, ..., x_{F-1} - x_F, y_{F-1} - y_F, x_F, y_F.
    """
    positions = check_complete_tracks(positions)
    steps = positions[:, :-1] - positions[:, 1:]
    return np.concatenate([steps, positions[:, -1:]], axis=1).reshape(len(positions), -1)


def raw_trajectories(positions: np.ndarray) -> np.ndarray:
    """Return each track's positions as one vector, shape (P, 2 F)."""
    positions = check_complete_tracks(positions)
    return positions.reshape(len(positions), -1)


def check_complete_tracks(positions: np.ndarray) -> np.ndarray:
    """Return the tracks as float64 after checking their shape and that every position is finite."""
    positions = np.asarray(positions, dtype=np.float64)
    if positions.ndim != 3 or positions.shape[2] != 2:
        raise DataError(f"tracks must have shape (P, F, 2), got {positions.shape}")
    if not np.isfinite(positions).all():
        raise DataError("tracks must be complete: a position is not finite")
    return positions


def principal_coordinates(vectors: np.ndarray, n_dimensions: int) -> np.ndarray:
    """Return the leading left singular vectors, the coordinates that spectral clustering works on.

    Parameters
    ----------
    vectors : ndarray of shape (P, D)
        One row per track; the rows are the columns of the paper's W'.
    n_dimensions : int

    Returns
    -------
    ndarray of shape (P, min(n_dimensions, P, D)), float64
        Column signs are fixed (the largest entry is positive), so that the result is the same
        whatever the linear algebra library.
    """
    left, _, _ = np.linalg.svd(vectors, full_matrices=False)
    left = left[:, :n_dimensions]
    largest = np.argmax(np.abs(left), axis=0)
    return left * np.sign(left[largest, np.arange(left.shape[1])])
