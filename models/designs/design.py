"""What the annealing loop asks of the data, whatever its layout.

A *design* holds n_rows samples of n_features features, each feature a block of `block_size`
coefficients. It hands out *blocks* of consecutive rows, which can compute responses and gradients,
and it forgets features when told to. Shapes and dtypes, the same everywhere:

- beta: (n_outputs, n_features, block_size), float64, features in the order that the design keeps them;
- intercept: (n_outputs,), float64;
- response, residual: (n_outputs, rows of the block), float64.

A *resident* design has its numbers in memory and is its own source of blocks; a design that reads or
computes its numbers on demand makes a resident block when asked for one (see `blocks.py`).

All kernels give results that do not depend on the number of threads: every output element is summed
by one thread, in one order.
"""

from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np

# Rows of a response that one thread sums at a time: 4 kB of float64 stay in the first-level cache.
CHUNK_ROWS = 512
# So many (sample, feature) visits are worth a task of their own: waking a thread takes as long as some 10^5.
TASK_VISITS = 1 << 18
# Sums may be reordered into vector lanes; the order is fixed at compile time, not by the threads.
REASSOCIATE = {"reassoc", "contract"}


class Block(Protocol):
    """Consecutive rows of a design."""

    def response(self, beta: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Return intercept + sum over features, shape (n_outputs, rows)."""
        ...

    def gradient(self, residual: np.ndarray) -> np.ndarray:
        """Return sum over rows of residual times basis, shape (n_outputs, n_features, block_size)."""
        ...


class Design(ABC):
    """Samples by features, of which ever fewer are kept.

    Attributes
    ----------
    n_rows : int
    n_features : int
        Features still kept.
    block_size : int
        Coefficients per feature.
    """

    n_rows: int
    n_features: int
    block_size: int = 1

    @abstractmethod
    def block(self, start: int, stop: int) -> Block:
        """Return the rows [start, stop) as a block that is valid until the next `keep`."""

    @abstractmethod
    def keep(self, indices: np.ndarray) -> None:
        """Forget all features but those at the ascending positions `indices` (int64)."""


class RowRange:
    """A block of a resident design: a range of its rows, without a copy."""

    def __init__(self, design: "ResidentDesign", start: int, stop: int) -> None:
        self.design = design
        self.start = start
        self.stop = stop

    def response(self, beta: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        return self.design.response(beta, intercept, self.start, self.stop)

    def gradient(self, residual: np.ndarray) -> np.ndarray:
        return self.design.gradient(residual, self.start, self.stop)


class ResidentDesign(Design):
    """A design whose numbers are in memory: any range of rows responds without a copy."""

    def block(self, start: int, stop: int) -> RowRange:
        return RowRange(self, start, stop)

    @abstractmethod
    def response(self, beta: np.ndarray, intercept: np.ndarray, start: int, stop: int) -> np.ndarray:
        """Return the responses of the rows [start, stop)."""

    @abstractmethod
    def gradient(self, residual: np.ndarray, start: int, stop: int) -> np.ndarray:
        """Return the gradient of the rows [start, stop), given their residuals."""


class FeatureRows:
    """A feature-major array (M, N) whose kept rows shrink.

    Dropping a feature only shortens the list of kept rows, so that a keep step moves no data; the
    array itself is compacted once three quarters are unused, which copies at most M * N / 3 values in
    total.
    """

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.rows = np.arange(len(values))

    def keep(self, indices: np.ndarray) -> None:
        self.rows = self.rows[indices]
        if 4 * len(self.rows) <= len(self.values):
            self.values = self.values[self.rows]
            self.rows = np.arange(len(self.rows))
