"""Knots of a table's columns, placed where their values are, and columns as codes between them.

A quantity has knots at quantiles, so that each bin holds about as many rows; a column of few different values
has a knot at each. A category has a knot for each of its numbers. A code names a knot or a place between two,
in at least one step; what is missing has a code of its own. Knots are spaced equally among the codes wherever
they lie, so that one huge value, or a skew, takes nothing from the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numba import njit

from ..features.codes import encode
from ..features.threads import share
from .additive import PiecewiseModel
from .columns import SAMPLED_ROWS
from .curves import Axis, CurveModel, Term
from .knots import MISSING_CODE, MOST_KNOTS, CodeBasis, centred, even_basis, knot_basis, steps_between

TAIL_BINS = 0.1  # of an inner bin's rows, about, that each of the outer two bins holds
LEAST_BINS_WITH_TAILS = 6
ROWS_A_BIN = 5  # at least: with a knot for every row all columns would explain everything
PRIOR_ROWS = 4.0
"""Rows that every category and missing value is thought to have at the mean response."""
LEAST_SHARE = 0.25  # of the rows of an even bin, that the scale of a bin of a quantity counts with
TASK_VALUES = 1 << 16
ALMOST = 1 - 1e-12  # sums of weights differ by rounding from multiples of one


@dataclass(frozen=True, eq=False)
class KnotTable:
    """Knots of each column.

    Attributes
    ----------
    knots : ndarray of shape (n_features, most knots of any), float64
        Ascending; those beyond a column's number are infinite.
    n_knots : ndarray of shape (n_features,), int64
    is_category : ndarray of shape (n_features,), bool
    """

    knots: np.ndarray
    n_knots: np.ndarray
    is_category: np.ndarray

    @property
    def basis(self) -> CodeBasis:
        return knot_basis(self.knots.shape[1])

    def keep(self, indices: np.ndarray) -> "KnotTable":
        """Return the table of some columns; codes keep their meaning."""
        return KnotTable(self.knots[indices], self.n_knots[indices], self.is_category[indices])

    def varies(self, means: np.ndarray) -> np.ndarray:
        """Return which columns have more than one value, by the share of the rows at each knot."""
        return np.count_nonzero(means, axis=1) > 1

    def scale(self, means: np.ndarray, n_rows: float) -> np.ndarray:
        """Return what the basis functions are multiplied by, for a mean square of about one.

        Parameters
        ----------
        means : ndarray of shape (n_features, n_coefficients), float64
            Of the basis functions: the share of the rows at each knot.
        n_rows : float
        """
        least = np.where(self.is_category | (self.n_knots <= 2), 0.0, LEAST_SHARE / self.n_knots)
        least = np.repeat(least[:, None], means.shape[1], axis=1)
        least[:, -1] = 0.0
        return 1 / np.sqrt(np.maximum(means, least) + PRIOR_ROWS / n_rows)

    def to_model(self, features, beta, means, intercept, scale) -> CurveModel:
        """Return the model of these coefficients.

        Parameters
        ----------
        features : ndarray of shape (n_features,), int64
            What the columns are called in the model.
        beta : ndarray of shape (n_outputs, n_features, n_coefficients), float64
        means, scale : ndarray of shape (n_features, n_coefficients), float64
        intercept : ndarray of shape (n_outputs,), float64
        """
        values = centred(beta * scale, means)
        # What no row had has no say. (A knot of a quantity has neighbours that tell its value.)
        unseen = (means == 0) & (
            self.is_category[:, None] | (np.arange(means.shape[1]) == means.shape[1] - 1)
        )
        values[:, unseen] = 0.0
        terms = [
            Term((self.axis(j, feature),), self.own_values(j, values[:, j]), self.own_values(j, means[j]))
            for j, feature in enumerate(features)
        ]
        return CurveModel(tuple(terms), intercept.copy())

    def axis(self, position: int, feature: int) -> Axis:
        """Return the knots of the column at a position as the axis of a term."""
        knots = self.knots[position, : self.n_knots[position]]
        return Axis(int(feature), knots, bool(self.is_category[position]))

    def own_values(self, position: int, values: np.ndarray) -> np.ndarray:
        """Return the values (..., n_coefficients) at the column's own knots, and the missing one."""
        return np.concatenate([values[..., : self.n_knots[position]], values[..., -1:]], axis=-1)

    def encode(self, columns: np.ndarray) -> np.ndarray:
        """Turn columns (n_features, n_rows) into codes of that shape, uint8."""
        codes = np.empty(columns.shape, dtype=np.uint8)
        columns = np.ascontiguousarray(columns)
        step = steps_between(self.knots.shape[1])
        share(
            len(columns),
            lambda first, last: _encode(
                columns, self.knots, self.n_knots, self.is_category, step, first, last, codes
            ),
            least=TASK_VALUES // max(1, columns.shape[1]),
        )
        return codes


@dataclass(frozen=True, eq=False)
class EvenTable:
    """Equally spaced knots over a range of each column, as in the paper.

    Attributes
    ----------
    low, high : ndarray of shape (n_features,), float64
    n_bins : int
    """

    low: np.ndarray
    high: np.ndarray
    n_bins: int

    @property
    def basis(self) -> CodeBasis:
        return even_basis(self.n_bins)

    def keep(self, indices: np.ndarray) -> "EvenTable":
        return EvenTable(self.low[indices], self.high[indices], self.n_bins)

    def varies(self, means: np.ndarray) -> np.ndarray:
        return self.high > self.low

    def scale(self, means: np.ndarray, n_rows: float) -> None:
        """The basis is the paper's."""

    def to_model(self, features, beta, means, intercept, scale) -> PiecewiseModel:
        return PiecewiseModel.from_basis(features, self.low, self.high, beta, means, intercept.copy())

    def encode(self, columns: np.ndarray) -> np.ndarray:
        return encode(columns, self.low, self.high)


def rows_counted(n_rows: int, total_weight: float) -> float:
    """Return how many rows a table counts for: large weights repeat rows, small ones only balance them."""
    return max(float(n_rows), float(total_weight))


def knots_of(
    columns: np.ndarray, weight: np.ndarray, n_bins: int, categories: Mapping[int, int] | None = None
) -> KnotTable:
    """Choose the knots of the columns of a table in memory; see `place_knots`.

    Of more than 10,000 rows a sample says where quantiles are, and all say what the extremes are.
    """
    step = -(-columns.shape[1] // SAMPLED_ROWS)
    extremes = np.fmin.reduce(columns, axis=1), np.fmax.reduce(columns, axis=1)
    return place_knots(columns[:, ::step].astype(np.float64), weight[::step], n_bins, extremes, categories)


def place_knots(
    sample: np.ndarray,
    weight: np.ndarray,
    n_bins: int,
    extremes: tuple[np.ndarray, np.ndarray],
    categories: Mapping[int, int] | None = None,
) -> KnotTable:
    """Choose the knots of columns by some of their rows.

    Parameters
    ----------
    sample : ndarray of shape (n_features, n_rows), float64
        NaN where a value is missing. Changed.
    weight : ndarray of shape (n_rows,), positive
    n_bins : int
        Bins of a quantity, at most; of few rows there are fewer.
    extremes : pair of ndarray of shape (n_features,), float
        The least and the greatest values of all rows, NaN where there is none: the outer knots.
    categories : mapping of int to int, optional
        Columns of categories, and how many each has: their values are numbers from 0.
    """
    categories = categories or {}
    n_bins = max(1, min(n_bins, int(rows_counted(sample.shape[1], weight.sum()) // ROWS_A_BIN)))
    if np.ptp(weight) == 0:
        sample.sort(axis=1)
        weights = np.broadcast_to(weight, sample.shape)
    else:
        order = np.argsort(sample, axis=1, kind="stable")
        sample, weights = np.take_along_axis(sample, order, axis=1), weight[order]
    most = max([n_bins + 1, *(min(n, MOST_KNOTS) for n in categories.values())])
    knots = np.full((len(sample), most), np.inf)
    n_knots = np.zeros(len(sample), dtype=np.int64)
    _place(sample, weights, n_bins, knots, n_knots)
    for j in np.flatnonzero(np.isfinite(extremes[0])):
        n_knots[j] = _stretch(knots[j], n_knots[j], extremes[0][j], extremes[1][j])
    is_category = np.zeros(len(sample), dtype=bool)
    for column, n in categories.items():
        n_knots[column], is_category[column] = min(n, MOST_KNOTS), True
        knots[column] = np.where(np.arange(most) < n_knots[column], np.arange(most), np.inf)
    return KnotTable(knots, n_knots, is_category)


def _stretch(knots: np.ndarray, n_knots: int, low: float, high: float) -> int:
    """Move the outer knots to the extremes, which a sample may lack; return the number of knots."""
    knots[0] = low
    if n_knots == 1 and high > low:
        n_knots = 2
    knots[n_knots - 1] = high
    return n_knots


@njit(cache=True)
def _place(values, weights, n_bins, knots, n_knots):
    """Place the knots of columns whose values are sorted, missing ones last."""
    for j in range(len(values)):
        n = len(values[j])
        while n > 0 and np.isnan(values[j, n - 1]):
            n -= 1
        if n == 0:
            knots[j, 0] = 0.0
            n_knots[j] = 1
            continue
        n_knots[j] = _distinct(values[j, :n], n_bins + 1, knots[j])
        if n_knots[j] > n_bins + 1:
            knots[j] = np.inf
            n_knots[j] = _quantiles(values[j, :n], weights[j, :n], n_bins, knots[j])


@njit(cache=True)
def _distinct(values, most, knots):
    """Write the different values, if there are at most so many; return their number, or one more."""
    count = 0
    for i in range(len(values)):
        if i == 0 or values[i] > values[i - 1]:
            count += 1
            if count > most:
                return count
            knots[count - 1] = values[i]
    return count


@njit(cache=True)
def _quantiles(values, weights, n_bins, knots):
    """Write at most n_bins + 1 knots: the extremes, the inner ends of the tails, and quantiles between.

    A value with more rows than a bin should have takes one knot, and what remains is shared out anew among
    the others: the next knot is due where the rows since the last one are their part of those that remain.
    """
    total = weights.sum()
    has_tails = n_bins >= LEAST_BINS_WITH_TAILS
    tail = total * TAIL_BINS / n_bins if has_tails else 0.0
    left = n_bins - 1  # knots to place between the extremes; with tails, the last one ends the upper tail
    due = tail if has_tails else total / n_bins
    knots[0] = values[0]
    count = 1
    passed = 0.0
    for i in range(len(values) - 1):
        passed += weights[i]
        if left == 0 or values[i + 1] == values[i] or passed < due * ALMOST:
            continue
        if values[i] > knots[count - 1]:
            knots[count] = values[i]
            count += 1
            left -= 1
        bins = left if has_tails else left + 1
        due = passed + max(0.0, total - tail - passed) / max(1, bins)
    if values[-1] > knots[count - 1]:
        knots[count] = values[-1]
        count += 1
    return count


@njit(cache=True, nogil=True)
def _encode(columns, knots, n_knots, is_category, step, first, last, codes):
    for j in range(first, last):
        own = knots[j, : n_knots[j]]
        top = n_knots[j] - 1
        for i in range(columns.shape[1]):
            x = columns[j, i]
            if np.isnan(x):
                codes[j, i] = MISSING_CODE
            elif is_category[j]:
                known = x >= 0 and x <= top and x == np.floor(x)
                codes[j, i] = int(x) * step if known else MISSING_CODE
            elif x >= own[top]:
                codes[j, i] = top * step
            elif x <= own[0]:
                codes[j, i] = 0
            else:
                low, high = 0, top
                while high - low > 1:
                    middle = (low + high) // 2
                    if own[middle] <= x:
                        low = middle
                    else:
                        high = middle
                # Half of everything: the difference of two huge numbers would overflow.
                part = (0.5 * x - 0.5 * own[low]) / (0.5 * own[high] - 0.5 * own[low])
                codes[j, i] = low * step + int(part * step + 0.5)
