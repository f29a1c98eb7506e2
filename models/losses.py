"""Losses as functions of the responses (sections 2.3 and 3.4).

A loss is bound to its targets when it is made: `Lorenz(y)`, `PairwiseLogistic(pairs, r, n_rows)`.
From then on it is a function of the responses alone, and the annealing loop needs to know nothing
else about the problem. Responses have shape (n_outputs, n_rows), one contiguous row per output.

Everything is a *mean*: over the samples of a batch (with weights of mean one) or over its pairs. A
batch is a range of rows [start, stop); `splits` says which ranges are allowed.
"""

from abc import ABC, abstractmethod
from itertools import pairwise

import numpy as np
from numba import njit

from ..features.errors import DataError, ParameterError

SQUARED, LOGISTIC, HUBER_HINGE, LORENZ = range(4)


class Loss(ABC):
    """A loss bound to its targets.

    Attributes
    ----------
    n_rows, n_outputs : int
    """

    n_rows: int
    n_outputs: int

    @abstractmethod
    def splits(self, batch_size: int | None) -> list[tuple[int, int]]:
        """Cut the rows into ranges of about `batch_size` rows (None: one range)."""

    @abstractmethod
    def evaluate(self, response: np.ndarray, start: int, stop: int) -> tuple[float, np.ndarray]:
        """Return the mean loss of a batch and its derivative.

        Parameters
        ----------
        response : ndarray of shape (n_outputs, stop - start), float64
        start, stop : int
            The rows of the batch.

        Returns
        -------
        value : float
        derivative : ndarray of shape (n_outputs, stop - start), float64
            d value / d response.
        """

    @abstractmethod
    def curvature(self, direction: np.ndarray, start: int, stop: int) -> np.ndarray:
        """Apply an upper bound of the Hessian in response space to `direction`, shaped as above."""

    def initial_intercept(self) -> np.ndarray:
        """Return the intercept to start from, shape (n_outputs,); zero unless a loss knows better."""
        return np.zeros(self.n_outputs)


@njit(cache=True)
def _margin_loss(kind: int, h: float, z: float) -> tuple[float, float]:
    """Value and slope of a margin loss at the margin z = y f, equations (6) to (8)."""
    if kind == LOGISTIC:
        if z > 0:
            e = np.exp(-z)
            return np.log1p(e), -e / (1.0 + e)
        e = np.exp(z)
        return np.log1p(e) - z, -1.0 / (1.0 + e)
    if kind == HUBER_HINGE:
        if z > 1.0 + h:
            return 0.0, 0.0
        if z < 1.0 - h:
            return 1.0 - z, -1.0
        gap = 1.0 + h - z
        return gap * gap / (4.0 * h), -gap / (2.0 * h)
    if z >= 1.0:
        return 0.0, 0.0
    gap = z - 1.0
    return np.log1p(gap * gap), 2.0 * gap / (1.0 + gap * gap)


@njit(cache=True)
def _evaluate_pointwise(kind, h, response, target, weight, start, derivative):
    """Fill `derivative` and return the mean loss of the rows from `start` on."""
    n_outputs, n = response.shape
    total = 0.0
    for o in range(n_outputs):
        for i in range(n):
            y = target[o, start + i]
            w = weight[start + i] / n
            if kind == SQUARED:
                error = response[o, i] - y
                total += w * error * error
                derivative[o, i] = 2.0 * w * error
            else:
                value, slope = _margin_loss(kind, h, y * response[o, i])
                total += w * value
                derivative[o, i] = w * y * slope
    return total


class PointwiseLoss(Loss):
    """A loss that is a weighted mean over samples.

    Parameters
    ----------
    target : array-like of shape (n_rows,) or (n_outputs, n_rows)
        Values for a regression, labels -1 and +1 for a classification.
    sample_weight : array-like of shape (n_rows,), optional
        Scaled to mean one.
    """

    kind: int
    max_curvature: float
    h: float = 0.5

    def __init__(self, target, sample_weight=None) -> None:
        self.target = np.ascontiguousarray(np.atleast_2d(np.asarray(target, dtype=np.float64)))
        self.n_outputs, self.n_rows = self.target.shape
        if self.n_rows == 0:
            raise DataError("the loss needs at least one sample, got none")
        self.weight = _unit_mean_weights(sample_weight, self.n_rows)

    def splits(self, batch_size: int | None) -> list[tuple[int, int]]:
        n_batches = 1 if batch_size is None else max(1, self.n_rows // batch_size)
        cuts = [self.n_rows * b // n_batches for b in range(n_batches + 1)]
        return list(pairwise(cuts))

    def evaluate(self, response: np.ndarray, start: int, stop: int) -> tuple[float, np.ndarray]:
        derivative = np.empty_like(response)
        value = _evaluate_pointwise(self.kind, self.h, response, self.target, self.weight, start, derivative)
        return value, derivative

    def curvature(self, direction: np.ndarray, start: int, stop: int) -> np.ndarray:
        return direction * (self.weight[start:stop] * (self.max_curvature / (stop - start)))


class SquaredError(PointwiseLoss):
    """(y - f)^2, equation (4)."""

    kind = SQUARED
    max_curvature = 2.0

    def initial_intercept(self) -> np.ndarray:
        return self.target @ self.weight / self.n_rows


class Logistic(PointwiseLoss):
    """ln(1 + exp(-y f)), equation (6)."""

    kind = LOGISTIC
    max_curvature = 0.25


class HuberHinge(PointwiseLoss):
    """The differentiable hinge, equation (7), quadratic where |1 - y f| <= h."""

    kind = HUBER_HINGE

    def __init__(self, target, sample_weight=None, h: float = 0.5) -> None:
        if not (np.isfinite(h) and h > 0):
            raise ParameterError(f"h must be a finite number above 0, got {h}")
        super().__init__(target, sample_weight)
        self.h = float(h)

    @property
    def max_curvature(self) -> float:  # type: ignore[override]
        return 1 / (2 * self.h)


class Lorenz(PointwiseLoss):
    """ln(1 + (1 - y f)^2) below the margin one, zero above it, equation (8).

    Not convex: an example on the wrong side weighs less the farther it is, which makes the loss
    robust to wrong labels.
    """

    kind = LORENZ
    max_curvature = 2.0


class PairwiseLogistic(Loss):
    """The ranking loss over pairs, equation (9).

    ln(1 + exp(f_i - f_j)) - r_ij (f_i - f_j): the cross entropy between r_ij and the modelled
    probability that i ranks above j.

    Parameters
    ----------
    pairs : array-like of shape (n_pairs, 2), int
        Rows i and j of each pair.
    r : array-like of shape (n_pairs,), float in [0, 1]
        1 where f_i should exceed f_j, 0 where f_j should exceed f_i, 0.5 for a tie.
    n_rows : int
        Samples that the responses are given for.
    pair_weight : array-like of shape (n_pairs,), optional
        Scaled to mean one.
    """

    n_outputs = 1

    def __init__(self, pairs, r, n_rows: int, pair_weight=None) -> None:
        pairs = np.asarray(pairs)
        r = np.asarray(r, dtype=np.float64)
        if pairs.ndim != 2 or pairs.shape[1:] != (2,) or r.shape != pairs.shape[:1]:
            raise DataError(f"pairs must be (n_pairs, 2) and r (n_pairs,), got {pairs.shape} and {r.shape}")
        if len(pairs) == 0:
            raise DataError("ranking needs at least one pair of comparable samples, got none")
        if not np.issubdtype(pairs.dtype, np.integer) or pairs.min() < 0 or pairs.max() >= n_rows:
            raise DataError(f"pairs must hold integer row numbers from 0 to {n_rows - 1}")
        if not (np.isfinite(r).all() and r.min() >= 0 and r.max() <= 1):
            raise DataError("r must hold values from 0 to 1")
        weight = _unit_mean_weights(pair_weight, len(pairs))
        # Sorted by their earlier row, the pairs of a range of rows are a range of pairs.
        order = np.argsort(pairs.min(axis=1), kind="stable")
        self.n_rows = n_rows
        self.pairs = np.ascontiguousarray(pairs[order], dtype=np.int64)
        self.r = r[order]
        self.weight = weight[order]
        self._first_row = self.pairs.min(axis=1)

    def splits(self, batch_size: int | None) -> list[tuple[int, int]]:
        """Cut only where no pair has a row on either side (between the groups of comparable rows)."""
        if batch_size is None:
            return [(0, self.n_rows)]
        crossings = np.zeros(self.n_rows + 1, dtype=np.int64)
        np.add.at(crossings, self.pairs.min(axis=1) + 1, 1)
        np.add.at(crossings, self.pairs.max(axis=1) + 1, -1)
        legal = np.flatnonzero(np.cumsum(crossings) == 0)
        cuts = [0]
        for cut in legal[1:-1]:
            holds_pairs = self._pair_range(cuts[-1], cut)
            if cut - cuts[-1] >= batch_size and holds_pairs[0] < holds_pairs[1]:
                cuts.append(int(cut))
        first, last = self._pair_range(cuts[-1], self.n_rows)
        if first == last and len(cuts) > 1:
            cuts.pop()
        cuts.append(self.n_rows)
        return list(pairwise(cuts))

    def _pair_range(self, start: int, stop: int) -> tuple[int, int]:
        first, last = np.searchsorted(self._first_row, (start, stop))
        return int(first), int(last)

    def _pairs_of(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first, last = self._pair_range(start, stop)
        return self.pairs[first:last], self.r[first:last], self.weight[first:last]

    def evaluate(self, response: np.ndarray, start: int, stop: int) -> tuple[float, np.ndarray]:
        first, last = self._pair_range(start, stop)
        derivative = np.zeros_like(response)
        value = _evaluate_pairs(
            response[0],
            self.pairs[first:last],
            self.r[first:last],
            self.weight[first:last],
            start,
            derivative[0],
        )
        return value, derivative

    def curvature(self, direction: np.ndarray, start: int, stop: int) -> np.ndarray:
        product = np.zeros_like(direction)
        pairs, _, weight = self._pairs_of(start, stop)
        _pair_laplacian(direction[0], pairs, weight, start, product[0])
        return product


@njit(cache=True)
def _evaluate_pairs(response, pairs, r, weight, start, derivative):
    """Add the pairs' slopes to `derivative` (zero on entry) and return the mean loss."""
    n_pairs = len(r)
    total = 0.0
    for p in range(n_pairs):
        i = pairs[p, 0] - start
        j = pairs[p, 1] - start
        w = weight[p] / n_pairs
        gap = response[i] - response[j]
        value, slope = _margin_loss(LOGISTIC, 0.0, -gap)
        total += w * (value - r[p] * gap)
        derivative[i] += w * (-slope - r[p])
        derivative[j] -= w * (-slope - r[p])
    return total


@njit(cache=True)
def _pair_laplacian(direction, pairs, weight, start, product):
    """Add (1/4) sum_p w_p (d_i - d_j)(e_i - e_j) / n_pairs to `product`."""
    n_pairs = len(weight)
    for p in range(n_pairs):
        i = pairs[p, 0] - start
        j = pairs[p, 1] - start
        push = 0.25 * weight[p] / n_pairs * (direction[i] - direction[j])
        product[i] += push
        product[j] -= push


def _unit_mean_weights(weight, n: int) -> np.ndarray:
    if weight is None:
        return np.ones(n)
    weight = np.asarray(weight, dtype=np.float64)
    if weight.shape != (n,) or not np.isfinite(weight).all() or weight.min() < 0 or weight.sum() <= 0:
        raise DataError(f"weights must be {n} finite numbers of at least 0 that are not all zero")
    return weight * (n / weight.sum())
