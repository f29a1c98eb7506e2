"""Rows in parts, in this process or in several: coefficients go out, sums over the rows come back.

The working set of an annealing run shrinks fast: at mu = 300 a tenth of the features is left after seven
iterations. As soon as the survivors of all parts fit the memory they are gathered into one resident
design, and the rest of the run is as if they had always been there.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ..additive import AdditiveModel
from ..losses import FixedSlopes, Loss
from .binned import BinnedDesign
from .design import Block, Design, ResidentDesign
from .encodings import Encoding
from .parts import Node, total
from .shards import PartPlan


class Shards(Protocol):
    """The processes that hold the parts, seen from the one that holds the coefficients.

    See `LocalShards`, where it is this very process.

    Attributes
    ----------
    told : callable or None
        Told (done, total) as `map_parts` goes on.
    """

    told: Callable[[int, int], None] | None

    def map_parts(self, method: str, plans: Sequence[PartPlan], *arguments) -> list: ...

    def begin(self, known: dict[str, np.ndarray]) -> None: ...

    def bind(self, losses: dict[int, Loss]) -> None: ...

    def keep(self, columns: np.ndarray) -> None: ...

    def sums(self, method: str, *arguments) -> list[dict[Node, Any]]: ...

    def values(self, number: int, start: int, stop: int) -> tuple[np.ndarray, Any]: ...

    def column(self, number: int, place: int) -> tuple[np.ndarray, Any]: ...


class ShardedDesign(Design):
    """A design whose rows are in parts.

    Parameters
    ----------
    shards : Shards
        They have built the parts.
    plans : list of PartPlan
    encoding : Encoding
        By which the parts are encoded.
    known : dict
        What `Encoding.fit` said of all parts.
    n_features : int
    resident_bytes : int
        The survivors are gathered once they take no more than this.

    Attributes
    ----------
    resident : ResidentDesign or None
        The survivors, once they are gathered.
    """

    def __init__(
        self,
        shards: Shards,
        plans: list[PartPlan],
        encoding: Encoding,
        known: dict[str, np.ndarray],
        n_features: int,
        resident_bytes: int,
    ) -> None:
        self.n_rows = sum(len(plan.rows) for plan in plans)
        self.n_features = n_features
        self.n_coefficients = encoding.n_coefficients
        self.resident: ResidentDesign | None = None
        self._shards = shards
        self._plans = plans
        self._encoding = encoding
        self._known = known
        self._columns = np.arange(n_features)
        self._resident_bytes = resident_bytes
        self._loss: Loss | None = None
        shards.begin(known)
        self._gather_if_it_fits()

    def value(self, loss: Loss, beta: np.ndarray, intercept: np.ndarray, start: int, stop: int) -> float:
        if self.resident is not None:
            return self.resident.value(loss, beta, intercept, start, stop)
        self._bind(loss)
        n, value = total(self._shards.sums("value", beta, intercept, start, stop))
        return value / n

    def value_and_gradient(
        self, loss: Loss, beta: np.ndarray, intercept: np.ndarray, start: int, stop: int
    ) -> tuple[float, np.ndarray, np.ndarray]:
        if self.resident is not None:
            return self.resident.value_and_gradient(loss, beta, intercept, start, stop)
        self._bind(loss)
        sums = total(self._shards.sums("value_and_gradient", beta, intercept, start, stop))
        n, value, gradient, intercept_gradient = sums
        return value / n, gradient / n, intercept_gradient / n

    def descend(self, loss, penalty, batches, iterate, step, guard) -> tuple[float, float]:
        design: Design = super() if self.resident is None else self.resident  # type: ignore[assignment]
        return design.descend(loss, penalty, batches, iterate, step, guard)

    def products(self, slopes: np.ndarray) -> np.ndarray:
        if self.resident is not None:
            return self.resident.products(slopes)
        nothing = np.zeros((len(slopes), self.n_features, 1)), np.zeros(len(slopes))
        _, gradient, _ = self.value_and_gradient(FixedSlopes(slopes), *nothing, 0, self.n_rows)
        return self.n_rows * gradient[:, :, 0]

    def column(self, j: int) -> np.ndarray:
        """Return a column of linear responses as all parts understand it, (n_rows,) float64."""
        out = np.empty(self.n_rows)
        if self.resident is not None:
            alone = np.zeros((1, self.n_features, 1))
            alone[0, j] = 1.0
            return self.resident.block(0, self.n_rows).response(alone, np.zeros(1))[0]
        for plan in self._plans:
            positions, values = self._shards.column(plan.number, j)
            if len(positions):
                out[positions] = values
        return out

    @property
    def varies(self) -> np.ndarray:
        """Which of all features vary, and not too much to be used."""
        return self._known["varies"]

    def to_model(self, kept: np.ndarray, beta: np.ndarray, intercept: np.ndarray) -> AdditiveModel:
        """Return the model of these coefficients, in the units of the rows as they are read."""
        return self._encoding.to_model(self._known, kept, beta, intercept)

    def respond(self, kept: np.ndarray, beta: np.ndarray, intercept: np.ndarray) -> np.ndarray | None:
        """Return the responses of all rows, (n_outputs, n_rows), if just these features are gathered."""
        if self.resident is None or not np.array_equal(kept, self._columns):
            return None
        return self.resident.block(0, self.n_rows).response(beta, intercept)

    def kept_codes(self, kept: np.ndarray) -> np.ndarray:
        """Return the codes of all rows, (n_features, n_rows) uint8, once just these features are gathered."""
        assert isinstance(self.resident, BinnedDesign)
        assert np.array_equal(kept, self._columns)
        return self.resident.codes()

    def block(self, start: int, stop: int) -> Block:
        """Return a resident block of a few rows, which are fetched from all parts."""
        if self.resident is not None:
            return self.resident.block(start, stop)
        return self._gathered(start, stop).block(0, stop - start)

    def keep(self, indices: np.ndarray) -> None:
        self.n_features = len(indices)
        self._columns = self._columns[indices]
        if self.resident is not None:
            self.resident.keep(indices)
            return
        self._shards.keep(self._columns)
        self._gather_if_it_fits()

    def _bind(self, loss: Loss) -> None:
        if loss is not self._loss:
            parts = [plan for plan in self._plans if len(plan.rows)]
            self._shards.bind({plan.number: loss.take(plan.positions) for plan in parts})
            self._loss = loss

    def _gather_if_it_fits(self) -> None:
        if self.n_features * self.n_rows * self._encoding.dtype.itemsize <= self._resident_bytes:
            self.resident = self._gathered(0, self.n_rows)

    def _gathered(self, start: int, stop: int) -> ResidentDesign:
        """Return a design of the kept columns of the rows [start, stop)."""
        rows = self._encoding.collection(self.n_features, stop - start)
        for plan in self._plans:
            positions, values = self._shards.values(plan.number, start, stop)
            if len(positions):
                self._encoding.collect(rows, positions - start, values)
        return self._encoding.resident(rows, self._known, self._columns)
