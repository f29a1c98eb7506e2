"""Parts of the rows in one process: what it does with them when asked, whoever asks.

A shard is all that a cluster needs on a worker, and with all parts in it, all that one machine needs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from scipy import sparse

from ...features.errors import DataError
from ...features.threads import in_threads
from ..losses import Loss
from ..row_protocol import RowSource
from .design import REASSOCIATE
from .encodings import Encoding
from .parts import Node, TreeSum
from .stored import Store, StoredPart, cut_into_blocks

READ_BYTES = 1 << 24  # of rows that are read at a time


@dataclass(frozen=True)
class PartPlan:
    """Which rows a part is made of.

    Attributes
    ----------
    number : int
    start, stop : int
        Rows of the source.
    rows : ndarray of int64
        Those that take part, counted from `start`, in the part's order.
    positions : ndarray of int64
        Where they stand in the order of all, ascending.
    weight : ndarray of float64
        Of the rows, in the part's order.
    cuts : ndarray of int64
        Where blocks end, from 0 to the number of rows.
    """

    number: int
    start: int
    stop: int
    rows: np.ndarray
    positions: np.ndarray
    weight: np.ndarray
    cuts: np.ndarray


class Shard:
    """Parts of the rows, in the memory or the spool of one process.

    Parameters
    ----------
    n_features : int
    memory_bytes : int
        Of columns that are kept in memory; what is more goes to a spool.
    expected_bytes : int
        See `Store`.
    """

    def __init__(self, n_features: int, memory_bytes: int, expected_bytes: int = 0) -> None:
        self.store = Store(memory_bytes, expected_bytes)
        self._all_columns = np.arange(n_features)
        self._stored: dict[int, StoredPart] = {}  # as they were built
        self._run: dict[int, StoredPart] = {}  # as the run has them now
        self._columns: dict[int, np.ndarray] = {}  # that each part of the run still has

    def look(
        self, source: RowSource, plan: PartPlan, n_sample: int, are_ranges_known: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Look through a part before its values are encoded.

        Returns
        -------
        low, high : ndarray of shape (n_features,), float64
            The smallest and the largest value of each feature.
        sample : ndarray of shape (n_sample at most, n_features)
            Some rows: any, or the first ones if the ranges are known and nothing else need be read.
        weight : ndarray of shape (n_sample at most,), float64
        """
        low, high = np.full(source.n_features, np.inf), np.full(source.n_features, -np.inf)
        place = np.full(plan.stop - plan.start, -1)  # of a row in the part's order
        place[plan.rows] = np.arange(len(plan.rows))
        is_sampled = np.zeros(len(place), dtype=bool)
        is_sampled[(np.sort(plan.rows) if are_ranges_known else plan.rows)[:n_sample]] = True
        stop = (
            plan.start + int(np.flatnonzero(is_sampled).max(initial=-1)) + 1
            if are_ranges_known
            else plan.stop
        )
        sample = [np.empty((0, source.n_features))]
        for first, rows in read_blocks(source, plan.start, stop):
            here = slice(first - plan.start, first - plan.start + len(rows))
            sample.append(rows[is_sampled[here]])
            if (place[here] >= 0).any():
                rows = rows[place[here] >= 0] if (place[here] < 0).any() else rows
                low, high = np.minimum(low, rows.min(axis=0)), np.maximum(high, rows.max(axis=0))
        return low, high, np.concatenate(sample), plan.weight[place[is_sampled]]

    def build(self, source: RowSource, plan: PartPlan, encoding: Encoding):
        """Read a part and store it; return its summary."""
        rows = _read_all(source, plan.start, plan.stop)
        values, own, summary = encoding.encode(rows, plan.rows, plan.weight)
        del rows
        blocks = cut_into_blocks(values, plan.cuts, self.store)
        self._stored[plan.number] = StoredPart(plan.positions, blocks, own)
        return summary

    def begin(self, known: dict[str, np.ndarray], numbers: Sequence[int]) -> None:
        """Begin a run with all features of some parts."""
        for number in numbers:
            self._run[number] = self._stored[number].fitted(known)
            self._columns[number] = self._all_columns

    def bind(self, losses: dict[int, Loss]) -> None:
        """Give parts the loss of their rows."""
        for number, loss in losses.items():
            self._run[number].loss = loss

    def keep(self, columns: np.ndarray) -> None:
        """Forget all features but these, which bear the source's numbers."""
        for number, part in self._run.items():
            self._run[number] = part.kept(np.searchsorted(self._columns[number], columns))
            self._columns[number] = columns

    def value_and_gradient(self, beta, intercept, start: int, stop: int) -> dict[Node, Any]:
        """Return sums over the parts, as far as those that are here fill the tree."""
        return self._sum(lambda part: part.value_and_gradient(beta, intercept, start, stop))

    def value(self, beta, intercept, start: int, stop: int) -> dict[Node, Any]:
        """Return numbers of terms and sums of losses likewise."""
        return self._sum(lambda part: part.value(beta, intercept, start, stop))

    def values(self, number: int, start: int, stop: int) -> tuple[np.ndarray, Any]:
        """Return positions and values of a part's rows among [start, stop) of all."""
        return self._run[number].values(start, stop)

    def column(self, number: int, place: int) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and values of a part's rows in one of its columns, by its place among the kept."""
        part = self._run[number].kept(np.array([place]))
        positions, values = part.values(0, int(part.positions.max(initial=-1)) + 1)
        if values is None:
            return positions, np.empty(0)
        return positions, values.toarray()[:, 0] if sparse.issparse(values) else values[0]

    def _sum(self, term: Callable[[StoredPart], Any]) -> dict[Node, Any]:
        """Add a term of each part along the tree; the parts are gone through side by side."""
        tree = TreeSum()
        numbers = sorted(self._run)
        for number, of_part in zip(numbers, in_threads(lambda n: term(self._run[n]), numbers), strict=True):
            tree.add((0, number), of_part)
        return tree.sums


def read_blocks(source: RowSource, start: int, stop: int):
    """Yield the first row and the rows of every block, all finite."""
    size = max(1, READ_BYTES // (8 * source.n_features))
    for first, rows in source.blocks(start, stop, size):
        if rows.shape[1] != source.n_features or first + rows.shape[0] > stop:
            raise DataError(
                f"{source.name}: {rows.shape[0]} rows from {first} have {rows.shape[1]} values each, "
                f"expected up to {stop - first} of {source.n_features}"
            )
        if not _is_finite(rows.data if sparse.issparse(rows) else rows):
            raise _not_finite(source, first, rows)
        yield first, rows


def _is_finite(values: np.ndarray) -> bool:
    """Whether all values are finite, without a temporary array."""
    flat = values.ravel(order="K") if values.flags.forc else np.ascontiguousarray(values).ravel()
    return bool(_sum_of_nothing(flat) == 0)


@njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def _sum_of_nothing(values):
    """Zero times each value: zero if all are finite."""
    total = values.dtype.type(0)
    nothing = values.dtype.type(0)
    for i in range(len(values)):
        total += values[i] * nothing
    return total


def _not_finite(source: RowSource, first: int, rows) -> DataError:
    dense = rows.toarray() if sparse.issparse(rows) else rows
    i, j = np.argwhere(~np.isfinite(dense))[0]
    column = source.feature_names[j] if source.feature_names else j
    return DataError(
        f"{source.place(first + int(i))}: column {column} is {dense[i, j]}; numbers must be finite"
    )


def _read_all(source: RowSource, start: int, stop: int):
    if start == stop:
        return (sparse.csr_array if source.is_sparse else np.empty)((0, source.n_features))
    blocks = list(read_blocks(source, start, stop)) if source.is_sparse else read_blocks(source, start, stop)
    if source.is_sparse:
        return sparse.vstack([rows for _, rows in blocks], format="csr")
    out: np.ndarray | None = None
    n_read = 0
    for first, rows in blocks:
        if out is None:
            out = np.empty((stop - start, source.n_features), dtype=rows.dtype)
        out[first - start : first - start + len(rows)] = rows
        n_read += len(rows)
    if out is None or n_read < stop - start:
        raise DataError(f"{source.name}: ends before row {stop}")
    return out


class LocalShards:
    """One shard with all parts, in this process.

    It answers what `ShardedDesign` asks of the processes of a cluster.

    Parameters
    ----------
    source : RowSource
    memory_bytes, expected_bytes : int
        See `Shard`.
    """

    def __init__(self, source: RowSource, memory_bytes: int, expected_bytes: int) -> None:
        self.source = source
        self.shard = Shard(source.n_features, memory_bytes, expected_bytes)
        self.told: Callable[[int, int], None] | None = None

    def map_parts(self, method: str, plans: Sequence[PartPlan], *arguments) -> list:
        """Call `look` or `build` of a shard for every part; results in the order of the parts."""
        self._numbers = [plan.number for plan in plans]
        results = []
        for plan in plans:
            results.append(getattr(self.shard, method)(self.source, plan, *arguments))
            if self.told is not None:
                self.told(len(results), len(plans))
        return results

    def begin(self, known: dict[str, np.ndarray]) -> None:
        """Begin a run with all features."""
        self.shard.begin(known, self._numbers)

    def bind(self, losses: dict[int, Loss]) -> None:
        """Give each part the loss of its rows."""
        self.shard.bind(losses)

    def keep(self, columns: np.ndarray) -> None:
        """Forget all features but these."""
        self.shard.keep(columns)

    def sums(self, method: str, *arguments) -> list[dict[Node, Any]]:
        """Call `value` or `value_and_gradient` of every shard."""
        return [getattr(self.shard, method)(*arguments)]

    def values(self, number: int, start: int, stop: int) -> tuple[np.ndarray, Any]:
        """Return positions and values of a part's rows among [start, stop) of all."""
        return self.shard.values(number, start, stop)

    def column(self, number: int, place: int) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and values of a part's rows in one of its columns."""
        return self.shard.column(number, place)
