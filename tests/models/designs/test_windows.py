import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.features.pool import WindowPool
from annealed.models.annealing import anneal
from annealed.models.designs import BinnedDesign, windows
from annealed.models.designs.windows import WindowsDesign
from annealed.models.losses import Logistic
from annealed.models.schedules import InverseSchedule

N_BINS = 5


class CountingPool(WindowPool):
    """A pool that remembers how many codes it was asked for."""

    asked: tuple[tuple[int, int], ...] = ()

    def codes(self, patches, lo, hi, out=None):
        CountingPool.asked += ((len(self), len(patches)),)
        return super().codes(patches, lo, hi, out)

    def __getitem__(self, indices):
        return CountingPool(super().__getitem__(indices).descriptors)


@pytest.fixture(scope="module")
def pool():
    every = WindowPool.default()
    return every[np.random.default_rng(8).permutation(len(every))[:60]]


@pytest.fixture
def patches(rng):
    return rng.integers(0, 256, (90, 26, 26, 3), dtype=np.uint8)


def resident(pool, patches):
    low, high = pool.ranges(patches)
    return BinnedDesign(pool.codes(patches, low, high), N_BINS)


def assert_same(one, other, rng):
    """Responses and gradients agree on all rows and on some."""
    beta = rng.standard_normal((2, one.n_features, N_BINS + 1))
    for start, stop in [(0, 90), (17, 71), (89, 90)]:
        block, expected = one.block(start, stop), other.block(start, stop)
        residual = rng.standard_normal((2, stop - start))
        intercept = np.array([0.5, -2.0])
        np.testing.assert_allclose(
            block.response(beta, intercept), expected.response(beta, intercept), atol=1e-10
        )
        np.testing.assert_allclose(block.gradient(residual), expected.gradient(residual), atol=1e-10)


@pytest.mark.parametrize("block_rows", [7, 64, 1000])
@pytest.mark.parametrize("budget", [0, 90 * 20, 90 * 60])
def test_equals_the_resident_design(pool, patches, rng, budget, block_rows, monkeypatch):
    monkeypatch.setattr(windows, "BLOCK_BYTES", block_rows * len(pool))
    design, expected = WindowsDesign(pool, patches, N_BINS, memory_budget=budget), resident(pool, patches)
    assert_same(design, expected, rng)
    for indices in (np.arange(1, 60, 2), np.array([0, 3, 4, 20]), np.array([2])):
        design.keep(indices)
        expected.keep(indices)
        assert design.n_features == len(indices)
        assert_same(design, expected, rng)


def test_annealing_selects_the_same_features(pool, patches):
    labels = np.where(patches[:, 5:15, 5:15, 0].mean(axis=(1, 2)) > 127, 1.0, -1.0)
    results = [
        anneal(design, Logistic(labels), None, InverseSchedule(k=6, n_iter=40, mu=20), batch_size=32)
        for design in (
            WindowsDesign(pool, patches, N_BINS, memory_budget=90 * 15),
            resident(pool, patches),
        )
    ]
    assert np.array_equal(results[0].kept, results[1].kept)
    np.testing.assert_allclose(results[0].beta, results[1].beta, atol=1e-8)


def test_survivors_are_computed_once_more_when_they_fit(pool, patches):
    design = WindowsDesign(CountingPool(pool.descriptors), patches, N_BINS, memory_budget=90 * 25)
    assert design.resident is None
    design.keep(np.arange(0, 60, 3))
    assert isinstance(design.resident, BinnedDesign)
    CountingPool.asked = ()
    design.block(0, 90).gradient(np.ones((1, 90)))
    design.keep(np.array([1, 4]))
    design.block(10, 30).response(np.ones((1, 2, N_BINS + 1)), np.zeros(1))
    assert CountingPool.asked == ()


def test_everything_that_fits_is_resident_from_the_start(pool, patches):
    assert WindowsDesign(pool, patches, N_BINS).resident is not None


def test_only_a_block_of_codes_is_made_at_a_time(pool, patches, monkeypatch):
    monkeypatch.setattr(windows, "BLOCK_BYTES", 10 * len(pool))
    design = WindowsDesign(CountingPool(pool.descriptors), patches, N_BINS, memory_budget=0)
    CountingPool.asked = ()
    design.block(0, 90).gradient(np.ones((1, 90)))
    design.keep(np.arange(30))
    design.block(0, 90).gradient(np.ones((1, 90)))
    assert max(features * rows for features, rows in CountingPool.asked) == 10 * len(pool)
    assert sum(rows for _, rows in CountingPool.asked) == 2 * 90


def test_a_batch_computes_its_own_rows_only(pool, patches):
    design = WindowsDesign(CountingPool(pool.descriptors), patches, N_BINS, memory_budget=0)
    CountingPool.asked = ()
    design.block(40, 72)
    assert CountingPool.asked == ((60, 32),)


def test_given_ranges_are_used(pool, patches):
    low, high = pool.ranges(patches)
    design = WindowsDesign(pool, patches, N_BINS, low=low - 10, high=high + 10, memory_budget=0)
    assert np.array_equal(design.read_values(3, 9), pool.codes(patches[3:9], low - 10, high + 10))


def test_means_of_many_rows_are_estimated_from_some(pool, patches, monkeypatch):
    monkeypatch.setattr(windows, "MEAN_ROWS", 30)
    design = WindowsDesign(pool, patches, N_BINS, memory_budget=0)
    some = WindowsDesign(pool, patches[::3], N_BINS, low=design.low, high=design.high)
    assert np.array_equal(design.means, some.means)


def test_other_arrays_are_no_windows(pool):
    with pytest.raises(DataError, match="patches has shape"):
        WindowsDesign(pool, np.zeros((9, 24, 24, 3), np.uint8), N_BINS)


def test_no_windows_are_refused(pool):
    with pytest.raises(DataError, match="at least one window"):
        WindowsDesign(pool, np.zeros((0, 26, 26, 3), np.uint8), N_BINS)
