"""The estimators' own call on a cluster gives the model of one process, killed workers or not."""

import os
import signal

import numpy as np
import pytest
from scipy import sparse

import annealed
from annealed.datasets.rows import open_rows
from annealed.models import FSAClassifier, FSARanker, FSARegressor

dask_distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of processes that were killed
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

N, M, K = 4000, 24, 3
BUDGET = 2_000_000


@pytest.fixture(scope="module")
def client():
    cluster = dask_distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        memory_limit=0,
        host="127.0.0.1",
    )
    with cluster, dask_distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def table(rng):
    X = (rng.standard_normal((N, M)) + 2).astype(np.float32)
    return X, X[:, 0] - X[:, 1] + X[:, 2] + 0.4 * rng.standard_normal(N) - 2


def assert_same_bits(found, expected):
    np.testing.assert_array_equal(found.get_support(), expected.get_support())
    np.testing.assert_array_equal(found.ranking_, expected.ranking_)
    for name in ("coef_", "knot_values_", "intercept_", "ramp_"):
        if hasattr(expected, name):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def problems(X, score):
    y, weight = score > 0, np.linspace(0, 2, N)
    matrix = sparse.csr_array(np.where(X > 2, X, 0))
    yield FSAClassifier(K, memory_budget=BUDGET), (X, y)
    yield (
        FSAClassifier(K, memory_budget=BUDGET, response="piecewise"),
        (X, np.digitize(score, [-1, 1]), weight),
    )
    yield FSARegressor(K, memory_budget=BUDGET, feature_groups=np.arange(M) // 2), (X, score)
    yield FSAClassifier(K, memory_budget=BUDGET), (matrix, y, weight)


@pytest.mark.parametrize("number", range(4))
def test_a_fit_on_a_cluster_has_the_bits_of_one_process(client, table, number):
    estimator, given = list(problems(*table))[number]
    X, *targets = given
    expected = type(estimator)(**estimator.get_params()).fit(open_rows(X), *targets)
    with annealed.distributed(client):
        found = estimator.fit(X, *targets)
    assert_same_bits(found, expected)


def test_a_ranker_is_sharded_by_groups(client, table):
    X, score = table
    qid = np.repeat(np.arange(N // 10), 10)
    expected = FSARanker(K, memory_budget="20MB").fit(open_rows(X), score, qid=qid)
    with annealed.distributed(client):
        found = FSARanker(K, memory_budget="20MB").fit(X, score, qid=qid)
    assert_same_bits(found, expected)


def test_dask_arrays_and_an_address(client, table):
    array = pytest.importorskip("dask.array")
    X, score = table
    with annealed.distributed(client.scheduler.address):
        found = FSAClassifier(K, memory_budget=BUDGET).fit(array.from_array(X, chunks=(700, M)), score > 0)
    assert_same_bits(found, FSAClassifier(K, memory_budget=BUDGET).fit(open_rows(X), score > 0))


def test_a_worker_killed_within_a_fit_changes_no_bit(client, table, tmp_path):
    X, score = table
    np.save(tmp_path / "X.npy", X)
    client.wait_for_workers(2, timeout=60)
    pids = list(client.run(os.getpid).values())

    def kill(progress):
        if progress.iteration == 1:
            os.kill(pids[0], signal.SIGKILL)

    with annealed.distributed(client):
        found = FSAClassifier(K, memory_budget=BUDGET, callback=kill).fit(tmp_path / "X.npy", score > 0)
    assert_same_bits(found, FSAClassifier(K, memory_budget=BUDGET).fit(tmp_path / "X.npy", score > 0))
