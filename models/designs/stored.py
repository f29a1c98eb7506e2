"""The rows of a part in columns, in memory or in a spool, as far as they are still kept."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from scipy import sparse

from ..losses import Loss
from .design import ResidentDesign
from .encodings import Encoding
from .parts import add
from .spool import Spool, SpooledArray


class Store:
    """Where blocks are kept: in memory up to a limit, then in a spool.

    Parameters
    ----------
    memory_bytes : int
        The limit.
    expected_bytes : int
        What will be stored in all, for a look at the disk before the first byte is written.

    Attributes
    ----------
    n_bytes_read : int
        Of columns that were read from the spool.
    """

    def __init__(self, memory_bytes: int, expected_bytes: int = 0) -> None:
        self.n_bytes_read = 0
        self._lock = Lock()
        self._room = memory_bytes
        self._spool: Spool | None = None
        if expected_bytes > memory_bytes:
            self._spool = Spool()
            self._spool.check_room(expected_bytes)

    def count_read(self, n_bytes: int) -> None:
        """Count bytes that were read from the spool."""
        with self._lock:
            self.n_bytes_read += n_bytes

    def put(self, values) -> "StoredValues":
        """Store a matrix, feature-major or sparse."""
        with self._lock:
            if self._spool is None and (n_bytes := _n_bytes(values)) <= self._room:
                self._room -= n_bytes
                return StoredValues(values)
            self._spool = self._spool or Spool()
        if sparse.issparse(values):
            arrays = [self._spool.append(a) for a in (values.data, values.indices, values.indptr)]
            matrix = sparse.csr_array(tuple(a.values for a in arrays), shape=values.shape, copy=False)
            return StoredValues(matrix, arrays)
        array = self._spool.append(values)
        return StoredValues(array.values, [array])


class StoredValues:
    """A matrix in a store, feature-major or sparse."""

    def __init__(self, values, arrays: Sequence[SpooledArray] = ()) -> None:
        self.values = values
        self._arrays = arrays

    @property
    def is_spooled(self) -> bool:
        return len(self._arrays) > 0

    @property
    def n_columns(self) -> int:
        return self.values.shape[1] if sparse.issparse(self.values) else self.values.shape[0]

    def columns(self, indices: np.ndarray):
        """Return a copy of some columns."""
        if sparse.issparse(self.values):
            return self.values[:, indices]
        return self.values[indices]

    def release(self) -> None:
        """Give back the memory of what was read."""
        for array in self._arrays:
            array.release()


class StoredBlock:
    """Rows [start, stop) of a part.

    A keep step only notes which columns are left. Once half of them are not, the others are stored anew by
    whoever reads them next, so that reading costs what is left. `kept` returns another block and leaves
    this one as it is: several runs may begin with the same.
    """

    def __init__(
        self, start: int, stop: int, stored: StoredValues, store: Store, kept: np.ndarray | None = None
    ) -> None:
        self.start, self.stop = start, stop
        self._stored = stored
        self._store = store
        self._kept = kept  # stored columns that are still kept; None: all
        self._design: ResidentDesign | None = None

    def kept(self, indices: np.ndarray) -> "StoredBlock":
        columns = indices if self._kept is None else self._kept[indices]
        return StoredBlock(self.start, self.stop, self._stored, self._store, columns)

    def use(self, encoding: Encoding, function: Callable[[ResidentDesign], Any]) -> Any:
        """Call a function with a design of the kept columns."""
        self._shrink()
        if not self._stored.is_spooled:
            if self._design is None:
                self._design = self._wrap(encoding)
            return function(self._design)
        result = function(self._wrap(encoding))
        self._leave()
        return result

    def values(self):
        """Return a copy of the kept columns."""
        self._shrink()
        kept = np.arange(self._stored.n_columns) if self._kept is None else self._kept
        values = self._stored.columns(kept)
        self._leave()
        return values

    def _wrap(self, encoding: Encoding) -> ResidentDesign:
        design = encoding.wrap(self._stored.values)
        if self._kept is not None:
            design.keep(self._kept)
        return design

    def _shrink(self) -> None:
        if self._kept is not None and 2 * len(self._kept) <= self._stored.n_columns:
            before, columns = self._stored, self._stored.columns(self._kept)
            self._stored = self._store.put(columns) if before.is_spooled else StoredValues(columns)
            before.release()
            self._kept = None

    def _leave(self) -> None:
        if self._stored.is_spooled:
            n_columns = self._stored.n_columns if self._kept is None else len(self._kept)
            share = n_columns / max(1, self._stored.n_columns)
            self._store.count_read(int(share * _n_bytes(self._stored.values)))
            self._stored.release()


def _n_bytes(values) -> int:
    return values.data.nbytes + values.indices.nbytes if sparse.issparse(values) else values.nbytes


class StoredPart:
    """A part of the rows: its blocks, and what the run has bound to it.

    Attributes
    ----------
    positions : ndarray of int64
        Where its rows stand in the order of all, ascending.
    loss : Loss or None
        That of its rows.
    """

    def __init__(self, positions: np.ndarray, blocks: list[StoredBlock], encoding: Encoding) -> None:
        self.positions = positions
        self._blocks = blocks
        self._encoding = encoding
        self.loss: Loss | None = None

    def fitted(self, known: dict[str, np.ndarray]) -> "StoredPart":
        """Return the part as it is once it is known what takes all parts."""
        return StoredPart(self.positions, self._blocks, self._encoding.fitted(known))

    def kept(self, indices: np.ndarray) -> "StoredPart":
        blocks = [block.kept(indices) for block in self._blocks]
        part = StoredPart(self.positions, blocks, self._encoding.keep(indices))
        part.loss = self.loss
        return part

    def value_and_gradient(
        self, beta: np.ndarray, intercept: np.ndarray, start: int, stop: int
    ) -> tuple[int, float, np.ndarray, np.ndarray] | None:
        """Return, of its rows among [start, stop) of all: number of terms, and sums over the terms.

        The sums are those of the loss, of its gradient and of the intercept's; None without rows.
        """
        beta, intercept = self._inward(beta, intercept)
        result = None
        for block, first, last in self._blocks_of(start, stop):

            def slopes(design, block=block, first=first, last=last):
                return self._slopes(
                    design.block(first - block.start, last - block.start), beta, intercept, first, last
                )

            result = add(result, block.use(self._encoding, slopes))
        if result is None:
            return None
        n, value, gradient, intercept_gradient = result
        return n, value, self._encoding.outward(gradient, intercept_gradient), intercept_gradient

    def _slopes(self, block, beta, intercept, first: int, last: int):
        assert self.loss is not None
        n = self.loss.n_terms(first, last)
        response = block.response(beta, intercept)
        value = self.loss.value(response, first, last)
        residual = self.loss.derivative(response, first, last) * n
        return n, value * n, block.gradient(residual), residual.sum(axis=1)

    def value(
        self, beta: np.ndarray, intercept: np.ndarray, start: int, stop: int
    ) -> tuple[int, float] | None:
        """Return the first two of what `value_and_gradient` returns."""
        beta, intercept = self._inward(beta, intercept)
        result = None
        for block, first, last in self._blocks_of(start, stop):

            def loss(design, first=first, last=last, start=block.start):
                assert self.loss is not None
                response = design.block(first - start, last - start).response(beta, intercept)
                n = self.loss.n_terms(first, last)
                return n, self.loss.value(response, first, last) * n

            result = add(result, block.use(self._encoding, loss))
        return result

    def _inward(self, beta: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        beta, intercept = self._encoding.inward(beta, intercept)
        return np.ascontiguousarray(beta), intercept

    def values(self, start: int, stop: int) -> tuple[np.ndarray, Any]:
        """Return the positions of its rows among [start, stop) of all, and their values, decoded."""
        pieces = [
            _rows(block.values(), first - block.start, last - block.start)
            for block, first, last in self._blocks_of(start, stop)
        ]
        low, high = np.searchsorted(self.positions, (start, stop))
        return self.positions[low:high], self._encoding.decode(_joined(pieces)) if pieces else None

    def _blocks_of(self, start: int, stop: int):
        """Yield the blocks with rows among [start, stop) of all, and which of the part's rows these are."""
        low, high = np.searchsorted(self.positions, (start, stop))
        for block in self._blocks:
            first, last = max(low, block.start), min(high, block.stop)
            if first < last:
                yield block, int(first), int(last)


def cut_into_blocks(values, cuts: np.ndarray, store: Store) -> list[StoredBlock]:
    """Store the columns of a part's rows, cut at these rows (ascending, from 0 to the number of rows)."""
    return [
        StoredBlock(int(first), int(last), store.put(_rows(values, first, last)), store)
        for first, last in pairwise(np.unique(cuts))
    ]


def _rows(values, first: int, last: int):
    if sparse.issparse(values):
        return values[first:last]
    return np.ascontiguousarray(values[:, first:last])


def _joined(pieces: list):
    if sparse.issparse(pieces[0]):
        return sparse.vstack(pieces, format="csr")
    return np.concatenate(pieces, axis=1)
