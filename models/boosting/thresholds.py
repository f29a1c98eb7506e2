"""Values of a table as small codes: how many of a variable's equally spaced thresholds lie below.

Both boosters look at a variable only through its thresholds, so one byte a value is all they keep.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numba import njit
from scipy import sparse

from ...features.threads import share
from ..columns import column_extremes

CODE_DTYPE = np.uint8
MAX_THRESHOLDS = np.iinfo(CODE_DTYPE).max
COLUMNS_AT_ONCE = 32
"""Columns that one thread reads together: a cache line of every row serves several of them."""

_DENSIFIED_AT_ONCE = 256
_TASK_VISITS = 1 << 17
"""Values that are worth a task of their own."""


def value_ranges(X) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the greatest value of each column, two float64 arrays of shape (n_features,)."""
    low, high = column_extremes(X)
    return low.astype(np.float64), high.astype(np.float64)


def equal_thresholds(low: np.ndarray, high: np.ndarray, n_thresholds: int) -> np.ndarray:
    """Place thresholds equally spaced inside each variable's range.

    Parameters
    ----------
    low, high : ndarray of shape (n_features,), float64
        Range of each variable.
    n_thresholds : int
        Between 1 and 255; they cut the range into ``n_thresholds + 1`` equal parts.

    Returns
    -------
    thresholds : ndarray of shape (n_features, n_thresholds), float64
        Increasing along the second axis; all equal for a variable that is constant.
    """
    # Parts of the range, not a step times an index: nothing overflows where high - low would.
    share = np.arange(1, n_thresholds + 1) / (n_thresholds + 1)
    thresholds = low[:, None] * (1 - share) + high[:, None] * share
    # Rounding must not put thresholds out of order where the range is a few units in the last place.
    return np.maximum.accumulate(np.clip(thresholds, low[:, None], high[:, None]), axis=1)


def threshold_codes(X, thresholds: np.ndarray) -> np.ndarray:
    """Count for every value the thresholds of its variable that lie strictly below it.

    Parameters
    ----------
    X : ndarray or CSR/CSC of shape (n_samples, n_features), float
    thresholds : ndarray of shape (n_features, n_thresholds), float64
        Increasing; see `equal_thresholds`.

    Returns
    -------
    codes : ndarray of shape (n_features, n_samples), uint8, C order
        ``codes[j, i] > t`` exactly where ``X[i, j] > thresholds[j, t]``.
    """
    codes = np.empty(X.shape[::-1], dtype=CODE_DTYPE)
    for columns, dense in dense_column_blocks(X):
        share_columns(
            len(dense), dense.shape[1], _threshold_codes, dense, thresholds[columns], codes[columns]
        )
    return codes


def share_columns(n_rows: int, n_columns: int, kernel: Callable[..., None], *arguments) -> None:
    """Call ``kernel(*arguments, first, last)`` for ranges of chunks of `COLUMNS_AT_ONCE` columns."""
    share(
        -(-n_columns // COLUMNS_AT_ONCE),
        lambda first, last: kernel(*arguments, first, last),
        least=_TASK_VISITS // (COLUMNS_AT_ONCE * n_rows),
    )


def dense_column_blocks(X) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (slice, dense columns): the whole of a dense X at once, a sparse X some columns at a time."""
    if not sparse.issparse(X):
        yield slice(0, X.shape[1]), X
        return
    by_column = X.tocsc()
    for first in range(0, X.shape[1], _DENSIFIED_AT_ONCE):
        columns = slice(first, min(first + _DENSIFIED_AT_ONCE, X.shape[1]))
        yield columns, by_column[:, columns].toarray()


@njit(cache=True, nogil=True)
def _threshold_codes(X, thresholds, codes, first_chunk, last_chunk):
    """Fill codes[j, i] of some chunks of columns of X, which are rows of codes."""
    n_samples, n_features = X.shape
    n_thresholds = thresholds.shape[1]
    for chunk in range(first_chunk, last_chunk):
        first = chunk * COLUMNS_AT_ONCE
        last = min(first + COLUMNS_AT_ONCE, n_features)
        for i in range(n_samples):
            for j in range(first, last):
                x = X[i, j]
                # A first guess by division, then moved until it agrees with the comparisons. Halves,
                # because the difference of two finite numbers may be infinite.
                width = (thresholds[j, n_thresholds - 1] / 2 - thresholds[j, 0] / 2) / max(
                    n_thresholds - 1, 1
                )
                position = (x / 2 - thresholds[j, 0] / 2) / width + 1 if width > 0 else 0.0
                code = int(min(max(position, 0.0), float(n_thresholds)))
                while code > 0 and not x > thresholds[j, code - 1]:
                    code -= 1
                while code < n_thresholds and x > thresholds[j, code]:
                    code += 1
                codes[j, i] = code
