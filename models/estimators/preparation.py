"""From a table to a design, and from a design's coefficients back to the table's units."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy import sparse

from ...features.codes import encode
from ...features.errors import ParameterError
from ...features.threads import share
from ..additive import LinearModel, Model, PiecewiseModel
from ..annealing import AnnealingResult
from ..designs import BinnedDesign, DenseDesign, Design, SparseDesign, knot_means
from ..designs.design import REASSOCIATE, TASK_VISITS

TILE_COLUMNS = 64  # columns transposed together: their lines stay in the first-level cache


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
    """

    order: np.ndarray
    new_design: Callable[[], Design]
    to_model: Callable[[AnnealingResult], Model]


def prepare(X, weight: np.ndarray, order: np.ndarray, response: str, n_bins: int) -> Prepared:
    """Make a table ready for annealing.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features), float32 or float64
    weight : ndarray of shape (n_samples,), positive
    order : ndarray of shape (n_samples,), int64
        The rows' order in the design.
    response : {"linear", "piecewise"}
    n_bins : int
        Bins of a piecewise linear response.
    """
    if response == "piecewise":
        if sparse.issparse(X):
            raise ParameterError('response="piecewise" needs a dense X; a sparse X takes response="linear"')
        return _prepare_binned(X, weight, order, n_bins)
    if sparse.issparse(X):
        return _prepare_sparse(X, weight, order)
    return _prepare_dense(X, weight, order)


def _prepare_dense(X: np.ndarray, weight: np.ndarray, order: np.ndarray) -> Prepared:
    columns = np.empty((X.shape[1], X.shape[0]), dtype=X.dtype)
    mean, scale = np.empty(X.shape[1]), np.empty(X.shape[1])
    rows, portion = np.ascontiguousarray(X), weight[order] / weight.sum()
    share(
        -(-X.shape[1] // TILE_COLUMNS),
        lambda first, last: _standardize(rows, portion, order, first, last, columns, mean, scale),
        least=TASK_VISITS // (TILE_COLUMNS * len(rows)),
    )

    def to_model(result: AnnealingResult) -> LinearModel:
        kept = result.kept
        coef = result.beta[:, :, 0]
        return LinearModel.from_standardised(kept, coef, result.intercept, mean[kept], scale[kept])

    return Prepared(order, lambda: DenseDesign(columns), to_model)


def _prepare_sparse(X, weight: np.ndarray, order: np.ndarray) -> Prepared:
    X = sparse.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()  # the numbers are the caller's
        X.sum_duplicates()
    portion = weight / weight.sum()
    mean = portion @ X
    squares = sparse.csr_array((X.data * X.data, X.indices, X.indptr), shape=X.shape)
    deviation = np.sqrt(np.maximum(0.0, portion @ squares - mean**2))
    scale = np.where(deviation > 1e-12 * np.abs(mean), deviation, 1.0)
    scaled = X[order]
    scaled.data = (scaled.data * (1 / scale)[scaled.indices]).astype(X.dtype)

    def to_model(result: AnnealingResult) -> LinearModel:
        return LinearModel(result.kept, result.beta[:, :, 0] / scale[result.kept], result.intercept)

    return Prepared(order, lambda: SparseDesign(scaled), to_model)


def _prepare_binned(X: np.ndarray, weight: np.ndarray, order: np.ndarray, n_bins: int) -> Prepared:
    low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    codes = encode(np.ascontiguousarray(X[order].T), low, high)
    means = knot_means(codes, n_bins, weight[order] * (len(weight) / weight.sum()))

    def to_model(result: AnnealingResult) -> PiecewiseModel:
        kept = result.kept
        return PiecewiseModel.from_basis(
            kept, low[kept], high[kept], result.beta, means[kept], result.intercept
        )

    return Prepared(order, lambda: BinnedDesign(codes, n_bins, means), to_model)


@njit(cache=True, fastmath=REASSOCIATE)
def _standardize_column(column, portion):
    """Centre and scale one column in place; return its mean and deviation (0 if constant)."""
    center = 0.0
    for i in range(len(column)):
        center += portion[i] * column[i]
    variance = 0.0
    for i in range(len(column)):
        gap = column[i] - center
        variance += portion[i] * gap * gap
    deviation = np.sqrt(variance)
    if deviation <= 1e-12 * abs(center):
        deviation = 0.0
    factor = 1.0 / deviation if deviation > 0 else 0.0
    for i in range(len(column)):
        column[i] = (column[i] - center) * factor
    return center, deviation


@njit(cache=True, nogil=True)
def _standardize(X, portion, order, first_tile, last_tile, columns, mean, scale):
    """Fill some tiles of `columns` with the transposed, reordered, centred and scaled table.

    `portion` holds the weights in the new order, of sum one. A constant column becomes zero, scale 1.
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
            mean[j], deviation = _standardize_column(columns[j], portion)
            scale[j] = deviation if deviation > 0 else 1.0
