"""From rows that stay on disk to a design within a memory budget, and back to the table's units."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial, reduce
from operator import attrgetter

import numpy as np

from ..features.errors import ParameterError
from .annealing import AnnealingResult
from .columns import SAMPLED_ROWS, trim
from .curve_penalty import CurvePenalty
from .curve_terms import CodedTable, CurveSource, monotone_model
from .designs.encodings import CodeEncoding, Encoding, SparseEncoding, StandardEncoding
from .designs.parts import RowParts, TreeSum, consecutive_parts, divide_rows, number_of_parts, total
from .designs.sharded import ShardedDesign, Shards
from .designs.shards import LocalShards, PartPlan
from .knot_table import EvenTable, KnotTable, place_knots, rows_counted
from .memory import divide_memory
from .model_kinds import Model
from .responses import Linear, Piecewise, Prepared, Response
from .row_protocol import RowSource, respond_to_rows

LEAST_BLOCK_ROWS = 128  # of a part; a block of which half is wanted is read as a whole all the same
SMALL_SHARE = 4  # columns that take at most this share of what may be resident need no spool
SAMPLE_SHARE = 16  # of the budget is for the rows that ranges are taken from
RAW_BYTES = 8  # of a value as it is read


@dataclass(frozen=True)
class RowSettings:
    """What a fit wants of rows.

    Attributes
    ----------
    response : Linear or Piecewise
    n_batches : int
        That an iteration goes through the rows in.
    n_outputs : int
    memory_budget : int
        Bytes.
    """

    response: Response
    n_batches: int
    n_outputs: int
    memory_budget: int


_told: ContextVar[Callable[[int, int], None] | None] = ContextVar("annealed_rows_told", default=None)


@contextmanager
def told_of_parts(report: Callable[[int, int], None]) -> Iterator[None]:
    """Let a function be told (done, total) as parts of the rows are read, within this context."""
    token = _told.set(report)
    try:
        yield
    finally:
        _told.reset(token)


NewShards = Callable[[RowSource, list[PartPlan], int], Shards]


def prepare_rows(
    source: RowSource,
    weight: np.ndarray,
    settings: RowSettings,
    rng: np.random.RandomState | None,
    new_shards: NewShards | None = None,
    part_ends: np.ndarray | None = None,
) -> Prepared:
    """Read rows, store them as columns in parts, and return what an annealing run needs.

    Parameters
    ----------
    source : RowSource
    weight : ndarray of shape (n_rows,), float64
        Rows of weight zero do not take part.
    settings : RowSettings
    rng : RandomState or None
        It shuffles the rows of each part, unless there are `part_ends`.
    new_shards : callable, optional
        Given source, plans and the bytes that columns may take in each, makes the processes that hold the
        parts; this process alone by default.
    part_ends : ndarray of int64, optional
        Where parts may end, from 0 to the number of rows, for a loss of rows that belong together. The rows
        keep their order then.
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
    n_parts = number_of_parts(source.n_rows, row_bytes, memory.part_bytes)
    if part_ends is None:
        assert rng is not None
        parts = divide_rows(weight > 0, n_parts, rng)
    else:
        parts = consecutive_parts(part_ends, n_parts)
    plans = make_plans(parts, weight, settings.n_batches)
    if new_shards is None:
        column_bytes = parts.n_rows * source.n_features * encoding.dtype.itemsize
        shards: Shards = LocalShards(source, memory.resident_bytes // SMALL_SHARE, column_bytes)
    else:
        shards = new_shards(source, plans, memory.resident_bytes)
    shards.told = _told.get()
    if isinstance(settings.response, Piecewise):
        row_limit = settings.memory_budget // (SAMPLE_SHARE * RAW_BYTES * source.n_features)
        encoding = CodeEncoding(_knots(source, shards, plans, settings.response, row_limit))
    known = encoding.fit(_sum(shards.map_parts("build", plans, encoding), encoding))

    order = parts.order()
    designs: list[ShardedDesign] = []  # that of the last run; all of them share the parts

    def new_design() -> ShardedDesign:
        arguments = plans, encoding, known, source.n_features, memory.resident_bytes
        designs[:] = [ShardedDesign(shards, *arguments)]
        return designs[0]

    def respond(model: Model, result: AnnealingResult, rows: RowSource) -> np.ndarray:
        """Return what the gathered survivors give; the rows are read again only if there are others."""
        response = designs[0].respond(result.kept, result.beta, result.intercept)
        if response is None:
            return respond_to_rows(model, rows)
        out = np.zeros((source.n_rows, len(response)))
        out[order] = response.T
        return out

    to_model: Callable = attrgetter("model")  # of a sharded design, in the units of the rows
    if not (isinstance(encoding, CodeEncoding) and isinstance(encoding.table, KnotTable)):
        return Prepared(order, new_design, to_model, respond)
    table, of_rows = encoding.table, weight[order]
    n_counted = rows_counted(len(order), of_rows.sum())

    monotone = getattr(settings.response, "monotone", None) or {}

    def coded(kept: np.ndarray) -> tuple[CodedTable, np.ndarray, np.ndarray]:
        """Return the gathered survivors of the last run."""
        codes = designs[0].kept_codes(kept)
        signs = {place: monotone[j] for place, j in enumerate(kept.tolist()) if j in monotone}
        found = CodedTable(codes, table.keep(kept), of_rows * (n_counted / of_rows.sum()), signs)
        return found, np.arange(len(kept)), kept

    curves = CurveSource(encoding.n_coefficients, memory.resident_bytes // len(order), coded, True)
    new_penalty = partial(
        CurvePenalty, table=table, scale=known["scale"], n_rows=n_counted, monotone=monotone
    )
    return Prepared(
        order,
        new_design,
        lambda result: monotone_model(result.model, monotone),  # type: ignore[arg-type]
        respond,
        new_penalty,
        curves,
    )


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
    if isinstance(settings.response, Piecewise):
        if source.is_sparse:
            raise ParameterError('response="piecewise" needs dense rows; sparse ones take response="linear"')
        return CodeEncoding(
            EvenTable(np.empty(0), np.empty(0), settings.response.n_bins)
        )  # until it is known
    if not isinstance(settings.response, Linear):
        raise ParameterError(
            f"rows block by block take a linear or piecewise response, got {settings.response!r}"
        )
    return SparseEncoding(source.n_features) if source.is_sparse else StandardEncoding(source.n_features)


def _knots(
    source: RowSource, shards: Shards, plans: list[PartPlan], response: Piecewise, row_limit: int
) -> KnotTable | EvenTable:
    """Place the knots that the response wants, by what the source knows and a look at the rows."""
    known = source.ranges()
    if known is not None and response.ranges == "full":
        return EvenTable(*known, response.n_bins)
    n_sample = 0 if response.ranges == "full" else -(-min(SAMPLED_ROWS, max(1, row_limit)) // len(plans))
    lows, highs, samples, weights = zip(
        *shards.map_parts("look", plans, n_sample, known is not None), strict=True
    )
    low, high = known or (reduce(np.minimum, lows), reduce(np.maximum, highs))
    if response.ranges == "full":
        return EvenTable(low, high, response.n_bins)
    sample, weight = np.ascontiguousarray(np.concatenate(samples).T), np.concatenate(weights)
    if response.ranges == "trimmed":
        return EvenTable(*trim(low, high, sample, weight), response.n_bins)
    return place_knots(sample.astype(np.float64), weight, response.n_bins, (low, high))


def _sum(summaries: list, encoding: Encoding):
    """Add the summaries of all parts along the tree."""
    tree = TreeSum(encoding.combine)
    for p, summary in enumerate(summaries):
        tree.add((0, p), summary)
    return total([tree.sums])
