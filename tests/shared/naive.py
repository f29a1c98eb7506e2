"""Slow twins that several tests compare with: obviously right, and nothing else."""

import numpy as np


def piecewise_basis(codes, n_bins):
    """The centred basis functions of section 2.5.1 at each code, shape (n_rows, n_features, n_bins + 1)."""
    n_features, n_rows = codes.shape
    basis = np.zeros((n_rows, n_features, n_bins + 1))
    for j in range(n_features):
        for i in range(n_rows):
            position = int(codes[j, i]) * n_bins / 255
            k = min(int(position), n_bins - 1)
            basis[i, j, k] = 1 - (position - k)
            basis[i, j, k + 1] = position - k
    return basis - basis.mean(axis=0)


def weighted_line(x, w, z):
    """Intercept and slope of the line of weighted least squares."""
    A = np.column_stack([np.ones_like(x), x]) * np.sqrt(w)[:, None]
    return np.linalg.lstsq(A, np.sqrt(w) * z, rcond=None)[0]
