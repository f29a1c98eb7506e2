"""Work shared out to threads, for kernels that release the interpreter's lock.

Threads of our own, because those of numba's ``parallel=True`` wait for one another in a busy loop (on a
busy machine a fit takes ten times as long), end the children of a fork, and may not be entered by two
threads of Python at once. Here the calling thread takes part, and whoever is free takes the next task: a
thread that the machine gives no time to delays nothing but the task it holds.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import copy_context
from functools import wraps
from typing import Any, TypeVar

from .errors import ParameterError

T = TypeVar("T")
R = TypeVar("R")

RANGES_A_THREAD = 4
"""Ranges that `share` makes for each thread, so that a fast one may take more than a slow one."""

_within = threading.local()
_n_threads: int | None = None


def get_num_threads() -> int:
    """Return how many threads take part, the calling one included.

    What `set_num_threads` said last; at first the environment's ANNEALED_NUM_THREADS, else
    NUMBA_NUM_THREADS, else the number of CPUs that this process may use.
    """
    global _n_threads
    if _n_threads is None:
        _n_threads = _from_environment()
    return _n_threads


def set_num_threads(n: int) -> None:
    """Let so many threads take part from now on, in this process; no result depends on it."""
    global _n_threads
    if n < 1:
        raise ParameterError(f"the number of threads must be at least 1, got {n}")
    _n_threads = n


def _from_environment() -> int:
    for name in ("ANNEALED_NUM_THREADS", "NUMBA_NUM_THREADS"):
        text = os.environ.get(name, "").strip()
        if text:
            if not text.isdecimal() or int(text) < 1:
                raise ParameterError(f"{name} must be a whole number of at least 1, got {text!r}")
            return int(text)
    from joblib import cpu_count  # knows affinity and the limits of containers

    return cpu_count()


def in_threads(function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Yield ``function(item)`` of every item, in their order, computed by several threads.

    Within a task of such a call, items are computed one after another, in that task's own thread.

    Parameters
    ----------
    function : callable
        Called in several threads at once.
    items : iterable
        All of them are handed out at once.
    """
    items = list(items)
    if get_num_threads() == 1 or len(items) < 2 or _is_within():
        yield from map(function, items)
        return
    tasks, helpers = _Tasks(function, items), _helpers
    helpers.ask(tasks, min(get_num_threads(), len(items)) - 1)
    try:
        for number in range(len(items)):
            yield tasks.result(number)
    finally:
        helpers.dismiss(tasks)
        tasks.close()


def share(n: int, work: Callable[[int, int], Any], least: int = 1) -> None:
    """Call ``work(start, stop)`` for ranges that cover [0, n), in several threads.

    Where the ranges end depends on the number of threads; so what is written for one index must not
    depend on which others are in its range.

    Parameters
    ----------
    n : int
    work : callable
        Called in several threads at once.
    least : int
        Indices in a range that are worth a task of their own.
    """
    n_ranges = min(RANGES_A_THREAD * get_num_threads(), n // max(1, least))
    if n_ranges < 2 or get_num_threads() == 1 or _is_within():
        if n > 0:
            work(0, n)
        return
    cuts = [n * r // n_ranges for r in range(n_ranges + 1)]
    for _ in in_threads(lambda r: work(cuts[r], cuts[r + 1]), range(n_ranges)):
        pass


def one_blas_thread(function: Callable[..., R]) -> Callable[..., R]:
    """Let a function's matrix products run in one thread: how many there are changes their last bits.

    It is also what is fast, as most matrices here are small, and threads of a BLAS wait for one another in
    a busy loop.
    """

    @wraps(function)
    def call(*arguments, **options):
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1, user_api="blas"):
            return function(*arguments, **options)

    return call


def _is_within() -> bool:
    return getattr(_within, "task", False)


class _Tasks:
    """The items of one call, each taken by the first thread that is free."""

    def __init__(self, function: Callable[[Any], Any], items: list) -> None:
        self._function = function
        self._waiting = deque(enumerate(items))
        self._results: list = [None] * len(items)
        self._errors: dict[int, BaseException] = {}
        self._done = [False] * len(items)
        self._changed = threading.Condition(threading.Lock())
        self._n_helpers = 0
        self._context = copy_context()  # NumPy's error state is in it

    def help(self) -> None:
        """Take tasks until none is waiting."""
        with self._changed:
            self._n_helpers += 1
        try:
            self._context.copy().run(self._take_all)
        finally:
            with self._changed:
                self._n_helpers -= 1
                self._changed.notify()

    def result(self, number: int) -> Any:
        """Return the result of a task, after taking others or waiting until it is there."""
        while not self._done[number] and self._take_one():
            pass
        if not self._done[number]:
            with self._changed:
                self._changed.wait_for(lambda: self._done[number])
        if number in self._errors:
            raise self._errors[number]
        result, self._results[number] = self._results[number], None
        return result

    def close(self) -> None:
        """Forget the tasks that wait, and wait for those that run."""
        self._waiting.clear()
        with self._changed:
            self._changed.wait_for(lambda: self._n_helpers == 0)

    def _take_all(self) -> None:
        while self._take_one():
            with self._changed:
                self._changed.notify()

    def _take_one(self) -> bool:
        """Do the next task, if there is one."""
        try:
            number, item = self._waiting.popleft()
        except IndexError:
            return False
        _within.task = True
        try:
            self._results[number] = self._function(item)
        except BaseException as error:
            self._errors[number] = error
        finally:
            _within.task = False
            self._done[number] = True
        return True


class _Helpers:
    """Threads that wait for calls; they start when first needed and last as long as the process."""

    def __init__(self) -> None:
        self._calls: deque[_Tasks] = deque()  # a call stands here once for each thread that it asks for
        self._changed = threading.Condition(threading.Lock())
        self._n_threads = 0

    def ask(self, tasks: _Tasks, n: int) -> None:
        """Ask n threads to help with the tasks."""
        with self._changed:
            self._start(n)
            self._calls.extend([tasks] * n)
            self._changed.notify(n)

    def dismiss(self, tasks: _Tasks) -> None:
        """Ask no more."""
        with self._changed:
            while tasks in self._calls:
                self._calls.remove(tasks)

    def _start(self, n: int) -> None:
        while self._n_threads < n:
            try:
                threading.Thread(target=self._run, name="annealed", daemon=True).start()
            except RuntimeError:  # no more threads are to be had: the caller does it all
                return
            self._n_threads += 1

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._calls)
                tasks = self._calls.popleft()
            tasks.help()
            del tasks  # and what its function holds, before the next call comes


_helpers = _Helpers()


def _forget_helpers() -> None:
    """In the child of a fork no other thread lives on."""
    global _helpers
    _helpers = _Helpers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_helpers)
