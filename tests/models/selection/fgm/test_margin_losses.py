"""Losses against finite differences, their duals, values by hand, and intercepts against a search."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from annealed.models.selection.fgm.margin_losses import Logistic, SquaredHinge

LOSSES = [SquaredHinge, Logistic]


def bind(rng, cls, fit_intercept=True, n=30, n_outputs=2):
    y = np.where(rng.random((n, n_outputs)) < 0.3, 1.0, -1.0)
    y[:2] = [[1.0], [-1.0]]
    return cls(y, rng.uniform(0.1, 3, n), fit_intercept)


@pytest.mark.parametrize("cls", LOSSES)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_dual_is_minus_the_gradient(rng, cls, fit_intercept):
    loss = bind(rng, cls, fit_intercept)
    response = rng.standard_normal(loss.y.shape)
    gradient = -loss.dual(response) * loss.y
    for _ in range(5):
        direction = rng.standard_normal(response.shape)
        slope = (loss.value(response + 1e-6 * direction) - loss.value(response - 1e-6 * direction)) / 2e-6
        assert np.vdot(gradient, direction) == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("cls", LOSSES)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_dual_value_meets_the_loss_at_alpha_and_bounds_it_elsewhere(rng, cls, fit_intercept):
    loss = bind(rng, cls, fit_intercept)
    response = rng.standard_normal(loss.y.shape)
    alpha = loss.dual(response)
    assert loss.dual_value(alpha) - np.sum(alpha * loss.y * response) == pytest.approx(loss.value(response))
    other = loss.dual(rng.standard_normal(loss.y.shape))
    assert loss.dual_value(other) - np.sum(other * loss.y * response) < loss.value(response)


@pytest.mark.parametrize("cls", LOSSES)
def test_dual_bound_is_the_best_multiple(rng, cls):
    loss = bind(rng, cls)
    alpha = loss.dual(rng.standard_normal(loss.y.shape))
    reach = 1 if cls is Logistic else 10  # alpha may not pass the cost with the logistic loss
    multiples = np.linspace(0, reach / np.max(alpha / loss.cost), 5001)
    best = max(loss.dual_value(s * alpha) - 0.5 * s * s * 50.0 for s in multiples)
    assert loss.dual_bound(alpha, 50.0) == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize("cls", LOSSES)
@pytest.mark.parametrize("spread", [0.0, 1.0, 100.0])
def test_intercept_is_the_best_one(rng, cls, spread):
    loss = bind(rng, cls, n_outputs=3)
    response = spread * rng.standard_normal(loss.y.shape) + 7.0
    intercept = loss.intercept(response)
    dual = loss.dual(response)
    np.testing.assert_allclose((dual * loss.y).sum(axis=0), 0, atol=1e-9 * loss.cost.sum())
    for j in range(3):
        alone = cls(loss.y[:, [j]], loss.cost[:, 0], False)
        found = minimize_scalar(
            lambda b, alone=alone, j=j: alone.value(response[:, [j]] + b),
            bounds=(-500, 500),
            method="bounded",
        )
        assert alone.value(response[:, [j]] + intercept[j]) <= found.fun + 1e-9


def test_intercept_when_the_classes_are_apart():
    """A flat valley of squared hinge loss zero: any point of it is a best intercept."""
    y = np.array([[1.0], [1.0], [-1.0]])
    loss = SquaredHinge(y, np.ones(3), True)
    assert loss.value(np.array([[30.0], [20.0], [-5.0]])) == 0
    assert not loss.dual(np.array([[30.0], [20.0], [-5.0]])).any()


def test_values_by_hand():
    y, response = np.array([[1.0], [-1.0]]), np.array([[0.5], [2.0]])
    cost = np.array([2.0, 1.0])
    assert SquaredHinge(y, cost, False).value(response) == pytest.approx(2 * 0.125 + 4.5)
    expected = 2 * np.log1p(np.exp(-0.5)) + np.log1p(np.exp(2.0))
    assert Logistic(y, cost, False).value(response) == pytest.approx(expected)
    np.testing.assert_allclose(SquaredHinge(y, cost, False).dual(response), [[1.0], [3.0]])
