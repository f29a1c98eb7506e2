"""Penalties on the rows of a coefficient matrix, with exact proximal operators: l_p,inf and l_2,1.

For l_p,inf the optimum of one row is the row clipped at some level t >= 0 (Theorem 3 and Lemma 4 of Kong and
Ding: signs stay, the largest magnitudes are lowered to a common value, the others stay). What is left is one
number a row, with b the row's magnitudes:

    h(t) = sum_i max(b_i - t, 0)^2 / 2 + rho t^p,      0 <= t <= max b

For p = 1, h is convex and t has a closed form. For p < 1 it is not: h may have a minimum between
any two neighbouring magnitudes, beside t = 0, and the paper's search over sets (its Algorithm 1) stops at one
of them. Here every interval's minimum is found by Newton's method and the lowest of all is taken.

References
----------
D. Kong, C. Ding. Non-Convex Feature Learning via l_p,inf Operator. AAAI 2014.
doi:10.1609/aaai.v28i1.8997
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numba import njit

from ...features.errors import ParameterError
from .proximal import shrink_rows

MAX_NEWTON = 60
NEWTON_TOL = 1e-15
MARGIN = 1e-12
"""Relative distance from a tie within which rounding could decide; there the minima are compared."""


class RowPenalty(Protocol):
    """A penalty on the rows of W, shape (n_features, n_outputs), float64."""

    @property
    def convex(self) -> bool:
        """Whether every minimum is the minimum."""

    def value(self, W: np.ndarray) -> float:
        """Return the penalty."""

    def prox(self, W: np.ndarray, rho: float) -> np.ndarray:
        """Return argmin_U |U - W|^2 / 2 + rho * value(U)."""

    def largest_strength(self, gradient: np.ndarray) -> float:
        """Return the strength from which a step from zero along -`gradient` ends in zero."""


@dataclass(frozen=True)
class RowL21:
    """The sum of the rows' Euclidean norms (equation 12)."""

    @property
    def convex(self) -> bool:
        return True

    def value(self, W: np.ndarray) -> float:
        return float(np.linalg.norm(W, axis=1).sum())

    def prox(self, W: np.ndarray, rho: float) -> np.ndarray:
        return shrink_rows(W, rho)

    def largest_strength(self, gradient: np.ndarray) -> float:
        return float(np.linalg.norm(gradient, axis=1).max())


@dataclass(frozen=True)
class RowLpInf:
    """The sum of p-th powers of the rows' largest magnitudes; for p = 0, the rows that are not zero (2).

    Parameters
    ----------
    p : float
        From 0 to 1.
    """

    p: float

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise ParameterError(f"p must be from 0 to 1, got {self.p!r}")

    @property
    def convex(self) -> bool:
        return self.p == 1

    def value(self, W: np.ndarray) -> float:
        largest = np.abs(W).max(axis=1)
        return float(np.sum(largest[largest > 0] ** self.p))

    def prox(self, W: np.ndarray, rho: float) -> np.ndarray:
        return prox_lp_inf(W, rho, self.p)

    def largest_strength(self, gradient: np.ndarray) -> float:
        """For p < 1 every strength keeps zero a local minimum: the one of p = 1 bounds those of interest."""
        return float(np.abs(gradient).sum(axis=1).max())


def prox_lp_inf(A: np.ndarray, rho: float, p: float) -> np.ndarray:
    """Return argmin_U |U - A|^2 / 2 + rho sum_i (max_j |U_ij|)^p, exactly.

    Of two equal minima the smaller level is taken, so that a tie with zero is zero.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_columns), float64
    rho : float
        At least 0.
    p : float
        From 0 to 1; p = 0 counts the rows that are not zero.

    Returns
    -------
    ndarray of shape (n_rows, n_columns), float64

    Examples
    --------
    The paper's example:

    >>> import numpy as np
    >>> prox_lp_inf(np.array([[5.0, 4, 3, 2, 1]]), rho=1.5, p=1.0)
    array([[3.75, 3.75, 3.  , 2.  , 1.  ]])
    """
    if not 0 <= p <= 1:
        raise ParameterError(f"p must be from 0 to 1, got {p!r}")
    if not rho >= 0:
        raise ParameterError(f"rho must be at least 0, got {rho!r}")
    A = np.asarray(A, dtype=np.float64)
    if rho == 0:
        return A.copy()
    if p == 0:
        return np.where((A**2).sum(axis=1, keepdims=True) > 2 * rho, A, 0.0)
    level = np.empty(len(A))
    _clip_levels(A, float(rho), float(p), level)
    return np.clip(A, -level[:, None], level[:, None])


@njit(cache=True)
def _clip_levels(A, rho, p, level):
    """Write the level t that minimises h for each row of A.

    A level t > 0 lowers sum b_i^2 / 2 by at most t sum b_i, so it is no gain where sum b_i <= rho t^(p - 1);
    with t <= max b, most rows of a sparse solution are known to be zero before anything is sorted, and those
    below `floor` (where sum b_i <= d max b, d the columns) without a power.
    """
    b = np.empty(A.shape[1])
    floor = (rho / A.shape[1]) ** (1.0 / (2.0 - p)) * (1.0 - MARGIN)
    for i in range(len(A)):
        largest = total = 0.0
        for j in range(A.shape[1]):
            largest = max(largest, abs(A[i, j]))
            total += abs(A[i, j])
        if largest <= floor or total * largest ** (1.0 - p) <= rho * (1.0 - MARGIN):
            level[i] = 0.0
        else:
            b[:] = np.abs(A[i])
            b.sort()
            level[i] = _lowest_level(b[::-1], rho, p)


@njit(cache=True)
def _lowest_level(b, rho, p):
    """Return the global minimum of h, for magnitudes `b` from the largest down.

    Between b[k] and b[k - 1] the first k magnitudes are above t and
    h(t) = k t^2 / 2 - total t + square / 2 + rho t^p, with total and square their sums. The slopes of h at
    the magnitudes tell in which intervals it has a minimum.
    """
    all_squares = 0.0
    for value in b:
        all_squares += value * value
    best, best_value = 0.0, 0.5 * all_squares
    total = square = 0.0
    push_high = slope_high = _push(b[0], rho, p)
    for k in range(1, len(b) + 1):
        high, low = b[k - 1], (b[k] if k < len(b) else 0.0)
        total += high
        square += high * high
        push_low = _push(low, rho, p)
        slope_low = k * low - total + push_low
        rises = slope_high >= 0.0 and low < high
        if rises and (slope_low < 0.0 or _dips(k, total, rho, p, (low, high), (push_low, push_high))):
            t = max(low, _stationary(k, total, rho, p, high))
            value = 0.5 * (k * t * t - 2 * total * t + square) + rho * t**p
            if value < best_value or (value == best_value and t < best):
                best, best_value = t, value
        push_high, slope_high = push_low, slope_low
    return best


@njit(cache=True)
def _push(t, rho, p):
    """Return the derivative of rho t^p, rho > 0, from the right where t = 0."""
    if p == 1.0:
        return rho
    return rho * p * t ** (p - 1.0) if t > 0.0 else np.inf


@njit(cache=True)
def _dips(k, total, rho, p, ends, pushes):
    """Return whether the slope of h falls below 0 within an interval, though it does not at either end.

    The slope k t - total + rho p t^(p - 1) is convex; it is lowest where k = rho p (1 - p) t^(p - 2).
    """
    low, high = ends
    falls_at_low = low == 0.0 or k * low < (1.0 - p) * pushes[0]
    if p == 1.0 or not falls_at_low or k * high <= (1.0 - p) * pushes[1]:
        return False
    lowest = (rho * p * (1.0 - p) / k) ** (1.0 / (2.0 - p))
    return k * lowest - total + _push(lowest, rho, p) < 0.0


@njit(cache=True)
def _stationary(k, total, rho, p, high):
    """Return where k t - total + rho p t^(p - 1) turns positive, by Newton's method from the right.

    The function is convex and not negative at `high`, so that no step overshoots.
    """
    t = min(high, total / k)
    for _ in range(MAX_NEWTON):
        push = _push(t, rho, p)
        slope = k - (1.0 - p) * push / t
        if slope <= 0.0:
            break
        move = (k * t - total + push) / slope
        t -= move
        if abs(move) <= NEWTON_TOL * t:
            break
    return t
