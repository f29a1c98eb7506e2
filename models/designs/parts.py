"""Rows in a fixed number of parts, and sums over them in a fixed order.

Rows that one process cannot hold are divided into parts of consecutive rows of the source. A part's rows
are shuffled among themselves, and all parts are dealt out side by side: any range of the resulting
order has rows from everywhere, so that a batch is one, and every part has its share of every batch.

Sums over parts run along a fixed binary tree, part 0 to the last. A number of parts that depends on the
data alone, and never on who holds them, makes the sums the same to the last bit for any number of
processes.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

N_PARTS = 64
LEAST_PART_ROWS = 256
Node = tuple[int, int]  # level above the leaves, and number from the left


@dataclass(frozen=True)
class RowParts:
    """How rows are divided.

    Attributes
    ----------
    bounds : ndarray of shape (n_parts + 1,), int64
        Part p is made of rows [bounds[p], bounds[p + 1]) of the source.
    rows : list of ndarray of int64
        The rows of each part, in the part's order; rows of the source that do not take part are in none.
    positions : list of ndarray of int64
        Where those rows stand in the order of all, ascending.
    """

    bounds: np.ndarray
    rows: list[np.ndarray]
    positions: list[np.ndarray]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_rows(self) -> int:
        return sum(map(len, self.rows))

    def order(self) -> np.ndarray:
        """Return the source's row at each position, shape (n_rows,)."""
        order = np.empty(self.n_rows, dtype=np.int64)
        for rows, positions in zip(self.rows, self.positions, strict=True):
            order[positions] = rows
        return order


def number_of_parts(n_rows: int, bytes_of_row: int, part_bytes: int) -> int:
    """Return a power of two: 64, fewer for few rows, more where a part would exceed `part_bytes`."""
    n_parts = 1
    while n_parts < N_PARTS and 2 * n_parts * LEAST_PART_ROWS <= n_rows:
        n_parts *= 2
    while -(-n_rows // n_parts) * bytes_of_row > part_bytes and 2 * n_parts <= n_rows:
        n_parts *= 2
    return n_parts


def divide_rows(included: np.ndarray, n_parts: int, rng: np.random.RandomState) -> RowParts:
    """Divide rows into parts of about equal length, shuffle each, and deal them out side by side.

    Parameters
    ----------
    included : ndarray of shape (n_rows of the source,), bool
    n_parts : int
    rng : RandomState
    """
    n_rows = len(included)
    bounds = np.array([n_rows * p // n_parts for p in range(n_parts + 1)])
    rows = [first + rng.permutation(np.flatnonzero(included[first:last])) for first, last in pairwise(bounds)]
    # Row i of a part of n stands at the share (i + 1/2) / n of the whole.
    shares = np.concatenate([(np.arange(len(r)) + 0.5) / max(1, len(r)) for r in rows])
    position = np.empty(len(shares), dtype=np.int64)
    position[np.argsort(shares, kind="stable")] = np.arange(len(shares))
    cuts = np.cumsum([len(r) for r in rows])[:-1]
    return RowParts(bounds, rows, np.split(position, cuts))


def consecutive_parts(ends: np.ndarray, n_parts: int) -> RowParts:
    """Divide rows where it is allowed, into parts of about equal length, and leave them in their order.

    Parameters
    ----------
    ends : ndarray of int64
        Where a part may end, ascending, from 0 to the number of rows. A part may be empty.
    n_parts : int
    """
    bounds = ends[np.searchsorted(ends, [ends[-1] * p // n_parts for p in range(n_parts + 1)])]
    rows = [np.arange(first, last) for first, last in pairwise(bounds)]
    return RowParts(bounds, rows, rows)


def add(a, b):
    """Add two tuples of arrays or numbers; None is nothing."""
    if a is None or b is None:
        return b if a is None else a
    return tuple(x + y for x, y in zip(a, b, strict=True))


class TreeSum:
    """Sums of the largest subtrees that the terms given so far fill.

    Parameters
    ----------
    combine : callable
        Of two terms, the left one first.

    Examples
    --------
    >>> tree = TreeSum()
    >>> for part in (0, 2, 1):
    ...     tree.add((0, part), (part,))
    >>> tree.sums
    {(0, 2): (2,), (1, 0): (1,)}
    """

    def __init__(self, combine: Callable[[Any, Any], Any] = add) -> None:
        self.combine = combine
        self.sums: dict[Node, Any] = {}

    def add(self, node: Node, term) -> None:
        """Add the sum of a subtree; as far as its neighbour is there, go up with both."""
        while (neighbour := (node[0], node[1] ^ 1)) in self.sums:
            other = self.sums.pop(neighbour)
            term = self.combine(other, term) if node[1] & 1 else self.combine(term, other)
            node = node[0] + 1, node[1] >> 1
        self.sums[node] = term


def total(partial: Iterable[Mapping[Node, Any]], combine: Callable[[Any, Any], Any] = add):
    """Add the sums of trees that together hold all parts, a power of two of them."""
    tree = TreeSum(combine)
    for sums in partial:
        for node, term in sums.items():
            tree.add(node, term)
    (result,) = tree.sums.values()
    return result
