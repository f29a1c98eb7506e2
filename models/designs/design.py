"""What the annealing loop asks of the data, whatever its layout.

A *design* holds n_rows samples of n_features features, each with `n_coefficients` coefficients. It
computes a loss and its gradient over a range of rows, most often from a *block* of these rows, and it
forgets features when told to. Shapes and dtypes, the same everywhere:

- beta: (n_outputs, n_features, n_coefficients), float64, features in the order that the design keeps them;
- intercept: (n_outputs,), float64;
- response, residual: (n_outputs, rows of the block), float64.

A *resident* design has its numbers in memory and is its own source of blocks; a design that reads or
computes its numbers on demand makes a resident block when asked for one (see `streamed.py`).

All kernels give results that do not depend on the number of threads: every output element is summed
by one thread, in one order.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numba import njit

from ..additive import AdditiveModel, LinearModel

if TYPE_CHECKING:
    from ..divergence import DivergenceGuard
    from ..iterate import Iterate
    from ..losses import Loss
    from ..penalties import Penalty

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
        """Return sum over rows of residual times basis, shape (n_outputs, n_features, n_coefficients)."""
        ...


class Design(ABC):
    """Samples by features, of which ever fewer are kept.

    A design has `block`, from which all else follows; or, where its rows are in other processes or on a
    device, it has `value`, `value_and_gradient` and `hessian` of its own, which return sums over the rows
    and never the rows' responses.

    Attributes
    ----------
    n_rows : int
    n_features : int
        Features still kept.
    n_coefficients : int
        Coefficients per feature: 1 for linear responses, B + 1 for piecewise linear ones.
    """

    n_rows: int
    n_features: int
    n_coefficients: int = 1

    def block(self, start: int, stop: int) -> Block:
        """Return the rows [start, stop) as a block that is valid until the next `keep`."""
        raise NotImplementedError(f"{type(self).__name__} hands out no blocks")

    @abstractmethod
    def keep(self, indices: np.ndarray) -> None:
        """Forget all features but those at the ascending positions `indices` (int64)."""

    def value(self, loss: "Loss", beta: np.ndarray, intercept: np.ndarray, start: int, stop: int) -> float:
        """Return the mean loss of the rows [start, stop)."""
        return loss.value(self.block(start, stop).response(beta, intercept), start, stop)

    def value_and_gradient(
        self, loss: "Loss", beta: np.ndarray, intercept: np.ndarray, start: int, stop: int
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the mean loss of the rows [start, stop) and its gradient.

        Returns
        -------
        value : float
        gradient : ndarray of shape (n_outputs, n_features, n_coefficients), float64
        intercept_gradient : ndarray of shape (n_outputs,), float64
        """
        block = self.block(start, stop)
        response = block.response(beta, intercept)
        residual = loss.derivative(response, start, stop)
        return loss.value(response, start, stop), block.gradient(residual), row_sums(residual)

    def hessian(
        self, loss: "Loss", start: int, stop: int
    ) -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Return the loss's bound on the Hessian over the rows [start, stop), as a function.

        It takes a direction and returns its product with the Hessian, both shaped like coefficients and
        intercept; it is valid until the next `keep`.
        """
        block = self.block(start, stop)

        def product(beta: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            bent = loss.hessian_product(block.response(beta, intercept), start, stop)
            return block.gradient(bent), bent.sum(axis=1)

        return product

    def descend(
        self,
        loss: "Loss",
        penalty: "Penalty | None",
        batches: list[tuple[int, int]],
        iterate: "Iterate",
        step: float,
        guard: "DivergenceGuard",
    ) -> tuple[float, float]:
        """Take a gradient step for each batch that none was taken for, as the iterate counts them.

        The last one only if the guard accepts the loss there, which is then a good point.

        Returns
        -------
        value, relative_move : float
            Loss on the last batch before its step, and how far that step's gradient moves a coefficient.
        """
        value, relative_move = np.inf, np.inf
        for start, stop in batches[iterate.n_steps :]:
            point = iterate.beta, iterate.intercept
            value, gradient, intercept_gradient = self.value_and_gradient(loss, *point, start, stop)
            if penalty is not None:
                value += penalty.value(iterate.beta)
                penalty.add_gradient(iterate.beta, gradient)
            if stop == batches[-1][1]:
                if not guard.accepts(value):
                    return value, np.inf
                guard.remember(iterate)
            relative_move = iterate.move(gradient, intercept_gradient, step)
        return value, relative_move

    def products(self, slopes: np.ndarray) -> np.ndarray:
        """Return the sum over all rows of slope times column, (n_outputs, n_features); linear designs only.

        Parameters
        ----------
        slopes : ndarray of shape (n_outputs, n_rows), float64
        """
        return self.block(0, self.n_rows).gradient(slopes)[:, :, 0]

    def to_model(self, kept: np.ndarray, beta: np.ndarray, intercept: np.ndarray) -> AdditiveModel:
        """Return the model of these coefficients, in the units of the design's columns.

        Parameters
        ----------
        kept : ndarray of shape (n_features,), int64
            What the features still kept are called in the model.
        beta, intercept
        """
        if self.n_coefficients != 1:
            raise NotImplementedError(f"{type(self).__name__} does not say what its coefficients mean")
        return LinearModel(kept, beta[:, :, 0], intercept.copy())


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


class KeptColumns:
    """A feature-major array (M, N) of whose columns, contiguous here, ever fewer are kept.

    Dropping a feature only shortens the list of those kept, so that a keep step moves no data; the array
    itself is compacted once three quarters are unused, which copies at most M * N / 3 values in total.

    Attributes
    ----------
    values : ndarray of shape (M, N)
    kept : ndarray of shape (n_features,), int64
        Where the features still kept are among the M.
    """

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.kept = np.arange(len(values))

    def keep(self, indices: np.ndarray) -> None:
        self.kept = self.kept[indices]
        if 4 * len(self.kept) <= len(self.values):
            self.values = self.values[self.kept]
            self.kept = np.arange(len(self.kept))


@njit(cache=True)
def row_sums(residual):
    """Return the sum of each output's residuals, one after another."""
    sums = np.zeros(len(residual))
    for o in range(len(residual)):
        for i in range(residual.shape[1]):
            sums[o] += residual[o, i]
    return sums
