"""Designs that read or compute their numbers on demand, and keep the survivors in memory.

The working set of an annealing run shrinks fast: at mu = 300 a tenth of the features is left after
seven iterations. So a table larger than memory has to be read only a few times, once a step: from then on
what is left fits a memory budget, is read once more, and stays.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...features.errors import DataError
from ..additive import LinearModel
from .dense import DenseDesign
from .design import Block, Design, ResidentDesign, row_sums
from .row_major import RowMajorBlock, all_finite, standardised_columns

if TYPE_CHECKING:
    from ..losses import Loss

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))

DEFAULT_BUDGET_BYTES = 1 << 30
# Of the budget, what a block may take while it is read: one is in the file's layout, one is made of it.
BLOCK_SHARE = 1 / 16
LEAST_BLOCK_BYTES = 1 << 20  # whatever the budget: blocks of a few rows cost more to ask for than to read
# Survivors are copied now and then, when three quarters of them are gone.
COPIED_SHARE = 1 / 4


class OnDemandDesign(Design):
    """A design whose values are made when asked for, until the survivors fit the memory budget.

    A subclass gives the values of a range of rows for the features still kept (`read_values`), says
    how to forget features (`restrict`), and wraps values into a resident design (`wrap`).

    Parameters
    ----------
    n_rows, n_features : int
    dtype : dtype
        Of the values.
    block_rows : int
        Rows that are made at a time.
    memory_budget : int
        Bytes that the resident survivors may take, with all that is made on the way to them.
    """

    def __init__(self, n_rows: int, n_features: int, dtype, *, block_rows: int, memory_budget: int) -> None:
        self.n_rows = n_rows
        self.n_features = n_features
        self.dtype = np.dtype(dtype)
        self.block_rows = block_rows
        self.memory_budget = memory_budget
        self.resident: ResidentDesign | None = None

    @abstractmethod
    def read_values(self, start: int, stop: int) -> np.ndarray:
        """Return the kept features of the rows [start, stop), shape (n_features, rows)."""

    @abstractmethod
    def restrict(self, indices: np.ndarray) -> None:
        """Forget all features but those at these positions."""

    @abstractmethod
    def wrap(self, values: np.ndarray) -> ResidentDesign:
        """Make a resident design of values as `read_values` returns them."""

    def block(self, start: int, stop: int) -> Block:
        if self.resident is not None:
            return self.resident.block(start, stop)
        if stop - start <= self.block_rows:
            return self.make_block(start, stop)
        return StreamedBlock(self, start, stop)

    def make_block(self, start: int, stop: int) -> Block:
        """Return a block of rows that are made now, all at once."""
        return self.wrap(self.read_values(start, stop)).block(0, stop - start)

    def value_and_gradient(
        self, loss: "Loss", beta: np.ndarray, intercept: np.ndarray, start: int, stop: int
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Make every row once; a loss that cannot be taken apart needs them twice."""
        if self.resident is not None or stop - start <= self.block_rows or not loss.separable:
            return super().value_and_gradient(loss, beta, intercept, start, stop)
        value, gradient, intercept_gradient = 0.0, np.zeros_like(beta), np.zeros_like(intercept)
        for rows in row_ranges(start, stop, self.block_rows):
            block = self.make_block(*rows)
            response = block.response(beta, intercept)
            residual = loss.derivative(response, *rows, stop - start)
            value += loss.value(response, *rows, stop - start)
            gradient += block.gradient(residual)
            intercept_gradient += row_sums(residual)
        return value, gradient, intercept_gradient

    def value(self, loss: "Loss", beta: np.ndarray, intercept: np.ndarray, start: int, stop: int) -> float:
        if self.resident is not None or not loss.separable:
            return super().value(loss, beta, intercept, start, stop)
        ranges = row_ranges(start, stop, self.block_rows)
        responses = ((rows, self.make_block(*rows).response(beta, intercept)) for rows in ranges)
        return sum(loss.value(response, *rows, stop - start) for rows, response in responses)

    def keep(self, indices: np.ndarray) -> None:
        self.n_features = len(indices)
        self.restrict(indices)
        if self.resident is not None:
            self.resident.keep(indices)
        elif (1 + COPIED_SHARE) * self.n_features * self.n_rows * self.dtype.itemsize <= self.memory_budget:
            self.resident = self.wrap(self._read_all())

    def _read_all(self) -> np.ndarray:
        values = np.empty((self.n_features, self.n_rows), dtype=self.dtype)
        for start, stop in row_ranges(0, self.n_rows, self.block_rows):
            values[:, start:stop] = self.read_values(start, stop)
        return values


def row_ranges(start: int, stop: int, size: int) -> list[tuple[int, int]]:
    """Cut [start, stop) into ranges of at most `size` rows."""
    return [(first, min(first + size, stop)) for first in range(start, stop, size)]


class StreamedBlock:
    """Rows that are too many to hold at once: they are made again for every response and gradient."""

    def __init__(self, design: OnDemandDesign, start: int, stop: int) -> None:
        self.design = design
        self.start = start
        self.ranges = row_ranges(start, stop, design.block_rows)

    def response(self, beta: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        parts = [self.design.block(*rows).response(beta, intercept) for rows in self.ranges]
        return np.concatenate(parts, axis=1)

    def gradient(self, residual: np.ndarray) -> np.ndarray:
        total = np.zeros((len(residual), self.design.n_features, self.design.n_coefficients))
        for first, last in self.ranges:
            part = np.ascontiguousarray(residual[:, first - self.start : last - self.start])
            total += self.design.block(first, last).gradient(part)
        return total


class BlockDesign(OnDemandDesign):
    """A dense matrix that a callable yields in blocks: a file, a database, a generator.

    Parameters
    ----------
    read : callable
        `read(start, stop, columns)` returns the rows [start, stop) of the columns `columns` (ascending
        int64), an array of shape (stop - start, len(columns)). Called again for the same rows, it
        must return the same numbers.
    n_rows, n_features : int
    center, scale : ndarray of shape (n_features,), optional
        Subtracted from and divided into the values; see `column_moments`.
    dtype : dtype
        float32 (the default) or float64, of the survivors; rows are used in their own, if it is one of these.
    block_rows, memory_budget : int
        See `OnDemandDesign`; fewer rows are read at a time where so many would not fit the budget.
    """

    n_coefficients = 1

    def __init__(
        self,
        read: Callable[[int, int, np.ndarray], np.ndarray],
        n_rows: int,
        n_features: int,
        *,
        center: np.ndarray | None = None,
        scale: np.ndarray | None = None,
        dtype=np.float32,
        block_rows: int = 4096,
        memory_budget: int = DEFAULT_BUDGET_BYTES,
    ) -> None:
        super().__init__(n_rows, n_features, dtype, block_rows=block_rows, memory_budget=memory_budget)
        self._most_block_rows = block_rows
        self._fit_blocks()
        self._read = read
        self._columns = np.arange(n_features)
        self._center = np.zeros(n_features) if center is None else np.asarray(center, dtype=np.float64)
        self._scale = np.ones(n_features) if scale is None else np.asarray(scale, dtype=np.float64)

    def read_values(self, start: int, stop: int) -> np.ndarray:
        rows = self._read_rows(start, stop)
        return standardised_columns(rows, self._center, self._scale, self.dtype)

    def _fit_blocks(self) -> None:
        """Read as many rows at a time as the budget has room for."""
        block_bytes = max(LEAST_BLOCK_BYTES, int(BLOCK_SHARE * self.memory_budget))
        row_bytes = max(1, self.n_features * np.dtype(np.float64).itemsize)
        self.block_rows = max(1, min(self._most_block_rows, block_bytes // row_bytes))

    def make_block(self, start: int, stop: int) -> RowMajorBlock:
        return RowMajorBlock(self._read_rows(start, stop), self._center, self._scale)

    def _read_rows(self, start: int, stop: int) -> np.ndarray:
        return _read_block(self._read, start, stop, self._columns, self.dtype)

    def to_model(self, kept: np.ndarray, beta: np.ndarray, intercept: np.ndarray) -> LinearModel:
        """Return a model of the numbers as they are read, before they are centred and scaled."""
        return LinearModel.from_standardised(kept, beta[:, :, 0], intercept, self._center, self._scale)

    def restrict(self, indices: np.ndarray) -> None:
        self._columns = self._columns[indices]
        self._fit_blocks()
        self._center = self._center[indices]
        self._scale = self._scale[indices]

    def wrap(self, values: np.ndarray) -> DenseDesign:
        return DenseDesign(values)


def _read_block(read, start: int, stop: int, columns: np.ndarray, dtype=np.float64) -> np.ndarray:
    """Return rows in C order: float32 or float64 as they are, anything else as `dtype`."""
    rows = np.asarray(read(start, stop, columns))
    if rows.shape != (stop - start, len(columns)):
        raise DataError(
            f"the block of rows {start} to {stop} has shape {rows.shape}, "
            f"expected {(stop - start, len(columns))}"
        )
    rows = np.ascontiguousarray(rows, dtype=rows.dtype if rows.dtype in FLOATS else dtype)
    if not all_finite(rows):
        raise DataError(f"the block of rows {start} to {stop} has values that are not finite")
    return rows


def column_moments(
    read: Callable[[int, int, np.ndarray], np.ndarray],
    n_rows: int,
    n_features: int,
    *,
    block_rows: int = 4096,
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of every column, in one pass over the blocks.

    A constant column gets the scale 1. Sums are taken about the first row, which keeps the variance
    accurate where a mean is large.
    """
    columns = np.arange(n_features)
    origin = _read_block(read, 0, 1, columns)[0].astype(np.float64)
    first = np.zeros(n_features)
    second = np.zeros(n_features)
    for start, stop in row_ranges(0, n_rows, block_rows):
        shifted = _read_block(read, start, stop, columns) - origin
        first += shifted.sum(axis=0)
        second += np.einsum("ij,ij->j", shifted, shifted)
    mean = first / n_rows
    deviation = np.sqrt(np.maximum(0.0, second / n_rows - mean**2))
    return origin + mean, np.where(deviation > 0, deviation, 1.0)
