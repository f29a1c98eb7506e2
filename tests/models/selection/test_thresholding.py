"""Quantile TISP: stationary on what it keeps, never a rising loss, neighbours exchanged for true features."""

import numpy as np
import pytest
from scipy.special import expit

from annealed.datasets.tables.simulated import make_correlated_regression
from annealed.features.errors import ParameterError
from annealed.models.selection.ranked import descending
from annealed.models.selection.thresholding import quantile_tisp


def test_ends_in_least_squares_on_what_it_keeps(rng):
    X = rng.standard_normal((80, 20))
    Y = X[:, [3, 11]] @ np.array([[2.0, 1.0], [-1.0, 0.5]]) + [7.0, -1.0]
    W, intercept = quantile_tisp(X, Y, 2)
    assert np.flatnonzero(W.any(axis=1)).tolist() == [3, 11]
    np.testing.assert_allclose(W[[3, 11]], [[2, 1], [-1, 0.5]], atol=1e-6)
    np.testing.assert_allclose(intercept, [7, -1], atol=1e-6)


def test_ends_where_the_logistic_gradient_is_zero(rng):
    X = rng.standard_normal((200, 15))
    y = (rng.random(200) < expit(2.0 + 3 * X[:, 4] - 2 * X[:, 9])).astype(float)
    W, intercept = quantile_tisp(X, y[:, None], 2, family="logistic")
    residual = y - expit(X @ W[:, 0] + intercept)
    assert np.flatnonzero(W).tolist() == [4, 9]
    np.testing.assert_allclose(X[:, [4, 9]].T @ residual / 200, 0, atol=1e-6)
    assert residual.mean() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("family", ["squared", "logistic"])
def test_the_loss_falls_with_every_step(rng, family):
    X = rng.standard_normal((60, 30)) + 2 * rng.standard_normal((60, 1))
    y = (X[:, 2] - X[:, 5] > 0.3).astype(float)
    losses = []
    for n_steps in range(6):
        W, intercept = quantile_tisp(X, y[:, None], 3, family=family, n_thresholded=n_steps, n_converging=0)
        assert np.count_nonzero(W) <= 3
        f = X @ W[:, 0] + intercept
        loss = ((y - f) ** 2 / 2) if family == "squared" else np.logaddexp(0, f) - y * f
        losses.append(loss.sum())
    assert (np.diff(losses) <= 0).all()
    assert losses[-1] < losses[1]


def test_leaves_the_neighbours_that_it_starts_from():
    """Next to a true feature lie others that correlate with more of the true ones than it does."""
    found, started = 0, 0
    for seed in range(3):
        X, y, support = make_correlated_regression(1000, 1000, 10, random_state=seed)
        W, _ = quantile_tisp(X, y[:, None], 10)
        found += support[np.flatnonzero(W)].sum()
        started += support[descending(np.abs(X.T @ (y - y.mean())))[:10]].sum()
    assert found > 2 * started


def test_nothing_to_learn_is_nothing_selected(rng):
    W, intercept = quantile_tisp(rng.standard_normal((20, 4)), np.full((20, 1), 3.0), 2)
    np.testing.assert_allclose(intercept, 3)
    np.testing.assert_allclose(W, 0, atol=1e-12)
    W, _ = quantile_tisp(np.zeros((20, 4)), rng.standard_normal((20, 1)), 2)
    assert not W.any()


def test_unknown_family():
    with pytest.raises(ParameterError, match="family must be one of"):
        quantile_tisp(np.eye(3), np.ones((3, 1)), 1, family="poisson")
