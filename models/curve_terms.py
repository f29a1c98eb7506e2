"""From the codes of a table's columns to the basis functions of curves and pairs, and from fits to terms."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit
from sklearn.isotonic import isotonic_regression

from .curve_fit import MOST_COEFFICIENTS, Basis, fit_curves
from .curves import Axis, CurveModel, Term
from .knot_table import PRIOR_ROWS, KnotTable
from .losses import Logistic, Loss, SquaredError

PAIR_BINS = 8  # along each axis of a pair, of a quantity
SURFACE_PRIOR = 0.5
"""Rows at zero of each coefficient of a surface: what its curves can say belongs to them."""


@dataclass(frozen=True, eq=False)
class CodedTable:
    """Columns as codes, and what is known of them.

    Attributes
    ----------
    codes : ndarray of shape (n_features, n_rows), uint8
    table : KnotTable
    weight : ndarray of shape (n_rows,), float64
        Their sum is the number of rows that the table counts for.
    monotone : mapping of int to int
        +1 or -1 of columns whose curves may only rise or fall.
    """

    codes: np.ndarray
    table: KnotTable
    weight: np.ndarray
    monotone: Mapping[int, int] = field(default_factory=dict)

    def curve(self, column: int) -> Basis:
        """Return the basis functions of a curve."""
        n = int(self.table.n_knots[column])
        corners, parts = self._corners(column)
        prior = np.zeros(n + 1)
        prior[-1] = PRIOR_ROWS
        roughness = _roughness(n, bool(self.table.is_category[column]))
        sign = self.monotone.get(column, 0)
        codes = self.codes[column]
        return Basis(corners[codes], parts[codes], n + 1, roughness, prior, sign)

    def coarse_axis(self, column: int, feature: int) -> Axis:
        """Return a column's axis with fewer knots, for a surface."""
        axis = self.table.axis(column, feature)
        if axis.is_category or len(axis.knots) <= PAIR_BINS + 1:
            return axis
        places = np.unique(np.round(np.linspace(0, len(axis.knots) - 1, PAIR_BINS + 1)).astype(int))
        return replace(axis, knots=axis.knots[places])

    def surface(self, column: int, other: int) -> Basis:
        """Return the basis functions of a surface over two columns: products of those along its axes."""
        (corners, parts, rough), (corners2, parts2, rough2) = (self._along(j) for j in (column, other))
        n, n2 = len(rough), len(rough2)
        codes, codes2 = self.codes[column], self.codes[other]
        place = corners[codes][:, :, None] * n2 + corners2[codes2][:, None, :]
        part = parts[codes][:, :, None] * parts2[codes2][:, None, :]
        roughness = np.kron(rough, np.eye(n2)) + np.kron(np.eye(n), rough2)
        shape = len(codes), 4
        prior = np.full(n * n2, SURFACE_PRIOR)
        return Basis(place.reshape(shape), part.reshape(shape), n * n2, roughness, prior)

    def _along(self, column: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return, along an axis of a surface, corners and parts of each code, and the roughness."""
        corners, parts = self._corners(column)
        axis, coarse = self.table.axis(column, column), self.coarse_axis(column, column)
        roughness = _roughness(len(coarse.knots), coarse.is_category)
        if len(coarse) == len(axis):
            return corners, parts, roughness
        # A code's value, as its own knots have it, lies between two coarse knots.
        own = np.append(axis.knots, np.nan)
        below, above = own[corners[:, 0]], own[np.minimum(corners[:, 1], len(axis.knots) - 1)]
        values = np.where(parts[:, 1] > 0, below + parts[:, 1] * (above - below), below)
        values[-1] = np.nan
        place, share = coarse.locate(values)
        return np.column_stack([place, place + (share > 0)]), np.column_stack([1 - share, share]), roughness

    def _corners(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients of each code and their parts, both of shape (N_CODES, 2)."""
        n, basis = int(self.table.n_knots[column]), self.table.basis
        codes = np.arange(len(basis.position))
        below = np.searchsorted(basis.first_codes, codes, side="right") - 1
        part = np.column_stack([1 - basis.position, basis.position])
        corners = np.column_stack([below, below + 1])
        # The missing value comes right after the column's own knots.
        missing = basis.n_coefficients - 1
        corners = np.where(corners == missing, n, np.minimum(corners, n - 1))
        corners[-1], part[-1] = n, (0.0, 1.0)
        return corners, part


@dataclass(frozen=True, eq=False)
class CurveSource:
    """Where the codes of selected columns come from.

    Attributes
    ----------
    n_coefficients : int
        Of a curve, at most.
    most_features : int
        That can be had at once.
    coded : callable
        From the numbers of selected columns to a coded table, their numbers there, and the number that each
        column of it has in the input.
    of_last_run : bool
        Whether only the columns that a run has ended with can be had.
    """

    n_coefficients: int
    most_features: int
    coded: Callable[[np.ndarray], tuple[CodedTable, np.ndarray, np.ndarray]]
    of_last_run: bool = False

    def can_fit(self, k: int, loss: Loss) -> bool:
        """Return whether the curves of k columns are fitted exactly."""
        within = k <= self.most_features and k * self.n_coefficients <= MOST_COEFFICIENTS
        return within and type(loss) in (SquaredError, Logistic)


def fit_terms(
    coded: CodedTable,
    columns: np.ndarray,
    pairs: Sequence[tuple[int, int]],
    features: np.ndarray,
    loss: SquaredError | Logistic,
) -> CurveModel:
    """Fit the curves of some columns, and surfaces over pairs, to each target of the loss.

    Column j is called features[j] in the model.
    """
    bases = [coded.curve(int(j)) for j in columns]
    bases += [coded.surface(*pair) for pair in pairs]
    axes: list[tuple[Axis, ...]] = [(coded.table.axis(int(j), int(features[j])),) for j in columns]
    axes += [tuple(coded.coarse_axis(j, int(features[j])) for j in pair) for pair in pairs]
    logistic = isinstance(loss, Logistic)
    fits = [fit_curves(bases, target, coded.weight, logistic=logistic) for target in loss.target]
    terms = []
    for t, of_term in enumerate(axes):
        values = np.stack([fit.values[t] for fit in fits])
        terms.append(_term(of_term, values, fits[0].means[t]))
    return CurveModel(tuple(terms), np.array([fit.intercept for fit in fits]))


def leftover(coded: CodedTable, columns: np.ndarray, loss: SquaredError | Logistic) -> np.ndarray:
    """Return what the curves of some columns leave of each target, shape (n_outputs, n_rows).

    Of labels it is the gradient, as a step of the bound on the curvature would have it.
    """
    bases = [coded.curve(int(j)) for j in columns]
    logistic = isinstance(loss, Logistic)
    out = np.empty((loss.n_outputs, loss.n_rows))
    for o, target in enumerate(loss.target):
        response = fit_curves(bases, target, coded.weight, logistic=logistic).respond(bases)
        out[o] = 4 * ((target > 0) - expit(response)) if logistic else target - response
    return out


def monotone_model(model: CurveModel, monotone: Mapping[int, int] | None) -> CurveModel:
    """Return the model with the curves of these features moved to the nearest that only rise, or fall."""
    curves = []
    for term in model.curves:
        sign = (monotone or {}).get(term.features[0], 0) if len(term.axes) == 1 else 0
        if sign:
            weight = np.maximum(term.weights[:-1], np.finfo(float).tiny)
            values = term.values.copy()
            for of_output in values:
                of_output[:-1] = isotonic_regression(
                    of_output[:-1], sample_weight=weight, increasing=sign > 0
                )
            term = replace(term, values=values)
        curves.append(term)
    return replace(model, curves=tuple(curves))


def _term(axes: tuple[Axis, ...], values: np.ndarray, weights: np.ndarray) -> Term:
    """Make a term of coefficients; what no row had has no say."""
    shape = tuple(len(axis) for axis in axes)
    values, weights = values.reshape(-1, *shape), weights.reshape(shape)
    for dimension, axis in enumerate(axes):
        of_axis = np.moveaxis(values, dimension + 1, -1)
        share = np.moveaxis(weights, dimension, -1).reshape(-1, len(axis)).sum(axis=0)
        unseen = share == 0
        if not axis.is_category:
            unseen[:-1] = False  # a knot of a quantity has neighbours that tell its value
        of_axis[..., unseen] = 0.0
    return Term(axes, values, weights)


def _roughness(n_knots: int, is_category: bool) -> np.ndarray:
    """Return the matrix of what a curve is penalised for, with nothing for its missing value."""
    out = np.zeros((n_knots + 1, n_knots + 1))
    if is_category:
        out[:-1, :-1] = np.eye(n_knots)
    elif n_knots > 2:
        bends = np.diff(np.eye(n_knots), n=2, axis=0)
        out[:-1, :-1] = bends.T @ bends
    return out
