"""Simulated data sets of the paper's section 3.1, with the relevant variables known.

Three of them return whole arrays. The equally correlated one also exists as `EquicorrelatedRows`,
which computes any block of rows and columns on demand, so that data far larger than memory can be
read again and again without being stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import njit
from scipy.signal import lfilter
from scipy.special import ndtri
from sklearn.utils import check_random_state

from ...features.errors import ParameterError
from ...features.threads import share

SPACING = 10
"""The relevant variables are 10, 20, ... counted from one, as in equations (17) and 3.1.4."""

_MAX_SEED = np.iinfo(np.int32).max
_N_QUANTILES = 2**16
_TASK_VALUES = 1 << 15  # that are worth a task of their own
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def make_correlated_classification(
    n_samples=1000, n_features=1000, k=10, *, delta=0.9, label_noise=0.0, random_state=None
):
    """Simulate two classes split by the sum of k of many correlated variables (section 3.1, equation 17).

    Rows are normal with mean zero, unit variance and correlation ``delta ** |i - j|``; a row belongs to
    class 1 if the sum of its variables 10, 20, ..., 10 k (counted from one) is positive.

    Parameters
    ----------
    n_samples, n_features : int
        Rows and columns of `X`; `n_features` is at least ``10 * k``.
    k : int
        Number of relevant variables.
    delta : float in (-1, 1)
        Correlation of neighbouring variables.
    label_noise : float in [0, 1]
        Share of the rows that get a random label; half of those end up wrong. The paper's noisy version
        has 0.1.
    random_state : int, RandomState instance or None
        Seed of rows and labels.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
    y : ndarray of shape (n_samples,), int64, 0 or 1
    support : ndarray of shape (n_features,), bool
        Which variables are relevant.

    References
    ----------
    Barbu, She, Ding, Gramajo, "Feature Selection with Annealing for Computer Vision and Big Data
    Learning", IEEE TPAMI, 2017.

    Examples
    --------
    >>> X, y, support = make_correlated_classification(100, 40, k=3, random_state=0)
    >>> support.nonzero()[0].tolist()
    [9, 19, 29]
    """
    _check_sizes(n_samples, n_features, k)
    _check_share("label_noise", label_noise)
    rng = check_random_state(random_state)
    X = _autoregressive_rows(rng, n_samples, n_features, delta)
    support = relevant_variables(n_features, k)
    y = (X[:, support].sum(axis=1) > 0).astype(np.int64)
    return X, _with_label_noise(rng, y, label_noise), support


def make_correlated_regression(
    n_samples=1000, n_features=1000, k=30, *, delta=0.9, noise=1.0, random_state=None
):
    """Simulate a sum of k of many correlated variables, seen with normal noise (section 3.1.4).

    Parameters
    ----------
    n_samples, n_features, k, delta, random_state
        As in `make_correlated_classification`.
    noise : float
        Standard deviation of the noise added to the sum; 1 in the paper, so that no predictor has a root
        mean square error below 1.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
    y : ndarray of shape (n_samples,), float64
    support : ndarray of shape (n_features,), bool
        Which variables are relevant.

    Examples
    --------
    >>> X, y, support = make_correlated_regression(50, 30, k=2, noise=0.0, random_state=0)
    >>> bool(np.allclose(y, X[:, support].sum(axis=1)))
    True
    """
    _check_sizes(n_samples, n_features, k)
    if not noise >= 0:
        raise ParameterError(f"noise is {noise}; it must be zero or more")
    rng = check_random_state(random_state)
    X = _autoregressive_rows(rng, n_samples, n_features, delta)
    support = relevant_variables(n_features, k)
    y = X[:, support].sum(axis=1) + noise * rng.standard_normal(n_samples)
    return X, y, support


def make_equicorrelated_classification(
    n_samples=1000, n_features=1000, k=10, *, alpha=0.5, random_state=None
):
    """Simulate two classes over equally correlated variables (section 3.1.3, equation 18).

    Every row is ``alpha * z + e`` with one normal z for the row and one normal e for each variable, so
    any two variables have correlation ``alpha**2 / (1 + alpha**2)``. Classes are made as in
    `make_correlated_classification`, which the paper leaves to the reader.

    Parameters
    ----------
    n_samples, n_features, k, random_state
        As in `make_correlated_classification`.
    alpha : float
        Weight of the part that all variables share; 0.5 in the paper.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float32
    y : ndarray of shape (n_samples,), int64, 0 or 1
    support : ndarray of shape (n_features,), bool
        Which variables are relevant.

    See Also
    --------
    EquicorrelatedRows : the same numbers in blocks, for sizes beyond memory.

    Examples
    --------
    >>> X, y, support = make_equicorrelated_classification(20, 30, k=2, random_state=0)
    >>> X.shape, X.dtype.name, int(support.sum())
    ((20, 30), 'float32', 2)
    """
    seed = int(check_random_state(random_state).randint(_MAX_SEED))
    rows = EquicorrelatedRows(n_samples, n_features, k, alpha=alpha, seed=seed)
    everything = slice(0, n_samples)
    return rows.block(everything), rows.labels(everything), rows.support


def relevant_variables(n_features, k):
    """Return the mask of variables 10, 20, ..., 10 k (counted from one), shape (n_features,), bool."""
    support = np.zeros(n_features, dtype=bool)
    support[SPACING - 1 : SPACING * k : SPACING] = True
    return support


@dataclass(frozen=True)
class EquicorrelatedRows:
    """Equally correlated rows computed when asked for (equation 18), never stored.

    Each number is a function of (seed, row, column), so a block is the same whatever the blocks read
    before it, and any columns can be read without the others: reading costs in proportion to the size of
    the block.

    Parameters
    ----------
    n_samples, n_features, k : int
        As in `make_correlated_classification`.
    alpha : float
        Weight of the part that all variables share.
    seed : int
        Non-negative; a second seed gives an independent data set.

    Examples
    --------
    >>> rows = EquicorrelatedRows(1_000_000, 100_000, 500, seed=1)
    >>> rows.block(slice(999_998, 1_000_000), columns=[0, 99_999]).shape
    (2, 2)
    """

    n_samples: int
    n_features: int
    k: int
    alpha: float = 0.5
    seed: int = 0

    def __post_init__(self):
        _check_sizes(self.n_samples, self.n_features, self.k)
        if not np.isfinite(self.alpha):
            raise ParameterError(f"alpha is {self.alpha}; it must be a finite number")
        if self.seed < 0:
            raise ParameterError(f"seed is {self.seed}; it must be zero or more")

    def __len__(self):
        return self.n_samples

    @property
    def support(self):
        """Which variables are relevant, shape (n_features,), bool."""
        return relevant_variables(self.n_features, self.k)

    def block(self, rows: slice, columns: Sequence[int] | np.ndarray | None = None):
        """Return the wanted rows and columns (default: all), float32 of shape (n_rows, n_columns)."""
        start, stop, step = rows.indices(self.n_samples)
        if step != 1:
            raise ParameterError(f"rows has step {step}; only steps of 1 are accepted")
        wanted = np.arange(self.n_features) if columns is None else np.asarray(columns, dtype=np.int64)
        if wanted.size and not 0 <= wanted.min() <= wanted.max() < self.n_features:
            raise ParameterError(
                f"columns must lie in 0..{self.n_features - 1}, found {wanted.min()}..{wanted.max()}"
            )
        out = np.empty((max(stop - start, 0), len(wanted)), dtype=np.float32)
        # The hash wraps around on purpose; NumPy warns of it where the kernel runs uncompiled.
        with np.errstate(over="ignore"):
            task = np.uint64(self.seed), wanted, self.alpha, _normal_quantiles()
            share(
                len(out),
                lambda first, last: _equicorrelated_block(*task, np.uint64(start + first), out[first:last]),
                least=_TASK_VALUES // max(1, len(wanted)),
            )
        return out

    def labels(self, rows: slice):
        """Return the classes of the wanted rows, int64 of shape (n_rows,), 0 or 1."""
        relevant = self.block(rows, self.support.nonzero()[0])
        return (relevant.sum(axis=1, dtype=np.float64) > 0).astype(np.int64)


def _check_sizes(n_samples, n_features, k):
    if n_samples < 1:
        raise ParameterError(f"n_samples is {n_samples}; it must be at least 1")
    if k < 1:
        raise ParameterError(f"k is {k}; it must be at least 1")
    if n_features < SPACING * k:
        raise ParameterError(f"n_features is {n_features}; with k={k} it must be at least {SPACING * k}")


def _check_share(name, value):
    if not 0 <= value <= 1:
        raise ParameterError(f"{name} is {value}; it must lie in [0, 1]")


def _autoregressive_rows(rng, n_samples, n_features, delta):
    """Draw rows with correlation delta ** |i - j| by the recursion x_j = delta x_{j-1} + noise.

    The recursion is exact, and needs no n_features x n_features covariance matrix.
    """
    if not -1 < delta < 1:
        raise ParameterError(f"delta is {delta}; it must lie strictly between -1 and 1")
    noise = rng.standard_normal((n_samples, n_features))
    noise[:, 1:] *= np.sqrt(1 - delta**2)
    return lfilter([1.0], [1.0, -delta], noise, axis=1)


def _with_label_noise(rng, y, share):
    """Give a share of the rows, chosen at random, a label drawn at random."""
    y = y.copy()
    chosen = rng.choice(len(y), size=round(share * len(y)), replace=False)
    y[chosen] = rng.randint(2, size=len(chosen))
    return y


@njit(cache=True)
def _mix(x):
    """Scramble 64 bits (the finaliser of splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * _MIX_1
    x = (x ^ (x >> np.uint64(27))) * _MIX_2
    return x ^ (x >> np.uint64(31))


@cache
def _normal_quantiles():
    """Return 2**16 equally likely values with the normal's quantiles and unit variance, float32."""
    quantiles = ndtri((np.arange(_N_QUANTILES) + 0.5) / _N_QUANTILES)
    return (quantiles / quantiles.std()).astype(np.float32)


@njit(cache=True)
def _normal(key, position, quantiles):
    """Return the standard normal that belongs to a key and a position.

    It is the sum of two values of the table over the square root of two, which is smooth to 2**-32 and
    has tails to 6 standard deviations, at a tenth of the price of logarithm and cosine.
    """
    bits = _mix(key + (position + np.uint64(1)) * _GOLDEN)
    total = quantiles[bits >> np.uint64(48)] + quantiles[bits & np.uint64(_N_QUANTILES - 1)]
    return total * np.float32(np.sqrt(0.5))


@njit(cache=True, nogil=True)
def _equicorrelated_block(seed, columns, alpha, quantiles, first_row, out):
    """Fill out[i, c] = alpha z_i + e_ij for row first_row + i and column j = columns[c]."""
    n_rows, n_columns = out.shape
    for i in range(n_rows):
        row = first_row + np.uint64(i)
        key = _mix(_mix(seed * _GOLDEN + np.uint64(1)) + (row + np.uint64(1)) * _GOLDEN)
        shared = np.float32(alpha) * _normal(key, np.uint64(0), quantiles)
        for c in range(n_columns):
            out[i, c] = shared + _normal(key, np.uint64(columns[c] + 1), quantiles)
