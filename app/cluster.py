"""The cluster that a command runs on, if it was given one."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .progress import warn
from .wording import count


@contextmanager
def on_cluster(address: str | None) -> Iterator[Any]:
    """Let fits run on a cluster, and say which; yield its client, or None without an address."""
    if address is None:
        yield None
        return
    from ..models.cluster import distributed

    with distributed(address) as client:
        n_workers = len(client.nthreads())
        warn(f"{client.scheduler.address}: {count(n_workers, 'worker')}")
        yield client
