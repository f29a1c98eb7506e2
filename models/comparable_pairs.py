"""Pairs of comparable samples, from grades within groups (section 2.3, ranking)."""

import numpy as np

from ..features.errors import DataError


def comparable_pairs(grades, qid=None, *, include_ties: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """List all pairs of samples of the same group, each once.

    Parameters
    ----------
    grades : array-like of shape (n_samples,), float
        Higher is better.
    qid : array-like of shape (n_samples,), optional
        Group (query, sequence) of each sample; all samples are comparable by default.
    include_ties : bool
        Whether pairs of equal grades are listed, with r = 0.5.

    Returns
    -------
    pairs : ndarray of shape (n_pairs, 2), int64
        The lower row number first.
    r : ndarray of shape (n_pairs,), float64
        1 where the first sample has the higher grade, 0 where the second has, 0.5 for a tie.
    """
    grades = np.asarray(grades, dtype=np.float64)
    qid = np.zeros(len(grades)) if qid is None else np.asarray(qid)
    if qid.shape != grades.shape or grades.ndim != 1:
        raise DataError(f"qid and y must have one value a sample, got shapes {qid.shape} and {grades.shape}")
    pairs = [np.empty((0, 2), dtype=np.int64)]  # no samples, no groups
    for group in np.unique(qid):
        members = np.flatnonzero(qid == group)
        first, second = np.triu_indices(len(members), k=1)
        pairs.append(np.column_stack([members[first], members[second]]))
    listed = np.concatenate(pairs)
    r = (1 + np.sign(grades[listed[:, 0]] - grades[listed[:, 1]])) / 2
    if not include_ties:
        listed, r = listed[r != 0.5], r[r != 0.5]
    return listed, r
