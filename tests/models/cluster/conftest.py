"""Worker processes that all tests of this folder share; one that is killed is started again."""

import pytest

N_WORKERS = 4
RETURN_S = 20
"""A worker that was killed is back by then, or the cluster is made anew."""


class SharedWorkers:
    """A cluster on this machine and its client."""

    def __init__(self, distributed):
        self.distributed = distributed
        self.open()

    def open(self):
        self.cluster = self.distributed.LocalCluster(
            n_workers=N_WORKERS,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            host="127.0.0.1",
        )
        self.client = self.distributed.Client(self.cluster, set_as_default=False)

    def close(self):
        self.client.close()
        self.cluster.close()

    def whole(self):
        """Return the client once all workers are there."""
        try:
            self.client.wait_for_workers(N_WORKERS, timeout=RETURN_S)
        except TimeoutError:
            self.close()
            self.open()
        return self.client


@pytest.fixture(scope="session")
def shared_workers():
    workers = SharedWorkers(pytest.importorskip("distributed"))
    yield workers
    workers.close()


@pytest.fixture
def client(shared_workers):
    return shared_workers.whole()
