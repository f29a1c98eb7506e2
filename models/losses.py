"""Losses as functions of the responses (sections 2.3 and 3.4).

A loss is bound to its targets when it is made: `Lorenz(y)`, `PairwiseLogistic(pairs, r, n_rows)`.
From then on it is a function of the responses alone, and the annealing loop needs to know nothing
else about the problem. Responses have shape (n_outputs, n_rows), one contiguous row per output.

Everything is a *mean*: over the samples of a batch (with weights of mean one) or over its pairs. A
batch is a range of rows [start, stop); `splits` says which ranges are allowed.

A loss that is a mean over samples is a subclass of `PointwiseLoss` with two functions of one sample and a
number; it needs no change anywhere else:

    class SquaredHinge(PointwiseLoss):
        curvature = 2.0

        @staticmethod
        def sample_value(y, f):
            return max(1 - y * f, 0.0) ** 2

        @staticmethod
        def sample_slope(y, f):
            return -2 * y * max(1 - y * f, 0.0)
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from itertools import pairwise

import numpy as np
from numba import njit

from ..features.errors import DataError, ParameterError
from .loss_kernels import ScalarPair, mean_slopes, mean_value


class Loss(ABC):
    """A loss bound to its targets.

    Attributes
    ----------
    n_rows, n_outputs : int
    separable : bool
        Whether the loss of a batch is the sum of those of any parts of it, each divided by the rows of
        the whole (`n_mean`), so that the parts may be looked at one after another.
    """

    n_rows: int
    n_outputs: int
    separable: bool = False

    @abstractmethod
    def splits(self, batch_size: int | None) -> list[tuple[int, int]]:
        """Cut the rows into ranges of about `batch_size` rows (None: one range)."""

    @abstractmethod
    def value(self, response: np.ndarray, start: int, stop: int, n_mean: int | None = None) -> float:
        """Return the mean loss of the rows [start, stop).

        Parameters
        ----------
        response : ndarray of shape (n_outputs, stop - start), float64
        start, stop : int
        n_mean : int, optional
            Rows of the batch that these are a part of, where the loss is separable.
        """

    @abstractmethod
    def derivative(
        self, response: np.ndarray, start: int, stop: int, n_mean: int | None = None
    ) -> np.ndarray:
        """Return d value / d response, of the shape of `response`."""

    @abstractmethod
    def hessian_product(self, direction: np.ndarray, start: int, stop: int) -> np.ndarray:
        """Apply an upper bound of the Hessian in response space to `direction`, shaped as above."""

    @abstractmethod
    def n_terms(self, start: int, stop: int) -> int:
        """Return how many samples or pairs the mean over the rows [start, stop) is taken over."""

    @abstractmethod
    def take(self, rows: np.ndarray) -> "Loss":
        """Return the loss of these rows (ascending), each with the weight that it has here."""

    def initial_intercept(self) -> np.ndarray:
        """Return the intercept to start from, shape (n_outputs,); zero unless a loss knows better."""
        return np.zeros(self.n_outputs)

    def empty_value(self, start: int, stop: int) -> float:
        """Return the mean loss of the rows [start, stop) without any feature."""
        response = np.repeat(self.initial_intercept()[:, None], stop - start, axis=1)
        return self.value(response, start, stop)


class FixedSlopes(Loss):
    """No loss: its slopes are given, whatever the responses. Gradients are then products with the columns.

    Parameters
    ----------
    slopes : ndarray of shape (n_outputs, n_rows), float64
    """

    separable = True

    def __init__(self, slopes: np.ndarray) -> None:
        self.slopes = slopes
        self.n_outputs, self.n_rows = slopes.shape

    def splits(self, batch_size: int | None) -> list[tuple[int, int]]:
        return [(0, self.n_rows)]

    def value(self, response: np.ndarray, start: int, stop: int, n_mean: int | None = None) -> float:
        return 0.0

    def derivative(
        self, response: np.ndarray, start: int, stop: int, n_mean: int | None = None
    ) -> np.ndarray:
        return self.slopes[:, start:stop] / (n_mean or stop - start)

    def hessian_product(self, direction: np.ndarray, start: int, stop: int) -> np.ndarray:
        return np.zeros_like(direction)

    def initial_intercept(self) -> np.ndarray:
        return np.zeros(self.n_outputs)

    def n_terms(self, start: int, stop: int) -> int:
        return stop - start

    def take(self, rows: np.ndarray) -> "FixedSlopes":
        return FixedSlopes(np.ascontiguousarray(self.slopes[:, rows]))


class PointwiseLoss(Loss):
    """A loss that is a weighted mean over samples.

    A subclass has two static functions, compiled when the class is made, and `curvature`, the largest
    value that the second derivative can have. Both functions take the target y and the response f of a
    sample, then the numbers that `parameters` returns.

    Parameters
    ----------
    target : array-like of shape (n_rows,) or (n_outputs, n_rows)
        Values for a regression, labels -1 and +1 for a classification.
    sample_weight : array-like of shape (n_rows,), optional
        Scaled to mean one.
    """

    separable = True
    curvature: float
    pair: ScalarPair
    is_compiled: bool = False  # whether value and derivative are those of the pair
    sample_value: Callable[..., float]
    sample_slope: Callable[..., float]

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        if "sample_value" in vars(cls) or "sample_slope" in vars(cls):
            cls.pair = ScalarPair(cls.__qualname__, cls.sample_value, cls.sample_slope)
        of_pair = (cls.value, cls.derivative) == (PointwiseLoss.value, PointwiseLoss.derivative)
        cls.is_compiled = of_pair and hasattr(cls, "pair")

    def __init__(self, target, sample_weight=None) -> None:
        self.target = np.ascontiguousarray(np.atleast_2d(np.asarray(target, dtype=np.float64)))
        self.n_outputs, self.n_rows = self.target.shape
        if self.n_rows == 0:
            raise DataError("the loss needs at least one sample, got none")
        self.weight = _unit_mean_weights(sample_weight, self.n_rows)

    @property
    def parameters(self) -> tuple[float, ...]:
        """Numbers that the functions of a sample take after target and response."""
        return ()

    def splits(self, batch_size: int | None) -> list[tuple[int, int]]:
        n_batches = 1 if batch_size is None else max(1, self.n_rows // batch_size)
        cuts = [self.n_rows * b // n_batches for b in range(n_batches + 1)]
        return list(pairwise(cuts))

    def value(self, response: np.ndarray, start: int, stop: int, n_mean: int | None = None) -> float:
        data = response, self.target, self.weight
        return mean_value(self.pair, self.parameters, *data, start, n_mean or stop - start)

    def derivative(
        self, response: np.ndarray, start: int, stop: int, n_mean: int | None = None
    ) -> np.ndarray:
        out = np.empty_like(response)
        data = response, self.target, self.weight
        mean_slopes(self.pair, self.parameters, *data, start, n_mean or stop - start, out)
        return out

    def hessian_product(self, direction: np.ndarray, start: int, stop: int) -> np.ndarray:
        return direction * (self.weight[start:stop] * (self.curvature / (stop - start)))

    def n_terms(self, start: int, stop: int) -> int:
        return stop - start

    def take(self, rows: np.ndarray) -> "PointwiseLoss":
        part = copy(self)
        part.target, part.weight = np.ascontiguousarray(self.target[:, rows]), self.weight[rows]
        part.n_rows = len(rows)
        return part


class SquaredError(PointwiseLoss):
    """(y - f)^2, equation (4)."""

    curvature = 2.0

    @staticmethod
    def sample_value(y, f):
        return (y - f) ** 2

    @staticmethod
    def sample_slope(y, f):
        return 2.0 * (f - y)

    def initial_intercept(self) -> np.ndarray:
        return self.target @ self.weight / self.n_rows


class HuberError(PointwiseLoss):
    """(y - f)^2 up to |y - f| = h, and its tangent beyond, so that a few far targets pull little."""

    curvature = 2.0

    def __init__(self, target, sample_weight=None, h: float = 1.0) -> None:
        super().__init__(target, sample_weight)
        self.h = _check_width(h)

    @property
    def parameters(self) -> tuple[float, ...]:
        return (self.h,)

    @staticmethod
    def sample_value(y, f, h):
        gap = abs(y - f)
        near = min(gap, h)
        return near * (2.0 * gap - near)

    @staticmethod
    def sample_slope(y, f, h):
        return 2.0 * min(max(f - y, -h), h)

    def initial_intercept(self) -> np.ndarray:
        """Return the weighted medians."""
        order = np.argsort(self.target, axis=1, kind="stable")
        below = np.cumsum(self.weight[order], axis=1)
        middle = (below < 0.5 * below[:, -1:]).sum(axis=1)
        return self.target[np.arange(self.n_outputs), order[np.arange(self.n_outputs), middle]]


@njit(cache=True)
def _log1p_exp(x: float) -> float:
    """ln(1 + exp(x)) without overflow."""
    return max(x, 0.0) + np.log1p(np.exp(-abs(x)))


@njit(cache=True)
def _sigmoid(x: float) -> float:
    """1 / (1 + exp(-x)) without overflow."""
    e = np.exp(-abs(x))
    return (1.0 if x > 0 else e) / (1.0 + e)


class Logistic(PointwiseLoss):
    """ln(1 + exp(-y f)), equation (6)."""

    curvature = 0.25

    @staticmethod
    def sample_value(y, f):
        return _log1p_exp(-y * f)

    @staticmethod
    def sample_slope(y, f):
        return -y * _sigmoid(-y * f)


class HuberHinge(PointwiseLoss):
    """The differentiable hinge, equation (7), quadratic where |1 - y f| <= h."""

    def __init__(self, target, sample_weight=None, h: float = 0.5) -> None:
        super().__init__(target, sample_weight)
        self.h = _check_width(h)

    @property
    def parameters(self) -> tuple[float, ...]:
        return (self.h,)

    @property
    def curvature(self) -> float:  # type: ignore[override]
        return 1 / (2 * self.h)

    @staticmethod
    def sample_value(y, f, h):
        margin = y * f
        if margin < 1.0 - h:
            return 1.0 - margin
        return max(1.0 + h - margin, 0.0) ** 2 / (4.0 * h)

    @staticmethod
    def sample_slope(y, f, h):
        return y * min(max((y * f - 1.0 - h) / (2.0 * h), -1.0), 0.0)


class Lorenz(PointwiseLoss):
    """ln(1 + (1 - y f)^2) below the margin one, zero above it, equation (8).

    Not convex: an example on the wrong side weighs less the farther it is, which makes the loss
    robust to wrong labels.
    """

    curvature = 2.0

    @staticmethod
    def sample_value(y, f):
        return np.log1p(min(y * f - 1.0, 0.0) ** 2)

    @staticmethod
    def sample_slope(y, f):
        gap = min(y * f - 1.0, 0.0)
        return 2.0 * y * gap / (1.0 + gap * gap)


LOSSES: dict[str, type[PointwiseLoss]] = {
    "squared": SquaredError,
    "huber_error": HuberError,
    "logistic": Logistic,
    "huber": HuberHinge,
    "lorenz": Lorenz,
}
"""Losses over samples by their names."""

VALUE_LOSSES = ("squared", "huber_error")
LABEL_LOSSES = ("lorenz", "logistic", "huber")


def find_loss(loss: str | Callable[..., Loss], names=tuple(LOSSES)) -> Callable[..., Loss]:
    """Return what makes a loss of targets and weights.

    Parameters
    ----------
    loss : str or callable
        A name, or a class of losses, or anything else that makes a loss of targets and weights, such as
        ``functools.partial(HuberHinge, h=0.1)``.
    names : iterable of str
        Those that make sense for the targets.
    """
    if isinstance(loss, str) and loss in names:
        return LOSSES[loss]
    if callable(loss):
        return loss
    raise ParameterError(f"loss must be one of {', '.join(names)} or a class of losses, got {loss!r}")


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

    def n_terms(self, start: int, stop: int) -> int:
        first, last = self._pair_range(start, stop)
        return last - first

    def take(self, rows: np.ndarray) -> "PairwiseLogistic":
        """Return the loss of the pairs among these consecutive rows."""
        start, stop = int(rows[0]), int(rows[-1]) + 1
        first, last = self._pair_range(start, stop)
        part = copy(self)
        part.n_rows = stop - start
        part.pairs, part.r = self.pairs[first:last] - start, self.r[first:last]
        part.weight = self.weight[first:last]
        part._first_row = self._first_row[first:last] - start
        return part

    def _pairs_of(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first, last = self._pair_range(start, stop)
        return self.pairs[first:last], self.r[first:last], self.weight[first:last]

    def value(self, response: np.ndarray, start: int, stop: int, n_mean: int | None = None) -> float:
        return _mean_pair_value(response[0], *self._pairs_of(start, stop), start)

    def derivative(
        self, response: np.ndarray, start: int, stop: int, n_mean: int | None = None
    ) -> np.ndarray:
        out = np.zeros_like(response)
        _pair_derivative(response[0], *self._pairs_of(start, stop), start, out[0])
        return out

    def hessian_product(self, direction: np.ndarray, start: int, stop: int) -> np.ndarray:
        product = np.zeros_like(direction)
        pairs, _, weight = self._pairs_of(start, stop)
        _pair_laplacian(direction[0], pairs, weight, start, product[0])
        return product


@njit(cache=True)
def _mean_pair_value(response, pairs, r, weight, start):
    total = 0.0
    for p in range(len(r)):
        gap = response[pairs[p, 0] - start] - response[pairs[p, 1] - start]
        total += weight[p] * (_log1p_exp(gap) - r[p] * gap)
    return total / max(1, len(r))


@njit(cache=True)
def _pair_derivative(response, pairs, r, weight, start, out):
    """Add each pair's slope to `out`, which is zero on entry."""
    for p in range(len(r)):
        i = pairs[p, 0] - start
        j = pairs[p, 1] - start
        push = weight[p] / len(r) * (_sigmoid(response[i] - response[j]) - r[p])
        out[i] += push
        out[j] -= push


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


def _check_width(h: float) -> float:
    if not (np.isfinite(h) and h > 0):
        raise ParameterError(f"h must be a finite number above 0, got {h}")
    return float(h)
