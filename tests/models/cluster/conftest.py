"""Worker processes that all tests of this folder share; one that is killed is started again."""

import pytest


@pytest.fixture(scope="session")
def client():
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=4,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",
        memory_limit=0,
        host="127.0.0.1",
    )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client
