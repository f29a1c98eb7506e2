import numpy as np
import pytest
from scipy import sparse

from annealed.features.errors import DataError
from annealed.models.columns import (
    copied_columns,
    full_ranges,
    is_constant,
    trimmed_ranges,
    varying_columns,
)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_varying_columns(form):
    X = np.array([[1.0, 0.0, 2.0, 0.0], [1.0, 0.0, 3.0, 1e-300]])
    assert varying_columns(form(X)).tolist() == [2, 3]
    with pytest.raises(DataError, match="every feature is constant"):
        varying_columns(form(X[:, :2]))


def test_rounding_is_no_variation():
    column = np.full(1000, 0.1)
    assert is_constant(column.std(), column.mean())
    assert is_constant(0.0, 0.0)
    assert not is_constant(1e-3, 1e6)


def test_full_ranges_are_least_and_greatest(rng):
    columns = rng.standard_normal((5, 40)).astype(np.float32)
    low, high = full_ranges(columns, np.ones(40))
    np.testing.assert_array_equal(low, columns.min(axis=1))
    np.testing.assert_array_equal(high, columns.max(axis=1))
    assert low.dtype == np.float64


def naive_trimmed(column, weight):
    """The definition: nine tenths of the weight, and five times as much on either side."""
    order = np.argsort(column)
    shares = np.cumsum(weight[order]) / weight.sum() + 1e-12
    least, most = (column[order][shares >= part][0] for part in (0.05, 0.95))
    width = most - least
    if width == 0:
        return column.min(), column.max()
    return max(column.min(), least - 5 * width), min(column.max(), most + 5 * width)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("power", [1, 7])
def test_trimmed_ranges_agree_with_naive_twin(rng, weighted, power):
    for n in (2, 3, 19, 20, 21, 40, 173):
        columns = rng.standard_normal((4, n)) ** power
        columns[1] = np.round(columns[1])
        weight = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
        low, high = trimmed_ranges(columns, weight)
        for j in range(4):
            np.testing.assert_allclose((low[j], high[j]), naive_trimmed(columns[j], weight), rtol=1e-12)


def test_weights_repeat_samples(rng):
    columns, weight = rng.standard_t(2, (6, 50)), rng.integers(1, 5, 50)
    repeated = trimmed_ranges(columns.repeat(weight, axis=1), np.ones(weight.sum()))
    np.testing.assert_array_equal(trimmed_ranges(columns, weight.astype(float)), repeated)


def test_normal_columns_keep_their_range_and_huge_values_lose_theirs(rng):
    columns = rng.standard_normal((20, 400))
    weight = np.ones(400)
    np.testing.assert_array_equal(trimmed_ranges(columns, weight), full_ranges(columns, weight))
    columns[:, 7] = 300
    low, high = trimmed_ranges(columns, weight)
    np.testing.assert_array_equal(low, columns.min(axis=1))
    assert (high < 25).all()
    assert (high >= np.sort(columns, axis=1)[:, -2]).all()


def test_columns_that_are_mostly_one_value_keep_their_range():
    column = np.zeros((1, 100))
    column[0, :4] = [3, 5, 9, 400]
    np.testing.assert_array_equal(trimmed_ranges(column, np.ones(100)), [[0], [400]])


@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e300, 1.7e308])
def test_extreme_values_give_ranges(rng, size):
    columns = rng.uniform(-1, 1, (3, 60)) * size
    low, high = trimmed_ranges(columns, np.ones(60))
    assert (np.isfinite(low) & np.isfinite(high) & (low <= high)).all()


def test_of_many_rows_a_sample_says_where_the_middle_is(rng):
    columns = rng.standard_normal((2, 45_000))
    columns[0, 1] = -1e9
    low, high = trimmed_ranges(columns, np.ones(45_000))
    assert -19 < low[0] < -17
    np.testing.assert_allclose(high, columns.max(axis=1))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_copied_columns_as_a_slow_twin_finds_them(rng, make):
    for _ in range(30):
        n_rows = int(rng.integers(1, 60))
        X = rng.integers(0, 2, (n_rows, 12)) * rng.choice([1.0, 2.5], (n_rows, 12))
        X[:, rng.integers(0, 12, 4)] = X[:, rng.integers(0, 12, 4)]
        X[:, 3] = rng.choice([0.0, 7.0])
        expected = {}
        for j in range(12):
            first = next(i for i in range(j + 1) if np.array_equal(X[:, i], X[:, j]))
            if first != j and np.ptp(X[:, j]) > 0:
                expected.setdefault(first, []).append(j)
        assert copied_columns(make(X)) == expected
