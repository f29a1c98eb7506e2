"""What a model asks of rows that are not in memory.

The classes of `annealed.datasets.rows` answer it for files and Dask collections; anything else that does
will be accepted as well.
"""

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from ..features.errors import DataError
from .additive import AdditiveModel

BLOCK_VALUES = 1 << 21  # of a model's features, that are responded to at a time


@runtime_checkable
class RowSource(Protocol):
    """Rows of numbers, read block by block; see `annealed.datasets.rows.RowSource` for the contract."""

    name: str
    n_rows: int
    n_features: int
    feature_names: tuple[str, ...] | None
    left_out: tuple[str, ...]
    is_sparse: bool

    def blocks(
        self, start: int, stop: int, size: int, columns: np.ndarray | None = None
    ) -> Iterator[tuple[int, Any]]: ...

    def column(self, name: str) -> np.ndarray: ...

    def ranges(self) -> tuple[np.ndarray, np.ndarray] | None: ...

    def part(self, start: int, stop: int) -> "RowSource": ...

    def place(self, row: int) -> str: ...


def respond_to_rows(model: AdditiveModel, source: RowSource) -> np.ndarray:
    """Return f for each row, shape (n_rows, n_outputs); only the model's features are asked for."""
    ascending, place = np.unique(model.features, return_inverse=True)
    of_block = model.with_features(place)
    out = np.empty((source.n_rows, len(model.intercept)))
    size = max(1, BLOCK_VALUES // max(1, len(ascending)))
    for first, rows in source.blocks(0, source.n_rows, size, ascending):
        if not np.isfinite(rows.data if sparse.issparse(rows) else rows).all():
            raise DataError(f"{source.place(first)} and the rows after it: values must be finite")
        out[first : first + rows.shape[0]] = of_block.respond(rows)
    return out
