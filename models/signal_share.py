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

MAX_ROWS = 256
MAX_COLUMNS = 2048
SHARES = np.linspace(0.01, 0.99, 99)


def signal_share(X, targets: np.ndarray, rng: np.random.Generator) -> float:
    """Estimate the share of the targets' variance that is a linear function of the columns.

    At most 256 rows and 2048 columns are looked at, drawn at random.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
    targets : ndarray of shape (n_targets, n_samples), float64
    rng : Generator

    Returns
    -------
    float
        From 0.01 to 0.99, the mean over the targets. Targets that are constant among the rows looked at
        do not count; without any other, 0.01.
    """
    rows = _some(X.shape[0], MAX_ROWS, rng)
    columns = _some(X.shape[1], MAX_COLUMNS, rng)
    part = X[rows][:, columns]
    standard = _standardised(part.toarray() if sparse.issparse(part) else part)
    targets = _standardised(targets[:, rows].T)
    if standard.shape[1] == 0 or targets.shape[1] == 0:
        return float(SHARES[0])
    values, vectors = np.linalg.eigh(standard @ standard.T / standard.shape[1])
    power = (vectors.T @ targets) ** 2
    return float(np.mean(SHARES[np.argmax(_likelihoods(np.maximum(values, 0.0), power), axis=0)]))


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
    columns -= columns.mean(axis=0)
    deviation = np.sqrt(np.mean(columns**2, axis=0))
    varies = deviation > 1e-12 * np.abs(columns).max(axis=0, initial=0.0)
    return columns[:, varies] / deviation[varies]
