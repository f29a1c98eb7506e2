"""A regressor's swaps: a better set of features, with least-squares coefficients in the input's units."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression

from annealed.models import FSARegressor
from annealed.models.penalties import Ridge, SecondDifference


def weak_table(rng, n=120, n_features=80):
    X = 5 + 2 * rng.standard_normal((n, n_features))
    return X, X[:, :6].sum(axis=1) + 6 * rng.standard_normal(n) + 3


def training_error(model, X, y, weight=None):
    return np.average((y - model.predict(X)) ** 2, weights=weight)


@pytest.mark.parametrize("seed", range(5))
def test_swaps_never_raise_the_training_error(seed):
    X, y = weak_table(np.random.default_rng(seed))
    annealed, swapped = (FSARegressor(k=6, penalty=None, max_swaps=n).fit(X, y) for n in (0, 100))
    assert training_error(swapped, X, y) <= training_error(annealed, X, y) * (1 + 1e-9)


def test_swaps_find_weak_features_that_annealing_loses():
    found = {0: 0, 100: 0}
    for seed in range(10):
        X, y = weak_table(np.random.default_rng(seed))
        for n in found:
            found[n] += FSARegressor(k=6, penalty=None, max_swaps=n).fit(X, y).support_[:6].sum()
    assert found[100] > found[0]


def test_a_ridge_by_the_noise_finds_weak_features():
    found = {"auto": 0, None: 0}
    for seed in range(10):
        X, y = weak_table(np.random.default_rng(seed), n=150, n_features=600)
        for penalty in found:
            found[penalty] += FSARegressor(k=6, penalty=penalty, max_swaps=0).fit(X, y).support_[:6].sum()
    assert found["auto"] > found[None]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_coefficients_are_those_of_least_squares(weighted, make):
    n_swapped = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = weak_table(rng)
        X[:, 10:] *= rng.random((120, 70)) < 0.4
        weight = rng.uniform(0.5, 2, 120) if weighted else None
        model = FSARegressor(k=6).fit(make(X), y, sample_weight=weight)
        annealed = FSARegressor(k=6, max_swaps=0).fit(make(X), y, sample_weight=weight)
        n_swapped += not np.array_equal(model.support_, annealed.support_)
        kept = model.get_support(indices=True)
        exact = LinearRegression().fit(X[:, kept], y, sample_weight=weight)
        np.testing.assert_allclose(model.coef_[kept], exact.coef_, rtol=1e-3)
        np.testing.assert_allclose(model.predict(make(X)), exact.predict(X[:, kept]), rtol=1e-3)
    assert n_swapped


def test_ranking_counts_the_features_that_left(rng):
    X, y = weak_table(rng)
    model = FSARegressor(k=6).fit(X, y)
    assert sorted(model.ranking_) == [1] * 6 + list(range(2, 76))
    np.testing.assert_array_equal(model.ranking_ == 1, model.support_)


def test_features_that_must_stay_stay(rng):
    X, y = weak_table(rng)
    assert FSARegressor(k=6, always_keep=[70, 75]).fit(X, y).support_[[70, 75]].all()


@pytest.mark.parametrize(
    ("penalty", "swaps"), [(SecondDifference(), False), (None, True), (Ridge(0.001), True)]
)
def test_only_without_penalty_or_with_a_ridge(penalty, swaps):
    n_swapped = 0
    for seed in range(5):
        X, y = weak_table(np.random.default_rng(seed))
        with_swaps, without = (FSARegressor(k=6, penalty=penalty, max_swaps=n).fit(X, y) for n in (100, 0))
        n_swapped += not np.array_equal(with_swaps.support_, without.support_)
    assert bool(n_swapped) == swaps


def test_groups_are_not_swapped(rng):
    X, y = weak_table(rng)
    groups = np.arange(80) // 2
    model = FSARegressor(k=3, feature_groups=groups).fit(X, y)
    assert (np.bincount(groups[model.support_], minlength=40) % 2 == 0).all()
