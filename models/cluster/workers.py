"""The workers of a Dask cluster, each with one shard, and what happens when one of them is lost.

A shard is an actor: it lives in one worker from the first call to the last, its methods are called in a
thread of their own, and the kernels release the interpreter's lock, so that the worker goes on answering the
scheduler. This process holds the coefficients; a step sends them out and takes sums of gradients back.

Whatever a shard holds can be made again: the rows are where they were, and which columns are left is known
here. So when a worker is lost its parts are built again on others, and the call that failed is repeated: sums
of parts do not depend on who adds them, and the run goes on to the same bits.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ...features.errors import AnnealedError, DataError
from ..designs.parts import Node
from ..designs.shards import PartPlan, Shard
from ..losses import Loss
from ..row_protocol import RowSource
from .lost import WorkersLostError

POLL_S = 2.0  # a call that takes longer is asked whether its worker still lives
HEALTH_S = 10.0  # ... and one that takes longer than this, whether the worker still has the actor
PATIENCE_S = 60.0  # how long a worker that does not answer may be listed by the scheduler
RETURN_S = 20.0  # how long workers may take to come back when none is left


class LostError(Exception):
    """A worker is gone; never leaves this module."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.address = address


class ClusterShards:
    """Shards in the workers of a Dask cluster; see `LocalShards` for what they are asked.

    Parameters
    ----------
    client : distributed.Client
    source : RowSource
        Every worker must be able to read it; rows of arrays in memory are sent.
    plans : list of PartPlan
    memory_bytes : int
        Of columns that a worker keeps in memory; it spools what is more.
    """

    def __init__(self, client, source: RowSource, plans: list[PartPlan], memory_bytes: int) -> None:
        self._client = client
        self._source = source
        self._plans = {plan.number: plan for plan in plans}
        self._memory_bytes = memory_bytes
        self._actors: dict[str, Any] = {}
        self._futures: dict[str, Any] = {}  # without them the scheduler would let the actors go
        self._owner: dict[int, str] = {}  # part -> address of the worker that has it
        self._arguments: tuple | None = None  # that the parts were built with
        self._known: dict[str, np.ndarray] = {}
        self._columns: np.ndarray | None = None
        self._losses: dict[int, Loss] = {}
        self.told: Callable[[int, int], None] | None = None
        workers = self._check_any(self._workers())
        check_versions(client, workers)
        for number in self._plans:
            self._owner[number] = workers[number * len(workers) // len(plans)]

    def map_parts(self, method: str, plans: Sequence[PartPlan], *arguments) -> list:
        """Call `look` or `build` of a shard for every part; results in the order of the parts."""
        results: dict[int, Any] = {}
        while len(results) < len(plans):
            waiting = [plan for plan in plans if plan.number not in results]
            try:
                self._map_some(method, waiting, arguments, results)
            except LostError as lost:
                for number in self._abandon(lost.address):
                    if method == "build":
                        results.pop(number, None)
        if method == "build":
            self._arguments = arguments
        return [results[plan.number] for plan in plans]

    def _map_some(self, method: str, plans: Sequence[PartPlan], arguments, results: dict[int, Any]) -> None:
        """Call a method for one part after another in every worker, all workers at once."""
        queues = {
            address: [p for p in plans if self._owner[p.number] == address] for address in self._addresses()
        }
        while any(queues.values()):
            calls = {}
            for address, queue in queues.items():
                if queue:
                    plan = queue.pop(0)
                    rows = self._source.part(plan.start, plan.stop)
                    calls[plan.number] = address, self._call(address, method, rows, plan, *arguments)
            for number, (address, call) in calls.items():
                results[number] = self._result(address, call)
            if self.told is not None:
                self.told(len(results), len(self._plans))

    def begin(self, known: dict[str, np.ndarray]) -> None:
        """Begin a run with all features."""
        self._known, self._columns, self._losses = known, None, {}
        self._each("begin", lambda numbers: (known, numbers))

    def bind(self, losses: dict[int, Loss]) -> None:
        """Give each part the loss of its rows."""
        self._losses = losses
        self._each("bind", lambda numbers: ({n: losses[n] for n in numbers if n in losses},))

    def keep(self, columns: np.ndarray) -> None:
        """Forget all features but these."""
        self._columns = columns
        self._each("keep", lambda numbers: (columns,))

    def sums(self, method: str, *arguments) -> list[dict[Node, Any]]:
        """Call `value` or `value_and_gradient` of every shard."""
        return self._each(method, lambda numbers: arguments)

    def values(self, number: int, start: int, stop: int) -> tuple[np.ndarray, Any]:
        """Return positions and values of a part's rows among [start, stop) of all."""
        return self._of_part("values", number, start, stop)

    def column(self, number: int, place: int) -> tuple[np.ndarray, Any]:
        """Return positions and values of a part's rows in one of its columns."""
        return self._of_part("column", number, place)

    def _of_part(self, method: str, number: int, *arguments):
        """Call a method of the shard that has a part."""
        while True:
            address = self._owner[number]
            try:
                return self._result(address, self._call(address, method, number, *arguments))
            except LostError as lost:
                self._rebuild(lost.address)

    def _each(self, method: str, arguments) -> list:
        """Call a method of every shard, all at once; where one is lost, of all again."""
        while True:
            try:
                calls = [
                    (address, self._call(address, method, *arguments(self._numbers(address))))
                    for address in self._addresses()
                ]
                return [self._result(address, call) for address, call in calls]
            except LostError as lost:
                self._rebuild(lost.address)

    def _addresses(self) -> list[str]:
        """Return the workers that have parts, in the order of their first part."""
        return list(dict.fromkeys(self._owner[number] for number in sorted(self._owner)))

    def _numbers(self, address: str) -> list[int]:
        return [number for number, owner in sorted(self._owner.items()) if owner == address]

    def _call(self, address: str, method: str, *arguments):
        """Begin a call of a shard's method; `_result` waits for it."""
        try:
            if address not in self._actors:
                self._actors[address] = self._new_actor(address)
            with self._client.as_current():  # an actor takes its client from there
                return getattr(self._actors[address], method)(*arguments)
        except (OSError, ValueError, RuntimeError) as error:
            if isinstance(error, AnnealedError):
                raise
            raise self._lost(address, error) from None

    def _new_actor(self, address: str):
        future = self._client.submit(
            Shard,
            self._source.n_features,
            self._memory_bytes,
            actor=True,
            pure=False,
            workers=[address],
            allow_other_workers=False,
        )
        self._futures[address] = future
        try:
            return self._result(address, future)
        except LostError:
            future.cancel()  # it would wait for that very worker to come back
            raise

    def _result(self, address: str, call):
        """Wait for a call as long as its worker lives, and has the shard."""
        asked = time.monotonic()
        while True:
            try:
                return call.result(timeout=POLL_S)
            except TimeoutError:
                if address not in self._alive():
                    raise LostError(address) from None
                if time.monotonic() - asked > HEALTH_S:
                    self._check_health(address)
                    asked = time.monotonic()
            except AnnealedError:
                raise
            except Exception as error:
                if isinstance(error, KeyError) and self._is_shard(address, error.args[0]):
                    raise LostError(address) from None
                raise self._lost(address, error) from None

    def _is_shard(self, address: str, key) -> bool:
        """Return whether a key that the worker does not know is that of its shard."""
        return address in self._futures and self._futures[address].key == key

    def _check_health(self, address: str) -> None:
        """Raise LostError if a worker that lives has let go of its shard: nobody would ever answer a call."""
        future = self._futures.get(address)
        if address not in self._actors or future is None:
            return
        # Unlike `run` of the client, this may take too long: a worker without a moment for us is asked again.
        with suppress(TimeoutError, OSError):
            asked = self._client._run(_has_actor, future.key, workers=[address], on_error="return")
            if self._client.sync(lambda: asked, callback_timeout=HEALTH_S)[address] is False:
                raise LostError(address)

    def _alive(self) -> Mapping[str, int]:
        """Return what the scheduler knows of its workers, by address."""
        try:
            return self._client.nthreads()
        except (OSError, ValueError, RuntimeError, TimeoutError) as error:
            raise WorkersLostError(
                f"{self._client.scheduler.address}: the scheduler does not answer any more ({error})"
            ) from None

    def _lost(self, address: str, error: Exception) -> Exception:
        """Return the loss of a worker if it is gone or goes within a while, otherwise the error itself."""
        if "Worker holding Actor was lost" in str(error):
            return LostError(address)
        if not _is_about_connections(error):
            return error
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if address not in self._alive():
                return LostError(address)
            time.sleep(POLL_S / 10)
        return error

    def _workers(self) -> list[str]:
        """Return the addresses of the workers, in a fixed order."""
        return sorted(self._alive())

    def _check_any(self, workers: list[str]) -> list[str]:
        """Return workers, or those that come within a while if there are none."""
        deadline = time.monotonic() + RETURN_S
        while not workers and time.monotonic() < deadline:
            time.sleep(POLL_S / 10)
            workers = self._workers()
        if not workers:
            raise WorkersLostError(f"{self._client.scheduler.address}: the cluster has no workers left")
        return workers

    def _abandon(self, address: str) -> list[int]:
        """Give the parts of a lost worker to the others; return their numbers."""
        self._actors.pop(address, None)
        self._futures.pop(address, None)
        numbers = self._numbers(address)
        workers = self._check_any([worker for worker in self._workers() if worker != address])
        for i, number in enumerate(numbers):
            self._owner[number] = workers[i * len(workers) // len(numbers)]
        return numbers

    def _rebuild(self, address: str) -> None:
        """Build the parts of a lost worker elsewhere, as far as the run has come."""
        numbers = self._abandon(address)
        while numbers:
            try:
                for number in numbers:
                    self._build_again(number)
                return
            except LostError as lost:
                numbers = sorted({*numbers, *self._abandon(lost.address)})

    def _build_again(self, number: int) -> None:
        assert self._arguments is not None
        address, plan = self._owner[number], self._plans[number]
        rows = self._source.part(plan.start, plan.stop)
        steps: list[tuple] = [("build", rows, plan, *self._arguments), ("begin", self._known, [number])]
        if self._columns is not None:
            steps.append(("keep", self._columns))  # those that have these columns already stay as they are
        if number in self._losses:
            steps.append(("bind", {number: self._losses[number]}))
        for method, *arguments in steps:
            self._result(address, self._call(address, method, *arguments))


def _has_actor(key, dask_worker) -> bool:
    return key in dask_worker.state.actors


def _is_about_connections(error: Exception) -> bool:
    from distributed.comm.core import CommClosedError

    return (
        isinstance(error, OSError | CommClosedError) or "Actor" in str(error) or "lost" in str(error).lower()
    )


def check_versions(client, workers: list[str]) -> None:
    """Raise a DataError if a worker has no annealed, or another one."""
    here = versions()
    for address, there in client.run(versions, workers=workers, on_error="return").items():
        if isinstance(there, Exception):
            raise DataError(f"{address}: annealed cannot be used on this worker ({there})")
        for package, version in here.items():
            if there[package] != version:
                raise DataError(
                    f"{address}: this worker has {package} {there[package]}, here it is {version}"
                )


def versions() -> dict[str, str]:
    """Return the versions that must agree for results to."""
    from importlib.metadata import version

    return {package: version(package) for package in ("annealed", "numpy", "numba")}
