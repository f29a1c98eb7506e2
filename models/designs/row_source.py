"""What a model asks of rows that are not in memory.

The classes of `annealed.datasets.rows` answer it for files and Dask collections; anything else that does
will be accepted as well.
"""

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np


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
