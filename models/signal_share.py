"""How much of a target's variance all columns together explain linearly, before any is selected.

With many more columns than rows, no fit can tell: every one is perfect. But if rows that are alike in their
columns are alike in the target, the columns explain it. The share h in

    y ~ N(0, h K + (1 - h) I),    K = X X' / n_features

is the one under which the target is most likely: the restricted maximum likelihood estimate, known from
genetics as heritability. For labels -1 and 1 that are the sign of a linear function of normal columns, h is
2 / pi; noise in the labels takes from it, classes that lie apart add to it.

References
----------
J. Yang, S. H. Lee, M. E. Goddard, P. M. Visscher. GCTA: a tool for genome-wide complex trait analysis.
American Journal of Human Genetics 88(1), 2011. doi:10.1016/j.ajhg.2010.11.011
"""

import numpy as np
from scipy import sparse

from .columns import ROUNDING
from .row_protocol import RowSource
from .row_subset import read_some

MAX_ROWS = 256
MAX_COLUMNS = 2048
MAX_COMPARED_ROWS = 10_000  # of more, repeated ones are not looked for
COMPARED_AT_ONCE = 256  # rows of a table that is not in memory
SHARES = np.linspace(0.01, 0.99, 99)


def signal_share(X, targets: np.ndarray, rng: np.random.Generator) -> tuple[float, int]:
    """Estimate the share of the targets' variance that is a linear function of the columns.

    At most 256 rows and 2048 columns are looked at, drawn at random. A sample that is there several times
    counts once, like one with a weight.

    Parameters
    ----------
    X : ndarray, sparse matrix or rows of shape (n_samples, n_features)
    targets : ndarray of shape (n_targets, n_samples), float64
    rng : Generator

    Returns
    -------
    share : float
        From 0.01 to 0.99, the mean over the targets. Targets that are constant among the rows looked at
        do not count; without any other, 0.01.
    n_distinct : int
        Number of different samples; of more than 10,000, all are taken to be different.
    """
    find_different = _different_among if isinstance(X, RowSource) else _different_rows
    different = find_different(X, targets)
    rows = different[_some(len(different), MAX_ROWS, rng)]
    columns = _some(X.n_features if isinstance(X, RowSource) else X.shape[1], MAX_COLUMNS, rng)
    part = read_some(X, rows, columns) if isinstance(X, RowSource) else X[rows][:, columns]
    standard = _standardised(part.toarray() if sparse.issparse(part) else part)
    targets = _standardised(targets[:, rows].T)
    if standard.shape[1] == 0 or targets.shape[1] == 0:
        return float(SHARES[0]), len(different)
    values, vectors = np.linalg.eigh(standard @ standard.T / standard.shape[1])
    power = (vectors.T @ targets) ** 2
    best = np.argmax(_likelihoods(np.maximum(values, 0.0), power), axis=0)
    return float(np.mean(SHARES[best])), len(different)


def _different_rows(X, targets: np.ndarray) -> np.ndarray:
    """Return one row number for each different sample, in an order that repetitions do not change."""
    if X.shape[0] > MAX_COMPARED_ROWS:
        return np.arange(X.shape[0])
    low, high = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    largest = np.maximum(high, -low).astype(np.float64)
    largest[largest <= 0] = 1.0
    direction = np.cos(np.arange(X.shape[1], dtype=np.float64)) / largest
    # The same row may give another last bit at another place.
    keys = np.round(np.stack([X @ direction, *targets]) / np.sqrt(X.shape[1]), 9)
    return np.unique(keys, axis=1, return_index=True)[1]


def _different_among(rows: RowSource, targets: np.ndarray) -> np.ndarray:
    """Do what `_different_rows` does, block by block."""
    if rows.n_rows > MAX_COMPARED_ROWS:
        return np.arange(rows.n_rows)
    largest = np.zeros(rows.n_features)
    for _, block in rows.blocks(0, rows.n_rows, COMPARED_AT_ONCE):
        greatest = abs(block).max(axis=0)
        largest = np.maximum(largest, greatest.toarray().ravel() if rows.is_sparse else greatest)
    largest[largest <= 0] = 1.0
    direction = np.cos(np.arange(rows.n_features, dtype=np.float64)) / largest
    along = np.concatenate([b @ direction for _, b in rows.blocks(0, rows.n_rows, COMPARED_AT_ONCE)])
    keys = np.round(np.stack([along, *targets]) / np.sqrt(rows.n_features), 9)
    return np.unique(keys, axis=1, return_index=True)[1]


def _likelihoods(values: np.ndarray, power: np.ndarray) -> np.ndarray:
    """Log-likelihood of each share for each target, up to a constant, (n_shares, n_targets)."""
    variances = SHARES[:, None] * values + (1 - SHARES[:, None])
    n = len(values)
    return -n * np.log((1 / variances) @ power) - np.log(variances).sum(axis=1)[:, None]


def _some(n: int, n_wanted: int, rng: np.random.Generator) -> np.ndarray:
    return np.arange(n) if n <= n_wanted else np.sort(rng.permutation(n)[:n_wanted])


def _standardised(columns: np.ndarray) -> np.ndarray:
    """Centre and scale columns, without those that do not vary."""
    columns = columns.astype(np.float64)
    largest = np.abs(columns).max(axis=0, initial=0.0)
    columns /= np.where(largest > 0, largest, 1.0)  # squares of huge numbers would overflow
    columns -= columns.mean(axis=0)
    deviation = np.sqrt(np.mean(columns**2, axis=0))
    varies = deviation > ROUNDING
    return columns[:, varies] / deviation[varies]
