"""From the codes of a table's columns to the basis functions of curves and pairs, and from fits to terms."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from .curve_fit import MOST_COEFFICIENTS, Basis, fit_curves
from .curves import Axis, CurveModel, Term
from .knot_table import PRIOR_ROWS, KnotTable
from .losses import Logistic, Loss, SquaredError

PAIR_BINS = 8  # along each axis of a pair, of a quantity


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
        From the numbers of selected columns to a coded table and their numbers there.
    of_last_run : bool
        Whether only the columns that a run has ended with can be had.
    """

    n_coefficients: int
    most_features: int
    coded: Callable[[np.ndarray], tuple[CodedTable, np.ndarray]]
    of_last_run: bool = False

    def can_fit(self, k: int, loss: Loss) -> bool:
        """Return whether the curves of k columns are fitted exactly."""
        within = k <= self.most_features and k * self.n_coefficients <= MOST_COEFFICIENTS
        return within and type(loss) in (SquaredError, Logistic)


def fit_terms(
    coded: CodedTable, columns: np.ndarray, features: np.ndarray, loss: SquaredError | Logistic
) -> CurveModel:
    """Fit the curves of some columns to each target of the loss; the model calls them `features`."""
    bases = [coded.curve(int(j)) for j in columns]
    axes = [(coded.table.axis(int(j), int(f)),) for j, f in zip(columns, features, strict=True)]
    logistic = isinstance(loss, Logistic)
    fits = [fit_curves(bases, target, coded.weight, logistic=logistic) for target in loss.target]
    terms = []
    for t, of_term in enumerate(axes):
        values = np.stack([fit.values[t] for fit in fits])
        terms.append(_term(of_term, values, fits[0].means[t]))
    return CurveModel(tuple(terms), np.array([fit.intercept for fit in fits]))


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
