"""The same bits for any number of workers, with workers killed at any time; nothing hangs."""

import os
import signal
import sys

import numpy as np
import pytest

from annealed.datasets.rows import ArrayRows, open_rows
from annealed.features.errors import DataError
from annealed.models.cluster import current_client, distributed
from annealed.models.cluster import workers as workers_module
from annealed.models.cluster.lost import WorkersLostError
from annealed.models.cluster.workers import ClusterShards, versions
from annealed.models.losses import Logistic
from annealed.models.responses import Linear, Piecewise
from annealed.models.row_preparation import RowSettings, prepare_rows

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of processes that were killed
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

N, M = 5000, 20
N_STEPS = 4
LINEAR = Linear()


class SomeWorkers(ClusterShards):
    """The first few of the workers."""

    def __init__(self, client, n_workers, *arguments):
        client.wait_for_workers(n_workers, timeout=60)
        self.usable = sorted(client.nthreads())[:n_workers]
        super().__init__(client, *arguments)

    def _workers(self):
        return [address for address in super()._workers() if address in self.usable]


class KillingShards(SomeWorkers):
    """A worker is killed while it is busy with a call."""

    def __init__(self, client, n_workers, method, number, *arguments):
        super().__init__(client, n_workers, *arguments)
        self.pids = client.run(os.getpid, workers=self.usable)
        self.method, self.n_left = method, number

    def _call(self, address, method, *arguments):
        call = super()._call(address, method, *arguments)
        if method == self.method:
            self.n_left -= 1
            if self.n_left == 0:
                os.kill(self.pids[address], signal.SIGKILL)
        return call


@pytest.fixture
def table(rng):
    return (rng.standard_normal((N, M)) * 3 + 1).astype(np.float32)


def walk(source, new_shards=None, response=LINEAR):
    """Return values and gradients of some steps while features leave."""
    rng = np.random.default_rng(1)
    settings = RowSettings(response, 4, 1, 1 << 28)
    prepared = prepare_rows(source, np.ones(N), settings, np.random.RandomState(0), new_shards)
    design = prepared.new_design()
    design.resident, design._resident_bytes = None, 0
    loss = Logistic(np.sign(rng.standard_normal(N))[prepared.order])
    found = []
    for _ in range(N_STEPS):
        beta = rng.standard_normal((1, design.n_features, design.n_coefficients))
        for start in range(0, N, N // 4):
            found.append(design.value_and_gradient(loss, beta, np.array([0.2]), start, start + N // 4))
        found.append(design.hessian(loss, 0, 200)(beta, np.array([0.2])))
        design.keep(np.sort(rng.permutation(design.n_features)[: design.n_features * 3 // 4]))
    return found


def assert_same_bits(found, expected):
    for a, b in zip(found, expected, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)


def some(client, n_workers):
    return lambda *arguments: SomeWorkers(client, n_workers, *arguments)


@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_any_number_of_workers_gives_the_bits_of_one_process(client, table, tmp_path, n_workers):
    np.save(tmp_path / "X.npy", table)
    source = open_rows(tmp_path / "X.npy")
    for rows in (ArrayRows(table), source):
        assert_same_bits(walk(rows, some(client, n_workers)), walk(rows))
    assert_same_bits(walk(source, some(client, n_workers), Piecewise(7)), walk(source, response=Piecewise(7)))


@pytest.mark.parametrize(
    ("method", "number"), [("build", 3), ("value_and_gradient", 12), ("keep", 4), ("values", 20)]
)
def test_a_worker_that_is_killed_changes_no_bit(client, table, method, number):
    shards = []

    def killing(*arguments):
        shards.append(KillingShards(client, 3, method, number, *arguments))
        return shards[0]

    found = walk(ArrayRows(table), killing)
    assert shards[0].n_left <= 0
    assert len(shards[0]._workers()) == 2
    assert_same_bits(found, walk(ArrayRows(table)))


class ForgettingShards(SomeWorkers):
    """A worker that lives lets go of its actor before a call."""

    def _call(self, address, method, *arguments):
        self.n_calls = getattr(self, "n_calls", 0) + (method == "value_and_gradient")
        if self.n_calls == 5:
            self.n_calls += 1
            self._client.run(lambda dask_worker: dask_worker.state.actors.clear(), workers=[address])
        return super()._call(address, method, *arguments)


@pytest.mark.parametrize("n_workers", [1, 2])
def test_a_worker_without_its_actor_is_given_another(client, table, monkeypatch, n_workers):
    monkeypatch.setattr(workers_module, "HEALTH_S", 0.5)
    found = walk(ArrayRows(table), lambda *arguments: ForgettingShards(client, n_workers, *arguments))
    assert_same_bits(found, walk(ArrayRows(table)))


def test_a_cluster_that_is_gone_ends_in_one_line(client, table, monkeypatch):
    monkeypatch.setattr(workers_module, "RETURN_S", 0.5)
    with pytest.raises(WorkersLostError, match="the cluster has no workers left"):
        walk(ArrayRows(table), lambda *a: KillingShards(client, 1, "value_and_gradient", 3, *a))


def test_a_problem_in_the_data_is_told_as_it_is(client, table):
    table[77, 3] = np.inf
    with pytest.raises(DataError, match="X, row 77: column 3 is inf"):
        walk(ArrayRows(table), some(client, 2))


def test_a_worker_with_another_version_is_refused(client, table, monkeypatch):
    there = dict.fromkeys(client.nthreads(), versions())
    monkeypatch.setattr(workers_module, "versions", lambda: {**versions(), "numpy": "1.0"})
    monkeypatch.setattr(client, "run", lambda *_, **__: there)
    with pytest.raises(DataError, match=r"this worker has numpy .*, here it is 1.0"):
        walk(ArrayRows(table), some(client, 1))


def test_the_context_names_the_cluster_of_a_fit():
    assert current_client() is None
    client = object()
    with distributed(client) as given:
        assert given is client
        assert current_client() is client
    assert current_client() is None


def test_a_scheduler_that_does_not_answer_ends_in_one_line(monkeypatch):
    monkeypatch.setattr("annealed.models.cluster.context.CONNECT_S", 1)
    with (
        pytest.raises(DataError, match=r"tcp://127.0.0.1:9: no scheduler answers there"),
        distributed("tcp://127.0.0.1:9"),
    ):
        pass


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(DataError, match=r"annealed\[distributed\]"), distributed("tcp://127.0.0.1:9"):
        pass
