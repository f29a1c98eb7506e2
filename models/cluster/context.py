"""Which cluster fits run on: a context around them."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ...features.errors import DataError

_client: ContextVar[Any] = ContextVar("annealed_client", default=None)

EXTRA = "a cluster needs the package distributed: pip install 'annealed[distributed]'"
CONNECT_S = 30


@contextmanager
def distributed(client) -> Iterator[Any]:
    """Run the fits within this context on a Dask cluster.

    Rows are sharded over the workers, coefficients are replicated. The model is the same to the last bit for
    any number of workers, and as without a cluster up to rounding. A worker may go at any time, others may
    come: what it held is read again elsewhere.

    Parameters
    ----------
    client : distributed.Client or str
        A client, or the address of a scheduler.

    Yields
    ------
    distributed.Client

    Examples
    --------
    >>> import annealed
    >>> with annealed.distributed("tcp://10.0.0.1:8786"):  # doctest: +SKIP
    ...     annealed.FSAClassifier(k=100, memory_budget="8GB").fit("table/", "target")
    """
    own = isinstance(client, str)
    if own:
        client = connect(client)
    token = _client.set(client)
    try:
        yield client
    finally:
        _client.reset(token)
        if own:
            client.close()


def connect(address: str):
    """Return a client of the scheduler at an address."""
    try:
        from distributed import Client
    except ImportError:
        raise DataError(EXTRA) from None
    try:
        return Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{address}: no scheduler answers there ({reason})") from None


def current_client():
    """Return the client of the innermost context, or None."""
    return _client.get()
