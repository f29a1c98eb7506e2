"""A sum of curves and of surfaces of two features: what annealing yields on tables.

A model is an intercept and a list of terms. A term has one *axis* (a curve of one feature) or two (a surface
over a pair), each with knots of its own, and a value at every knot. Between the knots of a quantity it is
linear, outside of them constant. A category has the value of its knot, and none in between. What is missing,
and a category that no knot names, has a value of its own: the last one along each axis.

    term of one axis     values[o]  = (v_1, ..., v_K, missing)
    term of two axes     values[o]  = [[v_11, ..., v_1L, missing], ..., [missing, ..., missing]]

`CurveModel.curves` is the public description of a model: what exports, plots and explanations are made from.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit

from ..features.errors import DataError
from .additive import AdditiveModel, PiecewiseModel
from .model_files import ModelFile

MOST_TERMS = 1_000_000


@dataclass(frozen=True, eq=False)
class Axis:
    """A feature and the knots along it.

    Attributes
    ----------
    feature : int
        Column of the input.
    knots : ndarray of shape (n_knots,), float64
        Ascending: positions along a quantity, numbers of categories.
    is_category : bool
    """

    feature: int
    knots: np.ndarray
    is_category: bool = False

    def __post_init__(self) -> None:
        ascending = bool((self.knots[1:] > self.knots[:-1]).all())
        if self.knots.ndim != 1 or not len(self.knots) or not np.isfinite(self.knots).all() or not ascending:
            raise DataError(f"the knots of feature {self.feature} must be finite and ascending")

    def __len__(self) -> int:
        """Return the number of knots and the place of what is missing."""
        return len(self.knots) + 1

    def locate(self, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Say between which knots each value lies.

        Parameters
        ----------
        column : ndarray of shape (n_samples,), float

        Returns
        -------
        place : ndarray of shape (n_samples,), int64
            Of the value at the knot below, or of what is missing.
        share : ndarray of shape (n_samples,), float64 in [0, 1)
            That the value at the knot above has; zero at a knot.
        """
        place, part = np.empty(len(column), dtype=np.int64), np.zeros(len(column))
        values = np.ascontiguousarray(column, dtype=np.float64)
        (_locate_categories if self.is_category else _locate)(values, self.knots, place, part)
        return place, part


@dataclass(frozen=True, eq=False)
class Term:
    """A curve, or a surface over two features.

    Attributes
    ----------
    axes : tuple of Axis
        One or two.
    values : ndarray of shape (n_outputs, n_knots + 1) or (n_outputs, n_knots + 1, n_knots + 1), float64
        Responses at the knots; the last ones are for missing values.
    weights : ndarray of shape values.shape[1:], float64
        Share of the training rows at each knot (between two knots, each has a share of a row): where the data
        are. Their sum is one.
    """

    axes: tuple[Axis, ...]
    values: np.ndarray
    weights: np.ndarray

    def __post_init__(self) -> None:
        shape = tuple(len(axis) for axis in self.axes)
        if len(self.axes) not in (1, 2) or self.values.shape[1:] != shape or self.weights.shape != shape:
            raise DataError(
                f"a term of {shape} knots has values of shape {self.values.shape} and weights of "
                f"{self.weights.shape}"
            )
        if not (np.isfinite(self.values).all() and np.isfinite(self.weights).all()):
            raise DataError(f"the term of the features {self.features} has values that are not finite")

    @property
    def features(self) -> tuple[int, ...]:
        """Columns of the input, ascending."""
        return tuple(axis.feature for axis in self.axes)

    def respond(self, X: np.ndarray) -> np.ndarray:
        """Return the term for each row, shape (n_outputs, n_samples)."""
        places = [axis.locate(X[:, axis.feature]) for axis in self.axes]
        out = np.empty((len(self.values), len(X)))
        for values, of_output in zip(self.values, out, strict=True):
            if len(places) == 1:
                _look_up(values, *places[0], of_output)
            else:
                _look_up_pair(values, *places[0], *places[1], of_output)
        return out

    def deviation(self) -> np.ndarray:
        """Return the standard deviation over the training rows, about, of each output; shape (n_outputs,)."""
        axes = tuple(range(1, self.values.ndim))
        mean = (self.values * self.weights).sum(axis=axes, keepdims=True)
        return np.sqrt(((self.values - mean) ** 2 * self.weights).sum(axis=axes))


@dataclass(frozen=True, eq=False)
class CurveModel(AdditiveModel):
    """f(x) = intercept + sum of terms of one or two features.

    Attributes
    ----------
    curves : tuple of Term
        Curves by their features, then pairs by theirs.
    intercept : ndarray of shape (n_outputs,), float64
    """

    curves: tuple[Term, ...]
    intercept: np.ndarray

    def __post_init__(self) -> None:
        for term in self.curves:
            if len(term.values) != len(self.intercept):
                raise DataError(f"a term of {len(term.values)} outputs in a model of {len(self.intercept)}")
        if not np.isfinite(self.intercept).all():
            raise DataError("the intercept of a model of curves is not finite")

    @property
    def features(self) -> np.ndarray:  # type: ignore[override]
        """Columns that any term looks at, ascending, int64."""
        return np.unique(np.array([j for term in self.curves for j in term.features], dtype=np.int64))

    def _respond_to_rows(self, X: np.ndarray) -> np.ndarray:
        out = np.repeat(self.intercept[:, None], len(X), axis=1)
        for term in self.curves:
            out += term.respond(X)
        return out.T

    def terms(self, X: np.ndarray) -> np.ndarray:
        """Return each term for each row, shape (n_outputs, n_samples, n_terms)."""
        if not self.curves:
            return np.empty((len(self.intercept), len(X), 0))
        return np.stack([term.respond(X) for term in self.curves], axis=2)

    def rescaled(self, scale: np.ndarray, shift: np.ndarray) -> "CurveModel":
        curves = [
            replace(term, values=term.values * scale.reshape(-1, *[1] * (term.values.ndim - 1)))
            for term in self.curves
        ]
        return CurveModel(tuple(curves), self.intercept * scale + shift)

    def with_features(self, features: np.ndarray) -> "CurveModel":
        number = dict(zip(self.features.tolist(), np.asarray(features).tolist(), strict=True))
        curves = [
            replace(term, axes=tuple(replace(a, feature=number[a.feature]) for a in term.axes))
            for term in self.curves
        ]
        return replace(self, curves=tuple(curves))

    def importance(self) -> np.ndarray:
        """Return each feature's root mean square response over the training rows; pairs count for both."""
        squares = dict.fromkeys(self.features.tolist(), 0.0)
        for term in self.curves:
            for feature in term.features:
                squares[feature] += float(np.sum(term.deviation() ** 2))
        return np.sqrt(np.array(list(squares.values())))

    def to_arrays(self, prefix: str = "") -> dict[str, np.ndarray]:
        axes = [axis for term in self.curves for axis in term.axes]
        arrays = {
            "term_axes": np.array([len(term.axes) for term in self.curves], dtype=np.int64),
            "axis_features": np.array([axis.feature for axis in axes], dtype=np.int64),
            "axis_knots": np.array([len(axis.knots) for axis in axes], dtype=np.int64),
            "axis_kinds": np.array([axis.is_category for axis in axes], dtype=bool),
            "knots": _joined([axis.knots for axis in axes]),
            "term_values": _joined([term.values.ravel() for term in self.curves]),
            "term_weights": _joined([term.weights.ravel() for term in self.curves]),
            "intercept": self.intercept,
        }
        return {prefix + name: array for name, array in arrays.items()}

    @classmethod
    def from_arrays(cls, file: ModelFile, prefix: str = "", *, n_features: int) -> "CurveModel":
        """Read what `to_arrays` wrote, of a table of `n_features` columns, with all checks."""

        def array(name: str, dtype: Any, length: int | None = None) -> np.ndarray:
            return file.array(prefix + name, dtype=dtype, shape=(length,))

        intercept = array("intercept", np.float64)
        n_axes = array("term_axes", np.int64)
        if len(intercept) == 0 or len(n_axes) > MOST_TERMS or not np.isin(n_axes, (1, 2)).all():
            raise DataError("model file: a term has one feature or two, a model at least one output")
        total = int(n_axes.sum())
        features = array("axis_features", np.int64, total)
        sizes, kinds = array("axis_knots", np.int64, total), array("axis_kinds", bool, total)
        if ((features < 0) | (features >= n_features)).any():
            raise DataError(f"model file: features must be numbers from 0 to {n_features - 1}")
        knots = array("knots", np.float64)
        if (sizes < 1).any() or (sizes > len(knots)).any() or int(sizes.sum()) != len(knots):
            raise DataError("model file: the numbers of knots do not fit the knots")
        ends = np.concatenate([[0], np.cumsum(sizes)])
        axes = [
            Axis(int(j), knots[first:last], bool(kind))
            for j, kind, (first, last) in zip(features, kinds, pairwise(ends.tolist()), strict=True)
        ]
        values, weights = array("term_values", np.float64), array("term_weights", np.float64)
        return cls(tuple(_terms_of(n_axes, axes, values, weights, len(intercept))), intercept)


def curves_of(model: PiecewiseModel | CurveModel) -> CurveModel:
    """Return a model as curves; of one with equally spaced knots it is not known where the rows were."""
    if isinstance(model, CurveModel):
        return model
    terms = []
    for j, knots in enumerate(model.knots()):
        distinct = np.concatenate([[True], knots[1:] > knots[:-1]])
        values = np.column_stack([model.values[:, j, distinct], np.zeros(len(model.intercept))])
        weights = np.append(np.full(distinct.sum(), 1 / distinct.sum()), 0.0)
        terms.append(Term((Axis(int(model.features[j]), knots[distinct]),), values.astype(float), weights))
    return CurveModel(tuple(terms), model.intercept)


def knot_arrays(model: CurveModel) -> tuple[np.ndarray, np.ndarray]:
    """Return knots and values of the curves of one feature, filled up with NaN where one has fewer.

    Returns
    -------
    knots : ndarray of shape (n_curves, most knots), float64
    values : ndarray of shape (n_outputs, n_curves, most knots), float64
        Without those for missing values.
    """
    curves = [term for term in model.curves if len(term.axes) == 1]
    most = max((len(term.axes[0].knots) for term in curves), default=0)
    knots = np.full((len(curves), most), np.nan)
    values = np.full((len(model.intercept), len(curves), most), np.nan)
    for j, term in enumerate(curves):
        n = len(term.axes[0].knots)
        knots[j, :n], values[:, j, :n] = term.axes[0].knots, term.values[:, :-1]
    return knots, values


def _terms_of(n_axes, axes: list[Axis], values, weights, n_outputs: int) -> list[Term]:
    """Cut the arrays of a file into the values and weights of each term."""
    grouped, first = [], 0
    for n in n_axes.tolist():
        grouped.append(tuple(axes[first : first + n]))
        first += n
    shapes = [tuple(len(axis) for axis in of_term) for of_term in grouped]
    ends = np.concatenate([[0], np.cumsum([int(np.prod(shape)) for shape in shapes], dtype=np.int64)])
    if len(weights) != ends[-1] or len(values) != n_outputs * ends[-1]:
        raise DataError("model file: the values of the terms do not fit their knots")
    return [
        Term(
            of_term,
            values[n_outputs * start : n_outputs * stop].reshape(n_outputs, *shape),
            weights[start:stop].reshape(shape),
        )
        for of_term, shape, (start, stop) in zip(grouped, shapes, pairwise(ends.tolist()), strict=True)
    ]


def _joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(arrays) if arrays else np.empty(0)


@njit(cache=True, nogil=True)
def _locate(values, knots, place, share):
    """Find each value's knot from below, by bisection; NaN is missing."""
    last = len(knots) - 1
    for i in range(len(values)):
        x = values[i]
        if np.isnan(x):
            place[i] = last + 1
        elif x >= knots[last]:
            place[i] = last
        elif x <= knots[0]:
            place[i] = 0
        else:
            low, high = 0, last
            while high - low > 1:
                middle = (low + high) // 2
                if knots[middle] <= x:
                    low = middle
                else:
                    high = middle
            place[i] = low
            # Half of everything: the difference of two huge numbers would overflow.
            share[i] = (0.5 * x - 0.5 * knots[low]) / (0.5 * knots[high] - 0.5 * knots[low])


@njit(cache=True, nogil=True)
def _locate_categories(values, knots, place, share):
    """Find each value among the knots; any other is missing."""
    for i in range(len(values)):
        found = np.searchsorted(knots, values[i])
        known = found < len(knots) and knots[found] == values[i]
        place[i] = found if known else len(knots)


@njit(cache=True, nogil=True)
def _look_up(values, place, share, out):
    for i in range(len(out)):
        at = values[place[i]]
        out[i] = at if share[i] == 0.0 else at + share[i] * (values[place[i] + 1] - at)


@njit(cache=True, nogil=True)
def _look_up_pair(values, place, share, place2, share2, out):
    for i in range(len(out)):
        a, b = place[i], place2[i]
        next_a = a + 1 if share[i] > 0.0 else a
        next_b = b + 1 if share2[i] > 0.0 else b
        below = values[a, b] + share2[i] * (values[a, next_b] - values[a, b])
        above = values[next_a, b] + share2[i] * (values[next_a, next_b] - values[next_a, b])
        out[i] = below + share[i] * (above - below)
