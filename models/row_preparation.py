"""From rows that stay on disk to a design within a memory budget, and back to the table's units."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ..features.errors import ParameterError
from .additive import Model
from .annealing import AnnealingResult
from .designs.encodings import CodeEncoding, Encoding, SparseEncoding, StandardEncoding
from .designs.parts import RowParts, TreeSum, divide_rows, number_of_parts, total
from .designs.row_source import RowSource
from .designs.sharded import ShardedDesign, Shards
from .designs.shards import LocalShards, PartPlan
from .memory import divide_memory

LEAST_BLOCK_ROWS = 512  # of a part's blocks; shorter ones cost more to begin than to go through
SMALL_SHARE = 4  # columns that take at most this share of what may be resident need no spool
RAW_BYTES = 8  # of a value as it is read


@dataclass(frozen=True)
class RowSettings:
    """What a fit wants of rows.

    Attributes
    ----------
    response : {"linear", "piecewise"}
    n_bins : int
    n_batches : int
        That an iteration goes through the rows in.
    n_outputs : int
    memory_budget : int
        Bytes.
    """

    response: str
    n_bins: int
    n_batches: int
    n_outputs: int
    memory_budget: int


@dataclass(frozen=True)
class PreparedRows:
    """Rows made ready for annealing.

    Attributes
    ----------
    order : ndarray of int64
        The source's rows in the order of the design; those of weight zero are not there.
    new_design : callable
        Returns a design for one run, after the one before has ended.
    """

    order: np.ndarray
    new_design: Callable[[], ShardedDesign]

    def to_model(self, result: AnnealingResult) -> Model:
        """Return the model of a run's result, in the units of the rows."""
        return result.model  # type: ignore[return-value]


NewShards = Callable[[RowSource, list[PartPlan], int], Shards]


def prepare_rows(
    source: RowSource,
    weight: np.ndarray,
    settings: RowSettings,
    rng: np.random.RandomState,
    new_shards: NewShards | None = None,
) -> PreparedRows:
    """Read rows, store them as columns in parts, and return what an annealing run needs.

    Parameters
    ----------
    source : RowSource
    weight : ndarray of shape (n_rows,), float64
        Rows of weight zero do not take part.
    settings : RowSettings
    rng : RandomState
        It shuffles the rows of each part.
    new_shards : callable, optional
        Given source, plans and the bytes that columns may take in each, makes the processes that hold the
        parts; this process alone by default.
    """
    encoding = _encoding(source, settings)
    row_bytes = source.n_features * (RAW_BYTES + encoding.dtype.itemsize)
    memory = divide_memory(
        settings.memory_budget,
        source.n_rows,
        source.n_features,
        source.n_features * encoding.n_coefficients * settings.n_outputs,
        row_bytes,
    )
    parts = divide_rows(weight > 0, number_of_parts(source.n_rows, row_bytes, memory.part_bytes), rng)
    plans = make_plans(parts, weight, settings.n_batches)
    if new_shards is None:
        column_bytes = parts.n_rows * source.n_features * encoding.dtype.itemsize
        shards: Shards = LocalShards(source, memory.resident_bytes // SMALL_SHARE, column_bytes)
    else:
        shards = new_shards(source, plans, memory.resident_bytes)
    if isinstance(encoding, CodeEncoding):
        low, high = source.ranges() or _ranges(shards, plans)
        encoding = CodeEncoding(low, high, settings.n_bins)
    known = encoding.fit(_sum(shards.map_parts("build", plans, encoding), encoding))

    def new_design() -> ShardedDesign:
        return ShardedDesign(shards, plans, encoding, known, source.n_features, memory.resident_bytes)

    return PreparedRows(parts.order(), new_design)


def make_plans(parts: RowParts, weight: np.ndarray, n_batches: int) -> list[PartPlan]:
    """Return the plan of each part; its blocks end where batches do."""
    n_rows = parts.n_rows
    # All of these or every second, third, ... one: a block should not be too short.
    every = max(1, LEAST_BLOCK_ROWS * len(parts) * n_batches // n_rows)
    batch_ends = np.array([n_rows * b // n_batches for b in range(0, n_batches, every)] + [n_rows])
    plans = []
    for p, (rows, positions) in enumerate(zip(parts.rows, parts.positions, strict=True)):
        start, stop = int(parts.bounds[p]), int(parts.bounds[p + 1])
        cuts = np.searchsorted(positions, batch_ends)
        plans.append(PartPlan(p, start, stop, rows - start, positions, weight[rows], cuts))
    return plans


def _encoding(source: RowSource, settings: RowSettings) -> Encoding:
    if settings.response == "piecewise":
        if source.is_sparse:
            raise ParameterError('response="piecewise" needs dense rows; sparse ones take response="linear"')
        return CodeEncoding(np.empty(0), np.empty(0), settings.n_bins)
    return SparseEncoding(source.n_features) if source.is_sparse else StandardEncoding(source.n_features)


def _ranges(shards: Shards, plans: list[PartPlan]) -> tuple[np.ndarray, np.ndarray]:
    lows, highs = zip(*shards.map_parts("ranges", plans), strict=True)
    return reduce(np.minimum, lows), reduce(np.maximum, highs)


def _sum(summaries: list, encoding: Encoding):
    """Add the summaries of all parts along the tree."""
    tree = TreeSum(encoding.combine)
    for p, summary in enumerate(summaries):
        tree.add((0, p), summary)
    return total([tree.sums])
