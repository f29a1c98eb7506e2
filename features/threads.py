"""Work shared out to threads, for kernels that release the interpreter's lock."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from numba import get_num_threads

T = TypeVar("T")
R = TypeVar("R")


def in_threads(function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Yield ``function(item)`` of every item, in their order, computed by as many threads as numba uses.

    Threads of our own, because kernels with ``parallel=True`` are compiled twice over, and wait for one
    another after every call.

    Parameters
    ----------
    function : callable
        Called in several threads at once: it must not call kernels with ``parallel=True``.
    items : iterable
        All of them are handed out at once.
    """
    n_threads = get_num_threads()
    if n_threads == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(function, items)
