"""How a feature contributes, and with it how a table becomes a design and a run's result a model.

A response is an object, `Linear()` or `Piecewise(n_bins=20)`; estimators also take its name. Another one
(other knots, say) is a class with `takes_sparse`, `batch_rows`, `smoothing` and `prepare`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
import scipy
from numba import njit

from ..features.codes import CODE_MAX
from ..features.errors import ParameterError
from ..features.threads import share
from .additive import AdditiveModel, LinearModel
from .annealing import AnnealingResult
from .columns import (
    LEAST_OF_SPARSE,
    ROUNDING,
    constant_among,
    full_ranges,
    is_constant,
    trimmed_ranges,
    usable_scale,
)
from .curve_pairs import choose_pairs
from .curve_penalty import CurvePenalty
from .curve_terms import CodedTable, CurveSource, fit_terms, leftover, monotone_model
from .curves import CurveModel
from .designs import BinnedDesign, DenseDesign, Design, SparseDesign, knot_means
from .designs.design import REASSOCIATE, TASK_VISITS
from .knot_table import EvenTable, KnotTable, knots_of, rows_counted
from .knots import MOST_KNOTS
from .losses import Logistic, Loss, SquaredError
from .model_kinds import Model
from .penalties import Penalty, SecondDifference

TILE_COLUMNS = 64  # columns transposed together: their lines stay in the first-level cache
DEFAULT_SMOOTHING = SecondDifference(strength=1e-4, smoothness=1e-3)
RANGES = {"trimmed": trimmed_ranges, "full": full_ranges}
QUANTILES = "quantiles"


@dataclass(frozen=True)
class Prepared:
    """A table made ready for annealing.

    Attributes
    ----------
    order : ndarray of shape (n_samples,), int64
        The table's rows in the order of the design.
    new_design : callable
        Returns a design for one run; the designs share their numbers.
    to_model : callable
        From a run's result to a model in the input's units.
    responses : callable, optional
        Where there is a shorter way to `respond`.
    new_penalty : callable
        From a penalty on responses to one on the coefficients of the design of one run.
    curves : CurveSource, optional
        What curves are fitted to, where their knots are at quantiles.
    """

    order: np.ndarray
    new_design: Callable[[], Design]
    to_model: Callable[[AnnealingResult], Model]
    responses: Callable[[Model, AnnealingResult, Any], np.ndarray] | None = None
    new_penalty: Callable[[Penalty | None], Penalty | None] = lambda penalty: penalty
    curves: CurveSource | None = None

    def fits_exactly(self, sizes: Sequence[int], loss: Loss, penalty: Penalty | None) -> bool:
        """Return whether curves of so many features are fitted at once: annealing need not train them.

        Their smoothing is found by the fit, unless a penalty is asked for.
        """
        if self.curves is None or penalty is not DEFAULT_SMOOTHING:
            return False
        return all(self.curves.can_fit(k, loss) for k in sizes) and (
            not self.curves.of_last_run or len(set(sizes)) == 1
        )

    def fit_curves(self, result: AnnealingResult, loss: Loss, n_pairs: int = 0) -> Model:
        """Return the curves of what a run selected, fitted exactly, and those of the best pairs."""
        assert self.curves is not None
        assert isinstance(loss, SquaredError | Logistic)
        coded, columns, features = self.curves.coded(result.kept)
        pairs: list[tuple[int, int]] = []
        if n_pairs:
            order = np.argsort(result.ranking[features], kind="stable")
            left_over = leftover(coded, columns, loss)
            pairs = choose_pairs(coded, left_over, n_pairs, order)
            if len(pairs) < n_pairs:
                raise ParameterError(f"n_pairs = {n_pairs}: only {len(pairs)} pairs of columns can be one")
        return fit_terms(coded, columns, pairs, features, loss)

    def respond(self, model: Model, result: AnnealingResult, X) -> np.ndarray:
        """Return f for each row of the table X itself, shape (n_samples, n_outputs)."""
        return model.respond(X) if self.responses is None else self.responses(model, result, X)


class Response(ABC):
    """How a feature contributes to the response.

    Attributes
    ----------
    name : str
        Its short form.
    takes_sparse : bool
    batch_rows : int
        Rows in a batch, where nothing else is asked for.
    smoothing : Penalty or None
        Penalty, where nothing else is asked for.
    """

    name: str
    takes_sparse: bool
    batch_rows: int
    smoothing: Penalty | None = None

    @abstractmethod
    def prepare(self, X, weight: np.ndarray, order: np.ndarray) -> Prepared:
        """Make a table ready for annealing.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features), float32 or float64
        weight : ndarray of shape (n_samples,), positive
        order : ndarray of shape (n_samples,), int64
            The rows' order in the design.
        """


@dataclass(frozen=True)
class Linear(Response):
    """A multiple of the standardised feature; sparse tables are scaled, not centred."""

    name = "linear"
    takes_sparse = True
    batch_rows = 250

    def prepare(self, X, weight: np.ndarray, order: np.ndarray) -> Prepared:
        return (_prepare_sparse if scipy.sparse.issparse(X) else _prepare_dense)(X, weight, order)


@dataclass(frozen=True)
class Piecewise(Response):
    """A piecewise linear function (section 2.5.1).

    Parameters
    ----------
    n_bins : int
        Bins of each function, from 1 to 255.
    smoothing : Penalty or None
        Used where the estimator's `penalty` is "auto". By default it serves the selection only, and the
        curves that are left are fitted anew, as smooth as the rows say (see `curve_fit.py`): for the squared
        error and the logistic loss, with knots at quantiles, up to 1500 coefficients.
    ranges : {"quantiles", "trimmed", "full"}
        Where the knots are. "quantiles": where the values are, so that neither one huge value nor a skew
        takes bins from the others; a column of few values has a knot at each (see `knot_table.py`). Only
        these have a place for missing values and categories. The others are equally spaced: "full" from the
        least to the greatest training value, as in the paper; "trimmed" leaves out what is far from nine
        tenths of the values (see `columns.trimmed_ranges`). Values outside clamp.
    categories : mapping of int to int, optional
        Columns of categories and how many each has, as numbers from 0; estimators know them from their
        tables.
    monotone : mapping of int to int, optional
        +1 or -1 of columns whose functions may only rise or fall.

    Examples
    --------
    >>> import numpy as np
    >>> from annealed.models import FSARegressor, Piecewise
    >>> X = np.random.default_rng(0).standard_normal((300, 20))
    >>> model = FSARegressor(k=1, response=Piecewise(n_bins=4)).fit(X, np.abs(X[:, 7]))
    >>> model.knots_.shape, model.get_support(indices=True)
    ((1, 5), array([7]))
    """

    n_bins: int = 20
    smoothing: Penalty | None = DEFAULT_SMOOTHING
    ranges: str = QUANTILES

    categories: Mapping[int, int] | None = None
    monotone: Mapping[int, int] | None = None

    name = "piecewise"
    takes_sparse = False
    batch_rows = 1000  # one table per feature and batch is built, which wants more rows

    def __post_init__(self) -> None:
        if not isinstance(self.n_bins, Integral) or not 1 <= self.n_bins <= CODE_MAX:
            raise ParameterError(f"n_bins must be an integer from 1 to {CODE_MAX}, got {self.n_bins!r}")
        if self.ranges not in (QUANTILES, *RANGES):
            raise ParameterError(f"ranges must be one of {(QUANTILES, *RANGES)}, got {self.ranges!r}")
        if self.ranges == QUANTILES and self.n_bins >= MOST_KNOTS:
            raise ParameterError(f"n_bins must be at most {MOST_KNOTS - 1} at quantiles, got {self.n_bins}")

    def prepare(self, X, weight: np.ndarray, order: np.ndarray) -> Prepared:
        if scipy.sparse.issparse(X):
            raise ParameterError('response="piecewise" needs a dense X; a sparse X takes response="linear"')
        columns, weight = np.ascontiguousarray(X[order].T), weight[order]
        table: KnotTable | EvenTable
        if self.ranges == QUANTILES:
            table = knots_of(columns, weight, self.n_bins, self.categories)
        else:
            table = EvenTable(*RANGES[self.ranges](columns, weight), self.n_bins)
        codes, basis = table.encode(columns), table.basis
        means = knot_means(codes, basis, weight * (len(weight) / weight.sum()))
        n_counted = rows_counted(len(weight), weight.sum())
        scale = table.scale(means, n_counted)

        def to_model(result: AnnealingResult) -> Model:
            kept = result.kept
            model = table.keep(kept).to_model(
                kept, result.beta, means[kept], result.intercept, None if scale is None else scale[kept]
            )
            return monotone_model(model, self.monotone) if isinstance(model, CurveModel) else model

        def new_penalty(penalty: Penalty | None) -> Penalty | None:
            assert isinstance(table, KnotTable)
            assert scale is not None
            return CurvePenalty(penalty, table, scale, n_counted, self.monotone)

        new_design = partial(BinnedDesign, codes, basis, means, scale)
        if not isinstance(table, KnotTable):
            return Prepared(order, new_design, to_model)
        coded = CodedTable(codes, table, weight * (n_counted / weight.sum()), self.monotone or {})
        curves = CurveSource(
            table.basis.n_coefficients, len(codes), lambda kept: (coded, kept, np.arange(len(codes)))
        )
        return Prepared(order, new_design, to_model, new_penalty=new_penalty, curves=curves)


def _prepare_dense(X: np.ndarray, weight: np.ndarray, order: np.ndarray) -> Prepared:
    columns = np.empty((X.shape[1], X.shape[0]), dtype=X.dtype)
    mean, deviation = np.empty(X.shape[1]), np.empty(X.shape[1])
    rows, portion = np.ascontiguousarray(X), weight[order] / weight.sum()
    share(
        -(-X.shape[1] // TILE_COLUMNS),
        lambda first, last: _standardize(rows, portion, order, first, last, columns, mean, deviation),
        least=TASK_VISITS // (TILE_COLUMNS * len(rows)),
    )
    deviation[constant_among(X, is_constant(deviation, mean))] = 0.0
    scale = usable_scale(deviation, mean)

    def to_model(result: AnnealingResult) -> LinearModel:
        return _in_units(result.model, mean, scale)

    return Prepared(order, lambda: DenseDesign(columns), to_model)


def _prepare_sparse(X, weight: np.ndarray, order: np.ndarray) -> Prepared:
    X = scipy.sparse.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()  # the numbers are the caller's
        X.sum_duplicates()
    portion = weight / weight.sum()
    mean = portion @ X
    deviation = _sparse_deviation(X, portion, mean)
    deviation[constant_among(X, is_constant(deviation, mean))] = 0.0
    scale = usable_scale(deviation, mean, least=LEAST_OF_SPARSE)
    scaled = X[order]
    scaled.data = (scaled.data * (1 / scale)[scaled.indices]).astype(X.dtype)

    def to_model(result: AnnealingResult) -> LinearModel:
        return _in_units(result.model, np.zeros(len(scale)), scale)

    return Prepared(order, lambda: SparseDesign(scaled), to_model)


def _sparse_deviation(X, portion: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Standard deviations of the columns; where they are small beside the means, from the gaps to these."""
    values = X.data.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = scipy.sparse.csr_array((values * values, X.indices, X.indptr), shape=X.shape)
        variance = np.maximum(0.0, portion @ squares - mean**2)
        if (variance < 1e-6 * mean**2).any():  # the difference has lost its digits
            weight = np.repeat(portion, np.diff(X.indptr))
            zeros = np.maximum(0.0, 1 - np.bincount(X.indices, weight, X.shape[1]))
            gaps = (values - mean[X.indices]) ** 2
            exact = np.bincount(X.indices, weight * gaps, X.shape[1]) + zeros * mean**2
            variance = np.where(variance < 1e-6 * mean**2, exact, variance)
        return np.sqrt(variance)


def _in_units(model: AdditiveModel, mean: np.ndarray, scale: np.ndarray) -> LinearModel:
    """Turn a model of standardised columns into one of the table."""
    assert isinstance(model, LinearModel)
    kept = model.features
    mean = np.where(np.isfinite(scale), mean, 0.0)  # what was left out adds nothing
    return LinearModel.from_standardised(kept, model.coef, model.intercept, mean[kept], scale[kept])


@njit(cache=True, fastmath=REASSOCIATE)
def _standardize_column(column, portion):
    """Centre and scale one column in place, a constant one to zero; return its mean and deviation."""
    center = 0.0
    for i in range(len(column)):
        center += portion[i] * column[i]
    variance = 0.0
    for i in range(len(column)):
        gap = column[i] - center
        variance += portion[i] * gap * gap
    deviation = np.sqrt(variance)
    factor = 0.0 if deviation <= ROUNDING * abs(center) else 1.0 / deviation
    for i in range(len(column)):
        column[i] = (column[i] - center) * factor
    return center, deviation


@njit(cache=True, nogil=True)
def _standardize(X, portion, order, first_tile, last_tile, columns, mean, deviation):
    """Fill some tiles of `columns` with the transposed, reordered, centred and scaled table.

    `portion` holds the weights in the new order, of sum one. A constant column becomes zero.
    """
    n, m = X.shape
    for tile in range(first_tile, last_tile):
        first = tile * TILE_COLUMNS
        last = min(first + TILE_COLUMNS, m)
        for i in range(n):
            row = X[order[i]]
            for j in range(first, last):
                columns[j, i] = row[j]
        for j in range(first, last):
            mean[j], deviation[j] = _standardize_column(columns[j], portion)
