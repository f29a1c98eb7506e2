import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from annealed.features.errors import ParameterError
from annealed.models import FSARegressor
from annealed.models.losses import SquaredError
from annealed.models.penalties import Ridge

SETTLED = {"n_iter": 2000, "tol": 1e-10, "random_state": 0}


@pytest.fixture(name="X")
def make_table(rng):
    return rng.standard_normal((120, 15)) * np.linspace(0.1, 10, 15) + np.arange(15)


def one_target(rng, X):
    return 5 * X[:, 2] - X[:, 6] + 0.3 * X[:, 11] + 100 + 0.1 * rng.standard_normal(120)


@pytest.mark.parametrize("with_weights", [False, True])
def test_converges_to_least_squares_on_its_support(rng, X, with_weights):
    y = one_target(rng, X)
    weight = rng.uniform(0.1, 3, 120) if with_weights else None
    model = FSARegressor(k=3, **SETTLED).fit(X, y, sample_weight=weight)
    assert model.get_support(indices=True).tolist() == [2, 6, 11]
    best = LinearRegression().fit(X[:, [2, 6, 11]], y, sample_weight=weight)
    np.testing.assert_allclose(model.coef_[model.support_], best.coef_, rtol=1e-6)
    assert model.intercept_ == pytest.approx(best.intercept_, rel=1e-6)
    np.testing.assert_allclose(model.predict(X), best.predict(X[:, [2, 6, 11]]), rtol=1e-6)


def test_ridge_is_relative_to_standard_units(rng, X):
    """Mean squared error of the standardised target plus strength times the squared norm, as stated."""
    y = one_target(rng, X)
    model = FSARegressor(k=3, penalty=Ridge(0.2), **SETTLED).fit(X, y)
    Z = X[:, model.support_]
    Z, z = (Z - Z.mean(axis=0)) / Z.std(axis=0), (y - y.mean()) / y.std()
    beta = np.linalg.solve(Z.T @ Z / 120 + 0.2 * np.eye(3), Z.T @ z / 120)
    expected = beta * y.std() / X[:, model.support_].std(axis=0)
    np.testing.assert_allclose(model.coef_[model.support_], expected, rtol=1e-6)


def test_units_of_the_target_do_not_matter(rng, X):
    y = one_target(rng, X)
    plain = FSARegressor(k=3, random_state=0).fit(X, y)
    scaled = FSARegressor(k=3, random_state=0).fit(X, 1e6 * y - 5)
    np.testing.assert_allclose(scaled.predict(X), 1e6 * plain.predict(X) - 5, rtol=1e-9)


def test_one_target_has_no_axis_of_outputs(rng, X):
    model = FSARegressor(k=3, n_iter=50).fit(X, one_target(rng, X))
    assert model.coef_.shape == (15,)
    assert isinstance(model.intercept_, float)
    assert model.predict(X).shape == (120,)


@pytest.mark.parametrize("response", ["linear", "piecewise"])
def test_targets_share_their_features(rng, X, response):
    y = np.column_stack([X[:, 2] + X[:, 6], X[:, 6] - 20 * X[:, 0], 1000 * X[:, 2]])
    model = FSARegressor(k=3, response=response, random_state=0).fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 2, 6]
    assert model.predict(X).shape == (120, 3)
    assert model.score(X, y) > 0.97
    assert model.intercept_.shape == (3,)
    if response == "linear":
        assert model.coef_.shape == (3, 15)
        np.testing.assert_allclose(model.predict(X), X @ model.coef_.T + model.intercept_)


def test_rare_labels_weigh_less_than_frequent_ones_and_rare_quantities_do_not(rng):
    """Feature 7 tells of a label that half the samples have, feature 1 of 15 that two have."""
    X = rng.standard_normal((200, 30))
    rare = np.zeros((200, 15))
    rare[np.argsort(X[:, 1])[-30:], np.tile(np.arange(15), 2)] = 1
    Y = np.column_stack([X[:, 7] + 1.5 * rng.standard_normal(200) > 0, rare])
    assert FSARegressor(k=1, random_state=0).fit(X, Y).get_support(indices=True) == 7
    assert FSARegressor(k=1, random_state=0).fit(X, 2 * Y).get_support(indices=True) == 1


def test_column_of_one_target_keeps_its_axis(rng, X):
    y = one_target(rng, X)
    column = FSARegressor(k=3, n_iter=50, random_state=0).fit(X, y[:, None])
    flat = FSARegressor(k=3, n_iter=50, random_state=0).fit(X, y)
    np.testing.assert_array_equal(column.predict(X)[:, 0], flat.predict(X))


def test_piecewise_response_recovers_a_curve(rng):
    X = rng.uniform(-3, 3, (800, 8))
    model = FSARegressor(k=1, response="piecewise", n_bins=12).fit(X, np.sin(X[:, 5]))
    assert model.get_support(indices=True).tolist() == [5]
    grid = np.zeros((50, 8))
    grid[:, 5] = np.linspace(-3, 3, 50)
    # Twelve straight pieces of 0.5: the sine bends off each by at most 0.5^2 / 8.
    np.testing.assert_allclose(model.predict(grid), np.sin(grid[:, 5]), atol=0.06)


@pytest.mark.parametrize("response", ["linear", "piecewise"])
def test_constant_target(X, response):
    model = FSARegressor(k=2, response=response, n_iter=30).fit(X, np.full(120, 7.5))
    np.testing.assert_allclose(model.predict(X), 7.5)


@pytest.mark.parametrize("response", ["linear", "piecewise"])
def test_one_sample_is_refused(response):
    with pytest.raises(ValueError, match="a minimum of 2 is required"):
        FSARegressor(k=1, response=response).fit([[1.0, 2.0]], [3.0])


def test_losses_as_objects(rng):
    """A class, or whatever makes a loss of targets and weights."""
    X = rng.standard_normal((300, 12))
    y = 2 * X[:, 3] - X[:, 7] + 0.1 * rng.standard_normal(300)
    expected = FSARegressor(k=2, penalty=None, max_swaps=0).fit(X, y).predict(X)
    for loss in (SquaredError, lambda targets, weight: SquaredError(targets, sample_weight=weight)):
        np.testing.assert_array_equal(
            FSARegressor(k=2, loss=loss, penalty=None).fit(X, y).predict(X), expected
        )
    with pytest.raises(ParameterError, match="The 'loss' parameter of FSARegressor must be"):
        FSARegressor(k=2, loss="lorenz").fit(X, y)


def test_rare_events_are_learned(rng):
    X = rng.standard_normal((1000, 20))
    y = np.zeros(1000)
    events = rng.choice(1000, 8, replace=False)
    X[events, 3] += 30
    y[events] = 10.0
    model = FSARegressor(k=1, random_state=0).fit(X, y)
    assert model.get_support(indices=True).tolist() == [3]
    best = LinearRegression().fit(X[:, [3]], y)
    np.testing.assert_allclose(model.predict(X), best.predict(X[:, [3]]), atol=0.05)


def test_targets_that_are_not_finite_are_refused(X):
    with pytest.raises(ValueError, match="Input y contains NaN"):
        FSARegressor(k=1).fit(X, np.full(120, np.nan))


def test_a_few_wrong_targets_disturb_the_huber_error_less(rng):
    X = rng.standard_normal((300, 12))
    y = 2 * X[:, 3] - X[:, 7] + 0.1 * rng.standard_normal(300)
    wrong = y.copy()
    wrong[:9] += 60
    squared, robust = (FSARegressor(k=2, loss=loss).fit(X, wrong) for loss in ("squared", "huber_error"))
    errors = [np.abs(model.coef_ - np.eye(12)[3] * 2 + np.eye(12)[7]).max() for model in (squared, robust)]
    assert errors[1] < 0.5 * errors[0]
