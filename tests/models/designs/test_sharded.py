"""Rows in parts respond like the same rows in one design, before and after features leave."""

import numpy as np
import pytest
from scipy import sparse

from annealed.datasets.rows import ArrayRows, SparseRows
from annealed.features.errors import DataError
from annealed.models.designs.parts import TreeSum
from annealed.models.designs.shards import LocalShards, Shard
from annealed.models.losses import Logistic, SquaredError
from annealed.models.responses import Linear, Piecewise
from annealed.models.row_preparation import RowSettings, prepare_rows

N, M = 3000, 24
PLENTY = 1 << 28


@pytest.fixture
def table(rng):
    return (rng.standard_normal((N, M)) * 10.0 ** rng.integers(-2, 3, M) + 100).astype(np.float32)


def rows_of(table, kind):
    if kind != "sparse":
        return ArrayRows(table)
    matrix = sparse.csr_array(np.where(table > 100, table, 0))
    return SparseRows(matrix.indptr, matrix.indices, matrix.data, M)


class SpooledShards(LocalShards):
    """All columns in a spool, however few."""

    def __init__(self, source, plans, memory_bytes):
        super().__init__(source, 0, 0)


class SeveralShards(LocalShards):
    """Parts dealt out to several shards, as on a cluster."""

    def __init__(self, n, source):
        self.source = source
        self.shards = [Shard(source.n_features, 1 << 30) for _ in range(n)]

    def owner(self, number):
        return self.shards[number % len(self.shards)]

    def map_parts(self, method, plans, *arguments):
        self.numbers = [plan.number for plan in plans]
        return [getattr(self.owner(p.number), method)(self.source, p, *arguments) for p in plans]

    def begin(self, known):
        for number in self.numbers:
            self.owner(number).begin(known, [number])

    def bind(self, losses):
        for number, loss in losses.items():
            self.owner(number).bind({number: loss})

    def keep(self, columns):
        for shard in self.shards:
            shard.keep(columns)

    def sums(self, method, *arguments):
        return [getattr(shard, method)(*arguments) for shard in self.shards]

    def values(self, number, start, stop):
        return self.owner(number).values(number, start, stop)


def settings_of(kind):
    return RowSettings(Piecewise(7) if kind == "piecewise" else Linear(), 5, 1, PLENTY)


def make_design(table, kind, weight, new_shards=None, gathered=False):
    prepared = prepare_rows(
        rows_of(table, kind), weight, settings_of(kind), np.random.RandomState(0), new_shards
    )
    design = prepared.new_design()
    if not gathered:
        design.resident, design._resident_bytes = None, 0
    return prepared, design


def walk(prepared, design, target, weight):
    """Return values and gradients of several ranges of rows, while features leave."""
    rng = np.random.default_rng(1)
    loss = Logistic(target[prepared.order], weight[prepared.order])
    found = []
    for _ in range(4):
        beta = rng.standard_normal((1, design.n_features, design.n_coefficients))
        for start, stop in ((0, 600), (600, 1200), (17, 2000), (0, design.n_rows)):
            found.append(design.value_and_gradient(loss, beta, np.array([0.3]), start, stop))
            assert design.value(loss, beta, np.array([0.3]), start, stop) == pytest.approx(
                found[-1][0], 1e-12
            )
        found.append(design.hessian(loss, 0, 200)(beta, np.array([0.3])))
        design.keep(np.sort(rng.permutation(design.n_features)[: design.n_features * 3 // 5]))
    return found


@pytest.mark.parametrize("kind", ["linear", "piecewise", "sparse"])
@pytest.mark.parametrize("spooled", [False, True])
def test_parts_respond_like_the_gathered_rows(table, rng, kind, spooled):
    target, weight = rng.choice([-1.0, 1.0], N), rng.uniform(0, 2, N)
    weight[:50] = 0
    shards = SpooledShards if spooled else None
    apart = walk(*make_design(table, kind, weight, shards), target, weight)
    together = walk(*make_design(table, kind, weight, gathered=True), target, weight)
    for found, expected in zip(apart, together, strict=True):
        for a, b in zip(found, expected, strict=True):
            # float32 values are shifted and scaled before they are summed, or after
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6 * np.abs(b).max())


@pytest.mark.parametrize("kind", ["linear", "piecewise", "sparse"])
def test_the_bits_do_not_depend_on_who_holds_the_parts_or_where(table, rng, kind):
    target, weight = rng.choice([-1.0, 1.0], N), rng.uniform(0.1, 2, N)
    expected = walk(*make_design(table, kind, weight), target, weight)
    for shards in (
        SpooledShards,
        lambda source, plans, memory: SeveralShards(2, source),
        lambda source, plans, memory: SeveralShards(3, source),
    ):
        for found, same in zip(
            walk(*make_design(table, kind, weight, shards), target, weight), expected, strict=True
        ):
            for a, b in zip(found, same, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", ["linear", "piecewise"])
def test_several_runs_begin_with_the_same_parts(table, rng, kind):
    target, weight = rng.choice([-1.0, 1.0], N), np.ones(N)
    prepared, design = make_design(table, kind, weight, SpooledShards)
    first = walk(prepared, design, target, weight)
    again = prepared.new_design()
    again.resident, again._resident_bytes = None, 0
    for found, same in zip(walk(prepared, again, target, weight), first, strict=True):
        for a, b in zip(found, same, strict=True):
            np.testing.assert_array_equal(a, b)


def test_columns_are_standardised_by_all_rows_however_they_are_divided(table):
    weight = np.ones(N)
    _, design = make_design(table, "linear", weight, gathered=True)
    columns = design.resident.columns.values
    np.testing.assert_allclose(columns.mean(axis=1), 0, atol=1e-5)
    np.testing.assert_allclose(columns.std(axis=1), 1, rtol=1e-5)


def test_values_that_are_not_finite_are_named_with_their_place(table):
    table[1234, 5] = np.nan
    with pytest.raises(DataError, match=r"^X, row 1234: column 5 is nan; numbers must be finite$"):
        make_design(table, "linear", np.ones(N))


def test_reading_costs_what_is_left(table, rng):
    """A spool of which half of the columns have left is written anew by the next sweep."""
    source = rows_of(table, "linear")
    shards = SpooledShards(source, [], 0)
    prepared = prepare_rows(
        source, np.ones(N), settings_of("linear"), np.random.RandomState(0), lambda *_: shards
    )
    design = prepared.new_design()
    design.resident, design._resident_bytes = None, 0
    loss = SquaredError(rng.standard_normal(N))
    store = shards.shard.store

    def sweep():
        before = store.n_bytes_read
        beta = np.zeros((1, design.n_features, 1))
        design.value_and_gradient(loss, beta, np.zeros(1), 0, N)
        return store.n_bytes_read - before

    assert sweep() == N * M * 4
    design.keep(np.arange(0, M, 2))
    written = store._spool.n_bytes
    assert sweep() == N * M * 2
    assert store._spool.n_bytes - written >= N * M * 2
    assert sweep() == N * M * 2


def test_a_tree_needs_all_parts():
    tree = TreeSum()
    tree.add((0, 0), (1.0,))
    tree.add((0, 3), (1.0,))
    assert len(tree.sums) == 2
