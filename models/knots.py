"""Piecewise linear functions of codes: B + 1 knots, the table of 256 responses that they stand for, and sums.

The basis of section 2.5.1 is centred: each knot's mean over the training samples is subtracted, so that a
response has mean zero and the intercept carries the level. The functions that can be represented are the
same; without it every feature would carry the same constant direction, whose curvature grows with the number
of features and would force tiny steps.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from ..features.codes import CODE_MAX, N_CODES
from ..features.jit import LEAF

MISSING_CODE = CODE_MAX
"""Of what is missing, where knots have codes of their own."""
MOST_KNOTS = MISSING_CODE
"""That can have codes of their own."""


@dataclass(frozen=True, eq=False)
class CodeBasis:
    """What each code means: the knots that it lies between, and its position there.

    Attributes
    ----------
    first_codes : ndarray of shape (n_coefficients,), int64
        Bin k, between the knots k and k + 1, holds the codes [first_codes[k], first_codes[k + 1]).
    position : ndarray of shape (N_CODES,), float64 in [0, 1]
        alpha of section 2.5.1: u_k = 1 - alpha and u_{k+1} = alpha for a code of bin k.
    """

    first_codes: np.ndarray
    position: np.ndarray

    @property
    def n_coefficients(self) -> int:
        return len(self.first_codes)


def even_basis(n_bins: int) -> CodeBasis:
    """Return equally spaced knots over all codes, n_bins + 1 of them."""
    return CodeBasis(*code_positions(n_bins))


def steps_between(n_knots: int) -> int:
    """Return how many codes there are from a knot to the next, where each knot has a code of its own."""
    return (MISSING_CODE - 1) // max(1, n_knots - 1)


def knot_basis(n_knots: int) -> CodeBasis:
    """Return knots that have a code each, and one more coefficient, that of `MISSING_CODE`.

    Between the last knot and the missing value there is a bin of its own, which holds no other code.
    """
    step = steps_between(n_knots)
    last = step * (n_knots - 1)
    codes = np.arange(N_CODES)
    position = codes % step / step
    position[last] = 1.0 if n_knots > 1 else 0.0
    position[MISSING_CODE] = 1.0
    firsts = [*range(0, last, step), last + 1, N_CODES] if n_knots > 1 else [0, N_CODES]
    return CodeBasis(np.array(firsts), position)


def code_positions(n_bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where each bin's codes start, and each code's position in its bin.

    Returns
    -------
    first_codes : ndarray of shape (n_bins + 1,), int64
        Bin k holds the codes [first_codes[k], first_codes[k + 1]); the last bin holds the last code.
    position : ndarray of shape (N_CODES,), float64 in [0, 1]
        alpha of section 2.5.1: u_k = 1 - alpha and u_{k+1} = alpha for a code of bin k.
    """
    scaled = np.arange(N_CODES) * n_bins
    bins = np.minimum(scaled // CODE_MAX, n_bins - 1)
    return np.searchsorted(bins, np.arange(n_bins + 1)), scaled / CODE_MAX - bins


@njit(**LEAF)
def fill_table(first_codes, position, beta, table):
    """table[c] = u(c) . beta, a ramp from knot to knot."""
    for k in range(len(first_codes) - 1):
        rise = beta[k + 1] - beta[k]
        for c in range(first_codes[k], first_codes[k + 1]):
            table[c] = beta[k] + position[c] * rise


def response_tables(values: np.ndarray) -> np.ndarray:
    """Return the response of each feature at each code.

    Parameters
    ----------
    values : ndarray of shape (..., n_bins + 1), float
        Responses at the knots.

    Returns
    -------
    ndarray of shape (..., N_CODES), float64
    """
    first_codes, position = code_positions(values.shape[-1] - 1)
    rows = np.asarray(values, dtype=np.float64).reshape(-1, values.shape[-1])
    tables = np.empty((len(rows), N_CODES))
    for row, table in zip(rows, tables, strict=True):
        fill_table(first_codes, position, row, table)
    return tables.reshape(*values.shape[:-1], N_CODES)


def centred(values: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Take each response's mean over the training rows off it, so that the intercept carries the level.

    Parameters
    ----------
    values : ndarray of shape (n_outputs, n_features, n_bins + 1), float
        Responses at the knots.
    means : ndarray of shape (n_features, n_bins + 1), float64
        Means of the basis functions.
    """
    return values - np.einsum("ojk,jk->oj", values, means)[:, :, None]


def sum_responses(tables: np.ndarray, codes: np.ndarray, intercept: float) -> np.ndarray:
    """Add up the responses of all features, in their order and in the tables' dtype, as a scan does.

    Parameters
    ----------
    tables : ndarray of shape (n_features, N_CODES), float32 or float64
    codes : ndarray of shape (n_features, n_rows), uint8
    intercept : float

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    total = np.full(codes.shape[1], intercept, dtype=tables.dtype)
    _add_responses(tables, codes, total)
    return total


@njit(**LEAF, nogil=True)
def _add_responses(tables, codes, total):
    for t in range(len(tables)):
        for k in range(len(total)):
            i = np.uintp(k)
            total[i] += tables[t, codes[t, i]]
