"""How rows as they are read become columns as they are kept, and how coefficients fit those.

An encoding turns the rows of one part into values that are stored (`encode`), makes a design of them
(`wrap`), and stands between the coefficients of the run and those of the stored values: `inward` for
coefficients on their way to a design, `outward` for gradients on their way back.

A part is read once, and stored by what is known of it alone. What takes all parts, means and deviations,
comes from the summaries that `encode` returns, and is folded into the coefficients: to a `fitted` encoding
each part looks as if it had been centred and scaled together with all others.
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numba import njit
from scipy import sparse

from ..additive import LinearModel
from ..columns import LEAST_OF_SPARSE, ROUNDING, check_variation, is_constant, usable_scale
from ..knot_table import EvenTable, KnotTable, rows_counted
from ..model_kinds import Model
from .binned import BinnedDesign, knot_means
from .dense import DenseDesign
from .design import REASSOCIATE, ResidentDesign
from .sparse import SparseDesign

TILE_COLUMNS = 64  # columns transposed together: their lines stay in the first-level cache

Summary = tuple[np.ndarray, ...]


class Encoding(Protocol):
    """See the head of this file. Arrays have one entry a feature still kept."""

    @property
    def n_coefficients(self) -> int: ...

    @property
    def dtype(self) -> np.dtype: ...

    def encode(self, rows, order: np.ndarray, weight: np.ndarray) -> tuple[Any, "Encoding", Summary]:
        """Return values to store, the part's own encoding, and its summary.

        Parameters
        ----------
        rows : ndarray or csr_array of shape (n, n_features)
        order : ndarray of shape (n of the part,), int64
            Rows that the part is made of, in its order.
        weight : ndarray of shape (n of the part,)
        """
        ...

    def combine(self, one: Summary, other: Summary) -> Summary:
        """Return the summary of two parts."""
        ...

    def fit(self, summary: Summary) -> dict[str, np.ndarray]:
        """Return what the summary of all parts says, by name; `fitted` takes it."""
        ...

    def fitted(self, known: dict[str, np.ndarray]) -> "Encoding":
        """Return a part's encoding that knows what is known of all parts."""
        ...

    def keep(self, indices: np.ndarray) -> "Encoding": ...

    def wrap(self, values) -> ResidentDesign: ...

    def inward(self, beta: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...

    def outward(self, gradient: np.ndarray, intercept_gradient: np.ndarray) -> np.ndarray: ...

    def to_model(
        self, known: dict[str, np.ndarray], kept: np.ndarray, beta: np.ndarray, intercept: np.ndarray
    ) -> Model:
        """Return the model of these coefficients, in the units of the rows as they are read."""
        ...

    def decode(self, values):
        """Return stored values as all parts understand them, changed in place where that is possible."""
        ...

    def collection(self, n_features: int, n_rows: int):
        """Return a place for the decoded values of rows from all parts."""
        ...

    def collect(self, collection, positions: np.ndarray, values) -> None:
        """Put rows of a part in their places."""
        ...

    def resident(self, collection, known: dict[str, np.ndarray], columns: np.ndarray) -> ResidentDesign:
        """Make a design of a collection that is full; `columns` are the numbers of its features."""
        ...


@dataclass(frozen=True)
class StandardEncoding:
    """Linear responses: float32, centred and scaled by the part's own moments at first.

    A stored value v stands for the standardised value factor * v + shift.
    """

    n_features: int
    mean: np.ndarray | None = None
    scale: np.ndarray | None = None
    factor: np.ndarray | None = None
    shift: np.ndarray | None = None
    n_coefficients: int = 1
    dtype: np.dtype = np.dtype(np.float32)  # noqa: RUF009

    def encode(self, rows, order, weight):
        columns = np.empty((self.n_features, len(order)), dtype=np.float32)
        mean, squares = np.zeros(self.n_features), np.zeros(self.n_features)
        total = weight.sum()
        if len(order):
            _standardize(np.ascontiguousarray(rows), order, weight / total, columns, mean, squares)
        deviation = np.sqrt(squares)
        own = np.where(is_constant(deviation, mean), 1.0, deviation)
        own[~np.isfinite(own)] = np.inf  # too large to be squared: left out once all parts are known
        _divide(columns, own)
        return columns, replace(self, mean=mean, scale=own), (np.array(total), mean, squares * total)

    def combine(self, one, other):
        """Pool weight, mean and sum of squares about the mean (Chan, Golub and LeVeque 1979)."""
        (n, mean, squares), (n2, mean2, squares2) = one, other
        both = n + n2
        if not both > 0:
            return one
        gap = mean2 - mean
        with np.errstate(over="ignore", invalid="ignore"):  # such columns are left out
            return both, mean + gap * (n2 / both), squares + squares2 + gap**2 * (n * n2 / both)

    def fit(self, summary):
        total, mean, squares = summary
        return {"mean": mean, **_scales(np.sqrt(squares / total), mean)}

    def fitted(self, known):
        is_used = np.isfinite(known["scale"])
        with np.errstate(invalid="ignore"):  # inf / inf, of columns that are left out
            factor, shift = self.scale / known["scale"], (self.mean - known["mean"]) / known["scale"]
        return replace(self, factor=np.where(is_used, factor, 0.0), shift=np.where(is_used, shift, 0.0))

    def keep(self, indices):
        return replace(
            self,
            n_features=len(indices),
            mean=self.mean[indices],
            scale=self.scale[indices],
            factor=self.factor[indices],
            shift=self.shift[indices],
        )

    def wrap(self, values):
        return DenseDesign(values)

    def inward(self, beta, intercept):
        # Not a matrix product: its last bits would depend on the threads of a worker's BLAS.
        return beta * self.factor[:, None], intercept + np.einsum("oj,j->o", beta[:, :, 0], self.shift)

    def outward(self, gradient, intercept_gradient):
        gradient *= self.factor[:, None]
        gradient[:, :, 0] += np.outer(intercept_gradient, self.shift)
        return gradient

    def to_model(self, known, kept, beta, intercept):
        mean, scale = known["mean"][kept], known["scale"][kept]
        return LinearModel.from_standardised(kept, beta[:, :, 0], intercept, mean, scale)

    def decode(self, values):
        _rescale(values, self.factor, self.shift)
        return values

    def collection(self, n_features, n_rows):
        return np.empty((n_features, n_rows), dtype=self.dtype)

    def collect(self, collection, positions, values):
        collection[:, positions] = values

    def resident(self, collection, known, columns):
        return DenseDesign(collection)


@dataclass(frozen=True)
class CodeEncoding:
    """Piecewise linear responses: one-byte codes between knots that are known beforehand."""

    table: KnotTable | EvenTable
    means: np.ndarray | None = None
    scale: np.ndarray | None = None
    dtype: np.dtype = np.dtype(np.uint8)  # noqa: RUF009

    @property
    def n_coefficients(self) -> int:
        return self.table.basis.n_coefficients

    def encode(self, rows, order, weight):
        codes = self.table.encode(np.ascontiguousarray(rows[order].T))
        sums = knot_means(codes, self.table.basis, weight * len(weight)) if len(order) else 0.0
        sums = sums + np.zeros((rows.shape[1], self.n_coefficients))
        return codes, self, (weight.sum(), sums, np.array(len(order)))

    def combine(self, one, other):
        return tuple(a + b for a, b in zip(one, other, strict=True))

    def fit(self, summary):
        total, sums, n_rows = summary
        means = sums / total
        check_variation(self.table.varies(means))
        scale = self.table.scale(means, rows_counted(int(n_rows), total))
        return {"means": means} if scale is None else {"means": means, "scale": scale}

    def fitted(self, known):
        return replace(self, means=known["means"], scale=known.get("scale"))

    def keep(self, indices):
        scale = None if self.scale is None else self.scale[indices]
        return replace(self, table=self.table.keep(indices), means=self.means[indices], scale=scale)

    def wrap(self, values):
        # Means and scale are taken care of in `inward` and `outward`, once for all blocks of a part.
        return BinnedDesign(values, self.table.basis, np.zeros((len(values), self.n_coefficients)))

    def inward(self, beta, intercept):
        if self.scale is not None:
            beta = beta * self.scale
        return beta, intercept - np.einsum("ojk,jk->o", beta, self.means)

    def outward(self, gradient, intercept_gradient):
        gradient -= intercept_gradient[:, None, None] * self.means
        if self.scale is not None:
            gradient *= self.scale
        return gradient

    def to_model(self, known, kept, beta, intercept):
        scale = None if "scale" not in known else known["scale"][kept]
        return self.table.keep(kept).to_model(kept, beta, known["means"][kept], intercept, scale)

    def decode(self, values):
        return values

    def collection(self, n_features, n_rows):
        return np.empty((n_features, n_rows), dtype=self.dtype)

    def collect(self, collection, positions, values):
        collection[:, positions] = values

    def resident(self, collection, known, columns):
        scale = None if "scale" not in known else known["scale"][columns]
        return BinnedDesign(collection, self.table.basis, known["means"][columns], scale)


@dataclass(frozen=True)
class SparseEncoding:
    """Linear responses to sparse rows: scaled by the deviation, not centred."""

    n_features: int
    scale: np.ndarray | None = None
    n_coefficients: int = 1
    dtype: np.dtype = np.dtype(np.float32)  # noqa: RUF009

    def encode(self, rows, order, weight):
        rows = sparse.csr_array(rows[order], dtype=np.float32)
        squares = sparse.csr_array((rows.data.astype(np.float64) ** 2, rows.indices, rows.indptr), rows.shape)
        return rows, self, (weight.sum(), weight @ rows, weight @ squares)

    def combine(self, one, other):
        return tuple(a + b for a, b in zip(one, other, strict=True))

    def fit(self, summary):
        total, first, second = summary
        mean = first / total
        deviation = np.sqrt(np.maximum(0.0, second / total - mean**2))
        return _scales(deviation, mean, least=LEAST_OF_SPARSE)

    def fitted(self, known):
        return replace(self, scale=known["scale"])

    def keep(self, indices):
        return replace(self, n_features=len(indices), scale=self.scale[indices])

    def wrap(self, values):
        return SparseDesign(values)

    def inward(self, beta, intercept):
        return beta / self.scale[:, None], intercept

    def outward(self, gradient, intercept_gradient):
        gradient /= self.scale[:, None]
        return gradient

    def to_model(self, known, kept, beta, intercept):
        return LinearModel(kept, beta[:, :, 0] / known["scale"][kept], intercept.copy())

    def decode(self, values):
        values.data = (values.data * (1 / self.scale)[values.indices]).astype(values.dtype)
        return values

    def collection(self, n_features, n_rows):
        return []

    def collect(self, collection, positions, values):
        collection.append((positions, values))

    def resident(self, collection, known, columns):
        rows = sparse.vstack([values for _, values in collection], format="csr")
        return SparseDesign(rows[np.argsort(np.concatenate([positions for positions, _ in collection]))])


def _scales(deviation: np.ndarray, mean: np.ndarray, least: float = ROUNDING) -> dict[str, np.ndarray]:
    """Return what columns are divided by, as for tables in memory, and which vary; an error if none does."""
    varies = ~is_constant(deviation, mean)
    check_variation(varies)
    deviation = np.where(varies, np.where(np.isnan(deviation), np.inf, deviation), 0.0)
    scale = usable_scale(deviation, mean, least=least)
    return {"scale": scale, "varies": varies & np.isfinite(scale)}


@njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def _standardize(rows, order, portion, columns, mean, squares):
    """Fill `columns` with rows minus the mean, transposed, and the moments; `portion` has the sum one."""
    n, m = len(order), rows.shape[1]
    for first in range(0, m, TILE_COLUMNS):
        last = min(first + TILE_COLUMNS, m)
        for i in range(n):
            row = rows[order[i]]
            for j in range(first, last):
                mean[j] += portion[i] * row[j]
        for i in range(n):
            row = rows[order[i]]
            for j in range(first, last):
                columns[j, i] = row[j] - mean[j]
        for j in range(first, last):
            total = 0.0
            column = columns[j]
            for i in range(n):
                total += portion[i] * column[i] * column[i]
            squares[j] = total


@njit(cache=True, nogil=True)
def _divide(columns, scale):
    for j in range(len(scale)):
        factor = 1.0 / scale[j]
        column = columns[j]
        if factor == 0.0:
            column[:] = 0.0
            continue
        for i in range(len(column)):
            column[i] *= factor


@njit(cache=True, nogil=True)
def _rescale(columns, factor, shift):
    for j in range(len(factor)):
        column = columns[j]
        for i in range(len(column)):
            column[i] = factor[j] * column[i] + shift[j]
