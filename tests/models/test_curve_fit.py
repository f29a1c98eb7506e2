import numpy as np
import pytest
from scipy.optimize import minimize

from annealed.models.curve_fit import fit_curves
from annealed.models.curve_terms import CodedTable, fit_terms
from annealed.models.knot_table import knots_of
from annealed.models.losses import Logistic, SquaredError


def coded(X, *, n_bins=6, weight=None, monotone=None, categories=None):
    weight = np.ones(len(X)) if weight is None else weight
    columns = np.ascontiguousarray(X.T)
    table = knots_of(columns, weight, n_bins, categories)
    return CodedTable(table.encode(columns), table, weight, monotone or {})


def fitted(data, columns, loss):
    return fit_terms(data, np.array(columns), [], np.arange(99), loss)


def dense(bases):
    """The matrix of all basis functions, centred, with the constant one last."""
    blocks = []
    for basis in bases:
        block = np.zeros((len(basis.place), basis.n_coefficients))
        for corner in range(basis.place.shape[1]):
            block[np.arange(len(block)), basis.place[:, corner]] += basis.part[:, corner]
        blocks.append(block)
    return np.hstack(blocks)


@pytest.fixture(name="X")
def rows(rng):
    return rng.standard_normal((300, 3))


def test_squared_error_recovers_curves(rng, X):
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2
    model = fitted(coded(X, n_bins=20), [0, 1], SquaredError(y))
    assert np.mean((model.respond(X)[:, 0] - y) ** 2) < 0.005 * y.var()


def test_noise_makes_curves_straight(rng, X):
    """With nothing but a line and noise, the smoothing finds the line."""
    y = X[:, 0] + rng.standard_normal(300)
    term = fitted(coded(X, n_bins=20), [0], SquaredError(y)).curves[0]
    knots, values = term.axes[0].knots[2:-2], term.values[0, 2:-3]
    line = np.polynomial.Polynomial.fit(knots, values, 1)
    assert np.abs(values - line(knots)).max() < 0.25


def test_logistic_fit_is_where_the_penalised_likelihood_is_largest(rng, X):
    """No other coefficients have a larger one, for the smoothing that was found."""
    y = np.where(np.sin(2 * X[:, 0]) + 0.5 * rng.standard_normal(300) > 0, 1.0, -1.0)
    data = coded(X)
    bases = [data.curve(0), data.curve(1)]
    fit = fit_curves(bases, y, data.weight, logistic=True)
    U = dense(bases)

    def loss(values):
        return np.logaddexp(0, -y * (U @ values + fit.intercept)).mean()

    found = np.concatenate(fit.values)
    smooth = minimize(lambda v: loss(v) + 1e-4 * np.sum(v**2), found).x
    assert loss(found) < loss(smooth) + 0.1
    assert loss(found) < loss(np.zeros_like(found)) - 0.2


def test_weights_repeat_rows(rng, X):
    y, times = X[:, 0] ** 2 + rng.standard_normal(300), rng.integers(1, 4, 300)
    weighted = fitted(coded(X, weight=times.astype(float)), [0], SquaredError(y, times))
    again = np.repeat(np.arange(300), times)
    repeated = fitted(coded(X[again]), [0], SquaredError(y[again]))
    np.testing.assert_allclose(weighted.respond(X), repeated.respond(X), atol=1e-6)


@pytest.mark.parametrize("loss", [SquaredError, Logistic])
@pytest.mark.parametrize("sign", [1, -1])
def test_monotone_curves_only_rise_or_fall(rng, X, loss, sign):
    y = np.sign(sign * X[:, 0] + np.sin(4 * X[:, 0]) + 0.3 * rng.standard_normal(300))
    model = fitted(coded(X, n_bins=20, monotone={0: sign}), [0, 1], loss(y))
    assert (sign * np.diff(model.curves[0].values[0, :-1]) >= 0).all()
    assert np.corrcoef(model.respond(X)[:, 0], y)[0, 1] > 0.6


def test_rare_categories_are_drawn_to_the_mean(rng):
    group = np.concatenate([np.repeat([0.0, 1.0], 200), [2.0]])
    y = np.where(group == 1, 1.0, -1.0) + 2 * rng.standard_normal(401)
    y[-1] = 5.0
    model = fitted(coded(group[:, None], categories={0: 3}), [0], SquaredError(y))
    common, rare = model.respond(np.array([[1.0], [2.0]]))[:, 0]
    assert abs(common - 1) < 0.3
    assert 0 < rare < 4


def test_missing_values_have_a_response_of_their_own(rng, X):
    y = X[:, 0].copy()
    X[:60, 0], y[:60] = np.nan, 3.0
    model = fitted(coded(X, n_bins=20), [0], SquaredError(y + 0.1 * rng.standard_normal(300)))
    assert abs(model.respond(np.array([[np.nan, 0, 0]]))[0, 0] - 3) < 0.3


def test_what_was_never_missing_adds_nothing(X):
    model = fitted(coded(X), [0], SquaredError(X[:, 0]))
    assert model.curves[0].values[0, -1] == 0
