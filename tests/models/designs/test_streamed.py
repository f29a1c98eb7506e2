import tracemalloc

import numba
import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.models.annealing import anneal
from annealed.models.designs import BlockDesign, DenseDesign, column_moments
from annealed.models.designs.streamed import StreamedBlock
from annealed.models.losses import Logistic, PairwiseLogistic
from annealed.models.schedules import InverseSchedule


class Reader:
    """A table that remembers what was asked of it."""

    def __init__(self, X):
        self.X = X
        self.asked = []

    def __call__(self, start, stop, columns):
        self.asked.append((start, stop, columns.tolist()))
        return self.X[start:stop, columns]

    def most_rows(self):
        return max(stop - start for start, stop, _ in self.asked)


@pytest.fixture
def reader(rng):
    return Reader(rng.standard_normal((50, 8)))


@pytest.mark.parametrize("block_rows", [1, 7, 49, 50, 1000])
def test_never_asks_for_more_rows_than_allowed(reader, block_rows):
    design = BlockDesign(
        reader, 50, 8, dtype=np.float64, block_rows=block_rows, memory_budget=50 * 3 * 8 * 5 // 4
    )
    for indices in (np.arange(8), np.arange(1, 8), np.array([0, 2, 5])):  # the last one fits the budget
        design.keep(indices)
        design.block(0, 50).response(np.ones((1, len(indices), 1)), np.zeros(1))
        design.block(10, 31).gradient(np.ones((1, 21)))
    assert design.resident is not None
    assert reader.most_rows() == min(block_rows, 50)


def test_survivors_stay_in_memory_once_they_fit_the_budget(reader):
    design = BlockDesign(reader, 50, 8, dtype=np.float32, block_rows=20, memory_budget=50 * 3 * 4 * 5 // 4)
    design.keep(np.array([0, 2, 5, 7]))
    assert design.resident is None
    design.keep(np.array([0, 1, 3]))
    assert isinstance(design.resident, DenseDesign)
    reader.asked.clear()
    response = design.block(0, 50).response(np.ones((1, 3, 1)), np.zeros(1))
    np.testing.assert_allclose(response[0], reader.X[:, [0, 2, 7]].sum(axis=1), rtol=1e-5, atol=1e-6)
    design.keep(np.array([2]))
    np.testing.assert_allclose(
        design.block(0, 50).gradient(np.ones((1, 50)))[0, 0, 0], reader.X[:, 7].sum(), rtol=1e-5
    )
    assert reader.asked == []


def test_only_kept_columns_are_asked_for(reader):
    design = BlockDesign(reader, 50, 8, block_rows=25, memory_budget=0)
    design.keep(np.array([1, 4, 6]))
    design.keep(np.array([0, 2]))
    design.block(0, 50).gradient(np.ones((1, 50)))
    assert reader.asked == [(0, 25, [1, 6]), (25, 50, [1, 6])]


def test_streams_only_what_exceeds_a_block(reader):
    design = BlockDesign(reader, 50, 8, block_rows=20, memory_budget=0)
    assert isinstance(design.block(0, 21), StreamedBlock)
    assert not isinstance(design.block(10, 30), StreamedBlock)


def test_values_are_centred_and_scaled(reader):
    center, scale = column_moments(reader, 50, 8, block_rows=13)
    design = BlockDesign(reader, 50, 8, center=center, scale=scale, dtype=np.float64, block_rows=13)
    standard = (reader.X - reader.X.mean(axis=0)) / reader.X.std(axis=0)
    np.testing.assert_allclose(design.read_values(0, 50), standard.T, rtol=1e-10, atol=1e-12)
    design.keep(np.array([2, 3, 7]))
    np.testing.assert_allclose(
        design.block(0, 50).gradient(np.arange(50.0)[None])[0, :, 0], np.arange(50) @ standard[:, [2, 3, 7]]
    )


@pytest.mark.parametrize("block_rows", [1, 7, 50, 99])
def test_moments_agree_with_numpy(reader, block_rows):
    mean, scale = column_moments(reader, 50, 8, block_rows=block_rows)
    np.testing.assert_allclose(mean, reader.X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(scale, reader.X.std(axis=0), rtol=1e-12)
    assert reader.most_rows() <= block_rows


def test_moments_stand_a_large_mean_and_a_constant_column(rng):
    X = rng.standard_normal((40, 3)) + 1e9
    X[:, 1] = 0.1
    mean, scale = column_moments(Reader(X), 40, 3, block_rows=16)
    np.testing.assert_allclose(mean, X.mean(axis=0))
    np.testing.assert_allclose(scale[[0, 2]], X[:, [0, 2]].std(axis=0), rtol=1e-6)
    assert scale[1] == 1


def test_moments_of_a_single_row():
    mean, scale = column_moments(Reader(np.array([[3.0, -1.0]])), 1, 2)
    assert mean.tolist() == [3, -1]
    assert scale.tolist() == [1, 1]


def test_blocks_of_another_shape_are_refused():
    design = BlockDesign(lambda start, stop, columns: np.zeros((3, 2)), 9, 2)
    with pytest.raises(DataError, match=r"rows 0 to 9 has shape \(3, 2\), expected \(9, 2\)"):
        design.block(0, 9)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # of the kernels without the compiler
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_blocks_that_are_not_finite_are_refused(reader, bad):
    reader.X[30, 4] = bad
    design = BlockDesign(reader, 50, 8, block_rows=20, memory_budget=0)
    block = design.block(0, 50)
    with pytest.raises(DataError, match="the block of rows 20 to 40 has values that are not finite"):
        block.gradient(np.ones((1, 50)))
    with pytest.raises(DataError, match="the block of rows 20 to 40 has values that are not finite"):
        column_moments(reader, 50, 8, block_rows=20)


def test_a_step_reads_every_block_once(reader, rng):
    design = BlockDesign(reader, 50, 8, block_rows=20, memory_budget=0)
    point = rng.standard_normal((1, 8, 1)), np.zeros(1)
    design.value_and_gradient(Logistic(rng.choice([-1.0, 1.0], 50)), *point, 0, 50)
    assert [(start, stop) for start, stop, _ in reader.asked] == [(0, 20), (20, 40), (40, 50)]


def test_a_loss_over_pairs_sees_all_rows(reader, rng):
    loss = PairwiseLogistic([[0, 49], [30, 10]], [1.0, 0.0], 50)
    streamed = BlockDesign(reader, 50, 8, dtype=np.float64, block_rows=20, memory_budget=0)
    whole = DenseDesign(np.ascontiguousarray(reader.X.T))
    point = rng.standard_normal((1, 8, 1)), np.zeros(1)
    found, expected = (design.value_and_gradient(loss, *point, 0, 50) for design in (streamed, whole))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_any_type_and_layout(rng, dtype, order):
    X = np.asarray(100 * rng.standard_normal((50, 8)), dtype=dtype, order=order)
    center, scale = X.mean(axis=0), X.std(axis=0)
    design = BlockDesign(
        lambda start, stop, columns: X[start:stop, columns], 50, 8, center=center, scale=scale, block_rows=7
    )
    standard = (X - center) / scale
    beta, residual = rng.standard_normal((2, 8, 1)), rng.standard_normal((2, 50))
    block = design.block(0, 50)
    response = beta[:, :, 0] @ standard.T + np.array([[1.0], [2.0]])
    np.testing.assert_allclose(block.response(beta, np.array([1.0, 2.0])), response, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(block.gradient(residual)[:, :, 0], residual @ standard, rtol=1e-6, atol=1e-6)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="takes minutes without the compiler")
def test_memory_stays_within_the_budget():
    """A table of 64 MB, anew for every block, in 8 MB."""
    n_rows, n_features, budget = 8000, 2000, 8 << 20

    def read(start, stop, columns):
        numbers = np.arange(start, stop, dtype=np.float32)[:, None] * 31 + columns.astype(np.float32) * 17
        return np.sin(numbers, out=numbers)

    y = np.sign(np.sin(np.arange(n_rows)))
    for compiled in (False, True):
        design = BlockDesign(read, n_rows, n_features, memory_budget=budget)
        if compiled:
            tracemalloc.start()
        anneal(design, Logistic(y), None, InverseSchedule(k=200, n_iter=10), batch_size=None)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert design.resident is not None
    assert peak <= budget
