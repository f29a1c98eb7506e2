"""Fits that go on from the model of the fit before."""

import numpy as np
import pytest

from annealed.features.errors import DataError, ParameterError
from annealed.models import FSAClassifier, FSAClassifierCV, FSARanker, FSARegressor

SHORT = {"n_iter": 60, "warm_start": True}


@pytest.fixture(name="table")
def make_table(rng):
    X = rng.standard_normal((200, 30))
    return X, 3 * X[:, 4] - 2 * X[:, 17] + X[:, 9] + 0.3 * rng.standard_normal(200)


@pytest.mark.parametrize("response", ["linear", "piecewise"])
@pytest.mark.parametrize("estimator", [FSAClassifier, FSARegressor, FSARanker])
def test_a_smaller_k_begins_with_the_features_at_hand(table, estimator, response):
    X, y = table
    y = (y > 0).astype(int) if estimator is FSAClassifier else y
    model = estimator(k=8, response=response, **SHORT).fit(X, y)
    eight, before = model.get_support(indices=True), model.ranking_.copy()
    model.set_params(k=2).fit(X, y)
    two = model.get_support(indices=True)
    assert len(two) == 2
    assert set(two) <= set(eight)
    assert model.trace_.features_kept[0] <= 8
    assert sorted(model.ranking_) == [1, 1, *range(2, 30)]
    out = np.setdiff1d(np.arange(30), eight)
    assert model.ranking_[out].min() == 8
    np.testing.assert_array_equal(np.argsort(model.ranking_[out]), np.argsort(before[out]))
    alone = estimator(k=2, response=response, n_iter=60).fit(X[:, eight], y)
    np.testing.assert_array_equal(eight[alone.get_support(indices=True)], two)
    np.testing.assert_allclose(model.predict(X), alone.predict(X[:, eight]), rtol=1e-3, atol=1e-3)


def test_new_rows_train_the_same_features(table, rng):
    X, y = table
    model = FSARegressor(k=3, **SHORT).fit(X[:100], y[:100])
    first = model.coef_
    model.fit(X[100:], 2 * y[100:])
    np.testing.assert_array_equal(model.support_, first != 0)
    np.testing.assert_allclose(model.coef_, 2 * first, atol=0.5)


def test_features_that_must_stay_and_groups(table):
    X, y = table
    model = FSARegressor(k=6, always_keep=[20], **SHORT).fit(X, y)
    assert model.set_params(k=2).fit(X, y).support_[20]
    left = np.flatnonzero(~model.support_)[0]
    with pytest.raises(ParameterError, match="always_keep names features that have left before"):
        model.set_params(always_keep=[left]).fit(X, y)
    groups = np.arange(30) // 3
    model = FSARegressor(k=4, feature_groups=groups, **SHORT).fit(X, y).set_params(k=2).fit(X, y)
    assert len(np.unique(groups[model.support_])) == 2
    assert model.support_.sum() == 6


def test_another_table_is_refused_and_more_features_are_told(table):
    X, y = table
    model = FSARegressor(k=3, **SHORT).fit(X, y)
    with pytest.warns(UserWarning, match="k = 5 exceeds the 3 features"):
        model.set_params(k=5).fit(X, y)
    with pytest.raises(DataError, match="goes on from a model of 30 features; X has 20"):
        model.set_params(k=2).fit(X[:, :20], y)


def test_without_it_a_fit_knows_nothing_of_the_one_before(table):
    X, y = table
    again = FSARegressor(k=8, n_iter=60).fit(X, y).set_params(k=2).fit(X, y)
    np.testing.assert_array_equal(again.ranking_, FSARegressor(k=2, n_iter=60).fit(X, y).ranking_)
    chosen = FSAClassifierCV(k=[2, 8], cv=2, **SHORT).fit(X, y > 0)
    np.testing.assert_array_equal(chosen.fit(X, y > 0).k_, chosen.k_)
