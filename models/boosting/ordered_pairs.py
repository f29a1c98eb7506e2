"""Pairs of rows with a wanted probability, as ordered pairs with weights."""

import numpy as np

from ...features.errors import DataError


def ordered_pairs(pairs, r, n_rows: int, pair_weight=None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which row of each pair should rank above which, and how much that matters.

    Parameters
    ----------
    pairs : array-like of shape (n_pairs, 2), int
        Rows i and j.
    r : array-like of shape (n_pairs,), float in [0, 1]
        Wanted probability that i ranks above j.
    n_rows : int
    pair_weight : array-like of shape (n_pairs,), optional

    Returns
    -------
    upper, lower : ndarray of shape (n_ordered,), int64
    weight : ndarray of shape (n_ordered,), float64, positive
        ``pair_weight * abs(2 r - 1)``: a tie asks for nothing and is left out.
    """
    pairs, r = np.asarray(pairs), np.asarray(r, dtype=np.float64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        found = f"shape {pairs.shape} and type {pairs.dtype}"
        raise DataError(f"pairs must have shape (n_pairs, 2) and integers, got {found}")
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < n_rows:
        raise DataError(f"pairs must name rows 0 to {n_rows - 1}, got {pairs.min()} to {pairs.max()}")
    if r.shape != (len(pairs),) or not np.all((r >= 0) & (r <= 1)):
        raise DataError(f"r must hold {len(pairs)} values from 0 to 1, got shape {r.shape}")
    importance = np.ones(len(pairs)) if pair_weight is None else np.asarray(pair_weight, dtype=np.float64)
    if importance.shape != (len(pairs),) or not np.all((importance >= 0) & np.isfinite(importance)):
        raise DataError(f"pair_weight must hold {len(pairs)} finite numbers of at least 0")
    first_wins = r > 0.5
    upper = np.where(first_wins, pairs[:, 0], pairs[:, 1])
    lower = np.where(first_wins, pairs[:, 1], pairs[:, 0])
    weight = importance * np.abs(2 * r - 1)
    counts = (weight > 0) & (upper != lower)
    if not counts.any():
        raise DataError("ranking needs at least one pair of comparable rows that are not tied, got none")
    return upper[counts].astype(np.int64), lower[counts].astype(np.int64), weight[counts]
