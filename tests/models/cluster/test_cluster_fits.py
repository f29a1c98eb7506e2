"""The estimators' own call on a cluster gives the model of one process, killed workers or not."""

import os
import signal
import subprocess
import sys
import threading
import warnings
from contextlib import contextmanager
from functools import partial
from itertools import groupby

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import annealed
from annealed.datasets.rows import open_rows
from annealed.models import FSAClassifier, FSARanker, FSARegressor, run_states
from annealed.models.cluster import workers
from annealed.models.cluster.lost import WorkersLostError

distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of processes that were killed
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

N, M, K = 4000, 24, 3
BUDGET = 560_000  # three features of the 24, or eight as codes, fit it: the others stay where they are


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
    yield FSAClassifier(K, memory_budget=BUDGET, n_iter=100), (X, y)
    yield (
        FSAClassifier(K, memory_budget=760_000, n_iter=100, response="piecewise"),
        (X, np.digitize(score, [-1, 1]), weight),
    )
    yield FSARegressor(K, memory_budget=BUDGET, n_iter=100), (X, score)
    groups = np.arange(M) // 2
    yield FSAClassifier(K, memory_budget=BUDGET, n_iter=100, feature_groups=groups), (matrix, y, weight)


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
    expected = FSARanker(K, memory_budget=BUDGET).fit(open_rows(X), score, qid=qid)
    with annealed.distributed(client):
        found = FSARanker(K, memory_budget=BUDGET).fit(X, score, qid=qid)
    assert_same_bits(found, expected)


def test_dask_arrays_and_an_address(client, table):
    array = pytest.importorskip("dask.array")
    X, score = table
    with annealed.distributed(client.scheduler.address):
        found = FSAClassifier(K, memory_budget=BUDGET).fit(array.from_array(X, chunks=(700, M)), score > 0)
    assert_same_bits(found, FSAClassifier(K, memory_budget=BUDGET).fit(open_rows(X), score > 0))


def test_a_worker_killed_within_a_fit_changes_no_bit(client, table, tmp_path, monkeypatch):
    X, score = table
    np.save(tmp_path / "X.npy", X)
    client.wait_for_workers(4, timeout=60)
    pids = list(client.run(os.getpid).values())
    rebuild, lost = workers.ClusterShards._rebuild, []

    def note(self, address):
        lost.append(address)
        rebuild(self, address)

    monkeypatch.setattr(workers.ClusterShards, "_rebuild", note)

    def kill(progress):
        if progress.iteration == 1:
            os.kill(pids[0], signal.SIGKILL)

    estimator = FSAClassifier(K, loss="lorenz", memory_budget=BUDGET, mu=10, n_iter=60)
    with annealed.distributed(client):
        found = clone(estimator).set_params(callback=kill).fit(tmp_path / "X.npy", score > 0)
    assert len(lost) == 1
    assert_same_bits(found, estimator.fit(tmp_path / "X.npy", score > 0))


@contextmanager
def one_worker():
    """A client of a cluster of one worker that nobody starts again, and the worker's process."""
    scheduler = distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0", host="127.0.0.1")
    worker = "from distributed.cli.dask_worker import main; main()"
    options = ["--no-nanny", "--nthreads", "1", "--no-dashboard"]
    with scheduler, distributed.Client(scheduler) as client:
        command = [sys.executable, "-c", worker, scheduler.scheduler_address, *options]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            client.wait_for_workers(1, timeout=60)
            yield client, process
        finally:
            process.kill()
            process.wait()


@pytest.mark.parametrize("response", ["linear", "piecewise"])
def test_a_run_whose_workers_are_all_gone_goes_on_to_the_same_bits(table, tmp_path, monkeypatch, response):
    monkeypatch.setattr(workers, "RETURN_S", 0.5)
    monkeypatch.setattr(run_states, "EVERY_S", 0.0)
    X, score = table
    np.save(tmp_path / "X.npy", X)
    estimator = FSAClassifier(K, memory_budget=BUDGET, response=response, mu=10, n_iter=60)
    expected = clone(estimator).fit(tmp_path / "X.npy", score > 0)
    iterations = []

    def kill(progress):
        iterations.append(progress.iteration)
        if progress.iteration == 2:
            process.kill()

    estimator.callback = kill
    with (
        one_worker() as (client, process),
        pytest.raises(WorkersLostError, match=r"no workers left; its state is kept in .* --resume"),
        annealed.resumable(tmp_path / "run"),
        annealed.distributed(client),
    ):
        estimator.fit(tmp_path / "X.npy", score > 0)
    assert iterations == [1, 2]
    iterations.clear()
    estimator.callback = lambda progress: iterations.append(progress.iteration)
    with annealed.resumable(tmp_path / "run", resume=True):
        found = estimator.fit(tmp_path / "X.npy", score > 0)
    assert iterations[0] == 3
    assert_same_bits(found, expected)


def test_fits_on_one_cluster_take_turns(client, table):
    X, score = table
    order = []

    def fit(name):
        with annealed.distributed(client), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tell = partial(order.append, name)
            FSAClassifier(K, n_iter=20, memory_budget=BUDGET, callback=lambda _: tell()).fit(X, score > 0)

    threads = [threading.Thread(target=fit, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(groupby(order))) == 2
