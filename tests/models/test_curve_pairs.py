import numpy as np
import pytest

from annealed.models.curve_pairs import CUT_BINS, _best_cut, choose_pairs, coarse_bins
from annealed.models.curve_terms import CodedTable, fit_terms
from annealed.models.knot_table import knots_of
from annealed.models.losses import SquaredError


def coded(X, **options):
    columns = np.ascontiguousarray(X.T)
    table = knots_of(columns, np.ones(len(X)), 20, options.pop("categories", None))
    return CodedTable(table.encode(columns), table, np.ones(len(X)), **options)


@pytest.fixture(name="X")
def rows(rng):
    return rng.standard_normal((500, 8))


def test_best_cut_agrees_with_naive_twin(rng):
    rows, sums = rng.integers(1, 9, (5, 5)).astype(float), rng.standard_normal((5, 5))
    best = 0.0
    for i in range(1, 5):
        for j in range(1, 5):
            quarters = [np.s_[:i, :j], np.s_[:i, j:], np.s_[i:, :j], np.s_[i:, j:]]
            means = [sums[q].sum() / rows[q].sum() for q in quarters]
            contrast = means[0] - means[1] - means[2] + means[3]
            best = max(best, contrast**2 / sum(1 / rows[q].sum() for q in quarters))
    assert _best_cut(rows, sums) == pytest.approx(best)


def test_coarse_bins_are_even_and_missing_values_apart(X):
    X[:50, 0] = np.nan
    bins = coarse_bins(coded(X), 0)
    assert (bins[:50] == CUT_BINS).all()
    assert np.bincount(bins[50:], minlength=CUT_BINS).min() > 30


def test_products_are_found_without_curves_of_their_own(rng, X):
    left_over = (np.sign(X[:, 2] * X[:, 5]) + X[:, 1] * X[:, 7] + 0.5 * rng.standard_normal(500))[None]
    assert choose_pairs(coded(X), left_over, 2, np.arange(8)) == [(1, 7), (2, 5)]
    assert len(choose_pairs(coded(X), left_over, 5, np.arange(8))) == 5


def test_all_pairs_that_there_are(X):
    assert choose_pairs(coded(X[:, :3]), X[:, :1].T, 9, np.arange(3)) == [(0, 1), (0, 2), (1, 2)]
    assert choose_pairs(coded(X[:, :1]), X[:, :1].T, 1, np.arange(1)) == []


def test_monotone_columns_take_no_part(X):
    left_over = (X[:, 0] * X[:, 1])[None]
    assert (0, 1) not in choose_pairs(coded(X, monotone={0: 1}), left_over, 2, np.arange(8))


def test_surfaces_follow_products(rng, X):
    y = np.sin(X[:, 0] * X[:, 1]) + X[:, 2]
    model = fit_terms(coded(X), np.array([0, 1, 2]), [(0, 1)], np.arange(8), SquaredError(y))
    new = rng.standard_normal((300, 8))
    error = np.mean((model.respond(new)[:, 0] - np.sin(new[:, 0] * new[:, 1]) - new[:, 2]) ** 2)
    assert error < 0.06 * y.var()
    assert model.curves[-1].features == (0, 1)


def test_surfaces_of_categories_and_missing_values(rng, X):
    X[:, 0] = rng.integers(0, 3, 500)
    X[:40, 1] = np.nan
    y = np.where(np.isnan(X[:, 1]), 2.0, X[:, 1]) * (X[:, 0] == 1) + 0.1 * rng.standard_normal(500)
    model = fit_terms(coded(X, categories={0: 3}), np.array([0, 1]), [(0, 1)], np.arange(8), SquaredError(y))
    assert np.corrcoef(model.respond(X)[:, 0], y)[0, 1] > 0.97
    assert abs(model.respond(np.array([[1.0, np.nan, *[0.0] * 6]]))[0, 0] - 2) < 0.5
