import numpy as np
import pytest

from annealed.models.designs.binned import BinnedDesign, knot_means
from annealed.models.knot_table import knots_of
from annealed.models.knots import MISSING_CODE, knot_basis


def table_of(*columns, n_bins=20, weight=None, categories=None):
    columns = np.array(columns, dtype=float)
    weight = np.ones(columns.shape[1]) if weight is None else weight
    return columns, knots_of(columns, weight, n_bins, categories)


@pytest.mark.parametrize("n_knots", [2, 3, 11, 21, 128, 255])
def test_every_knot_has_a_code_of_its_own(n_knots):
    """A twin: each code's place between knots, by NumPy's interpolation."""
    basis = knot_basis(n_knots)
    assert basis.n_coefficients == n_knots + 1
    step = 254 // (n_knots - 1)
    values = np.arange(n_knots + 1.0) ** 2
    codes = np.arange(256, dtype=np.uint8)[None]
    design = BinnedDesign(codes, basis, np.zeros((1, n_knots + 1)))
    found = design.response(values[None, None], np.zeros(1), 0, 256)[0]
    last = step * (n_knots - 1)
    expected = np.interp(np.arange(last + 1), step * np.arange(n_knots), values[:-1])
    np.testing.assert_allclose(found[: last + 1], expected)
    assert found[MISSING_CODE] == values[-1]


def test_few_values_are_the_knots(rng):
    flag, grade = rng.integers(0, 2, 200), rng.choice([1.0, 2.0, 7.0], 200)
    _, table = table_of(flag, grade, np.full(200, 3.0), np.full(200, np.nan))
    assert table.n_knots.tolist() == [2, 3, 1, 1]
    assert table.axis(1, 5).knots.tolist() == [1.0, 2.0, 7.0]


def test_bins_hold_as_many_rows_whatever_the_scale(rng):
    z = rng.standard_normal(3000)
    columns, table = table_of(z, np.exp(3 * z), np.append(z[:-1], 1e6))
    shares = knot_means(table.encode(columns), table.basis)[:, :21]
    assert (table.n_knots == 21).all()
    assert np.ptp(shares[0, 2:-3]) < 0.01
    np.testing.assert_allclose(shares, np.repeat(shares[:1], 3, axis=0), atol=0.03)
    np.testing.assert_array_equal(table.knots[1], np.exp(3 * table.knots[0]))  # a rank stays a rank


def test_frequent_values_leave_the_other_knots_to_the_others(rng):
    values = np.where(rng.random(2000) < 0.7, 0.0, rng.random(2000))
    _, table = table_of(values)
    assert table.n_knots[0] == 21
    inner = np.quantile(values[values > 0], np.linspace(0, 1, 20))
    np.testing.assert_allclose(table.knots[0, 1:], inner, atol=0.08)


def test_knots_of_weighted_rows_are_those_of_repeated_ones(rng):
    values, times = rng.standard_normal(300), rng.integers(1, 4, 300)
    _, weighted = table_of(values, weight=times.astype(float))
    _, repeated = table_of(np.repeat(values, times))
    np.testing.assert_array_equal(weighted.knots, repeated.knots)


def test_codes_are_places_between_knots(rng):
    columns, table = table_of(rng.standard_normal(500), rng.exponential(size=500))
    columns[0, :5] = [-9, 9, np.nan, *table.knots[0, [3, 20]]]
    codes = table.encode(columns)
    assert codes[0, :5].tolist() == [0, 240, MISSING_CODE, 36, 240]
    for j in range(2):
        known = np.isfinite(columns[j])
        expected = 12 * np.interp(columns[j, known], table.knots[j], np.arange(21))
        assert np.abs(codes[j, known] - expected).max() <= 0.5 + 1e-9


def test_categories_are_their_numbers_and_nothing_between():
    columns, table = table_of([0, 1, 2, 1, np.nan, 5, 0.5, -1, 3, 3], n_bins=2, categories={0: 4})
    assert table.is_category.tolist() == [True]
    step = 254 // 3
    expected = [0, step, 2 * step, step, *[MISSING_CODE] * 4, 3 * step, 3 * step]
    assert table.encode(columns)[0].tolist() == expected


def test_few_rows_have_few_bins(rng):
    _, table = table_of(rng.standard_normal(30))
    assert table.n_knots.tolist() == [6]


def test_large_tables_keep_their_extremes(rng):
    values = rng.standard_normal(30_001)
    values[[7, 11]] = [-50, 60]
    _, table = table_of(values)
    assert table.knots[0, [0, -1]].tolist() == [-50, 60]
