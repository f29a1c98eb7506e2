"""Tasks for the workers of a Dask cluster: a function of items, several at once, results in their order.

A task is pinned to a worker, and what it needs is sent there beforehand: the function once, as it may hold
classifiers, and the items, which may be thousands of windows; the scheduler would keep all of it otherwise. A
worker that is gone is noticed here, its tasks are cancelled, as they would wait for it for ever, and others
take them.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, TypeVar

from ...features.errors import AnnealedError
from ...features.threads import one_blas_thread
from .lost import WorkersLostError
from .workers import POLL_S, RETURN_S, check_versions

T = TypeVar("T")
R = TypeVar("R")

TASKS_A_WORKER = 2  # one that runs and one that is there when it ends
NOT_SENT = (OSError, ValueError, KeyError, TimeoutError)  # what is raised depends on the moment
MOST_LOSSES = 20  # of workers during a call; more, and the tasks themselves may be what ends them


class ClusterTasks:
    """Calls functions on the workers of a cluster.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client) -> None:
        self._client = client
        self._shared: dict[str, tuple[Any, Any]] = {}  # what a worker has: the function, and its future there
        check_versions(client, list(self._workers()))

    def map(
        self, function: Callable[..., R], items: Sequence[T], *arguments, at_once: int = TASKS_A_WORKER
    ) -> Iterator[R]:
        """Yield ``function(item, *arguments)`` of every item, in their order.

        Parameters
        ----------
        function : callable
            Can be pickled, like the items and the results. A worker that had it for the call before keeps it.
        items : sequence
        arguments
            Small; they go along with every item.
        at_once : int
            Items that a worker is given at a time.
        """
        waiting = deque(range(len(items)))
        running: dict[int, tuple[str, tuple]] = {}
        results: dict[int, R] = {}
        n_lost = n_yielded = 0
        while n_yielded < len(items):
            workers = self._workers()
            for number in [n for n, (address, _) in running.items() if address not in workers]:
                address, futures = running.pop(number)
                self._forget(address, futures)
                waiting.appendleft(number)
                n_lost += 1
            if n_lost > MOST_LOSSES:
                raise WorkersLostError(
                    f"{n_lost} workers were lost with the same tasks; is their memory too small?"
                )
            for address in workers:
                while waiting and sum(a == address for a, _ in running.values()) < at_once:
                    number = waiting[0]
                    try:
                        futures = self._submit(address, function, items[number], arguments)
                    except NOT_SENT:  # the worker goes just now: look again who is there
                        self._shared.pop(address, None)
                        n_lost += 1
                        time.sleep(POLL_S / 10)
                        break
                    running[waiting.popleft()] = address, futures
            if running:
                self._wait([futures[-1] for _, futures in running.values()])
            for number in [n for n, (_, futures) in running.items() if futures[-1].done()]:
                address, futures = running.pop(number)
                if futures[-1].status in ("cancelled", "lost"):
                    self._forget(address, futures)
                    waiting.appendleft(number)
                    n_lost += 1
                    continue
                results[number] = self._result(futures[-1])
            while n_yielded in results:
                yield results.pop(n_yielded)
                n_yielded += 1

    def _workers(self) -> list[str]:
        """Return the workers there are, after a while if there is none."""
        deadline = time.monotonic() + RETURN_S
        while True:
            try:
                workers = sorted(self._client.nthreads())
            except (OSError, ValueError, RuntimeError, TimeoutError) as error:
                raise WorkersLostError(f"the scheduler does not answer any more ({error})") from None
            if workers:
                return workers
            if time.monotonic() > deadline:
                raise WorkersLostError(f"{self._client.scheduler.address}: the cluster has no workers left")
            time.sleep(POLL_S / 10)

    def _submit(self, address: str, function, item, arguments) -> tuple:
        """Send what a task needs to a worker and begin it; return the futures, the task's own last."""
        place = {"workers": [address], "hash": False}
        if address not in self._shared or self._shared[address][0] is not function:
            self._shared[address] = function, self._client.scatter([function], **place)[0]
        shared = self._shared[address][1]
        given = self._client.scatter([item], **place)[0]
        task = self._client.submit(
            _call, shared, given, *arguments, workers=[address], allow_other_workers=False, pure=False
        )
        return given, task

    def _forget(self, address: str, futures: tuple) -> None:
        self._shared.pop(address, None)
        for future in futures:
            future.cancel()

    def _wait(self, futures: list) -> None:
        from distributed import wait

        # Who was cancelled is looked at by the caller.
        with suppress(TimeoutError, CancelledError), self._client.as_current():
            wait(futures, timeout=POLL_S, return_when="FIRST_COMPLETED")

    def _result(self, future):
        try:
            return future.result()
        except AnnealedError:
            raise
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                raise WorkersLostError(f"a task ended several workers ({error})") from None
            raise


@one_blas_thread
def _call(function, item, *arguments):
    return function(item, *arguments)
