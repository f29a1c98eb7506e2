"""Which cluster fits run on: a context around them."""

import logging
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from typing import Any
from warnings import warn

from ...features.errors import DataError, ParameterError
from ...features.threads import get_num_threads

_client: ContextVar[Any] = ContextVar("annealed_client", default=None)

EXTRA = "a cluster needs the package distributed: pip install 'annealed[distributed]'"
CONNECT_S = 30
MOST_LOCAL = 256
TURN = "annealed"  # of fits on one cluster
SHORT_WAIT_S = 2


@contextmanager
def distributed(client) -> Iterator[Any]:
    """Run the fits within this context on a Dask cluster.

    Rows are sharded over the workers, coefficients are replicated. The model is the same to the last bit for
    any number of workers, and as without a cluster up to rounding. A worker may go at any time, others may
    come: what it held is read again elsewhere.

    Parameters
    ----------
    client : distributed.Client or str
        A client, the address of a scheduler, or "local:2" for so many worker processes on this machine,
        which end with the context. They are started as Python's multiprocessing starts processes: a script
        of its own has its statements behind ``if __name__ == "__main__":``.

    Yields
    ------
    distributed.Client

    Examples
    --------
    >>> import annealed
    >>> with annealed.distributed("tcp://10.0.0.1:8786"):  # doctest: +SKIP
    ...     annealed.FSAClassifier(k=100, memory_budget="8GB").fit("table/", "target")
    """
    with _connected(client) if isinstance(client, str) else nullcontext(client) as client:
        token = _client.set(client)
        try:
            yield client
        finally:
            _client.reset(token)


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """Yield a client of the scheduler at an address, or of a cluster that is made here."""
    try:
        import distributed
    except ImportError:
        raise DataError(EXTRA) from None
    with ExitStack() as opened:
        is_local = address.startswith("local")
        if is_local:
            address = opened.enter_context(_local_cluster(_number_of_workers(address)))
        try:
            client = distributed.Client(
                address,
                timeout=CONNECT_S,
                set_as_default=False,
                direct_to_workers=is_local or None,
            )
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise DataError(f"{address}: no scheduler answers there ({reason})") from None
        yield opened.enter_context(client)


def _number_of_workers(text: str) -> int:
    found = re.fullmatch(r"local:(\d+)", text)
    if found is None or not 1 <= int(found[1]) <= MOST_LOCAL:
        raise ParameterError(
            f"a cluster is the address of a scheduler, such as tcp://10.0.0.1:8786, or local:N with 1 to "
            f"{MOST_LOCAL} workers on this machine; got {text!r}"
        )
    return int(found[1])


def _local_cluster(n_workers: int):
    """Start worker processes that share the CPUs; one that is killed is started again."""
    import distributed

    n_threads = max(1, get_num_threads() // n_workers)
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        memory_limit=0,
        silence_logs=logging.ERROR,
        env={"ANNEALED_NUM_THREADS": str(n_threads)},
    )


@contextmanager
def one_fit_at_a_time() -> Iterator[None]:
    """Wait until no other fit runs on the cluster of this context, and keep others out.

    Two at once would share the memory that each has its budget of. A fit whose process is gone keeps nobody
    out: after a while the scheduler forgets it.
    """
    client = current_client()
    if client is None:
        yield
        return
    from distributed import Semaphore

    with client.as_current():  # it takes its scheduler from there
        turn = Semaphore(max_leases=1, name=TURN, scheduler_rpc=client.scheduler, loop=client.loop)
    if not turn.acquire(timeout=SHORT_WAIT_S):
        warn("another fit runs on this cluster; this one begins after its end", stacklevel=3)
        turn.acquire()
    try:
        yield
    finally:
        with suppress(OSError, RuntimeError):  # the scheduler may be gone
            turn.release()


def current_client():
    """Return the client of the innermost context, or None."""
    return _client.get()
