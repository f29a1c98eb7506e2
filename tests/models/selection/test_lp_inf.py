"""Row-sparse selectors: optimality, counts, recovery on classes, labels and targets, bad input."""

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize
from sklearn.datasets import make_classification
from sklearn.linear_model import MultiTaskLasso
from sklearn.utils.estimator_checks import parametrize_with_checks

from annealed.features.errors import DataError, ParameterError
from annealed.models.selection.lp_inf import L21Selector, LpInfSelector, RowSparse, residual
from annealed.models.selection.proximal import minimize
from annealed.models.selection.row_penalties import RowL21, RowLpInf

SELECTORS = [
    L21Selector(k=3),
    LpInfSelector(k=3, p=1),
    LpInfSelector(k=3, p=0.5, start="ridge"),
    LpInfSelector(k=3, p=0.25, start="continuation"),
    LpInfSelector(k=3, p=0),
]


@parametrize_with_checks([L21Selector(k=2), LpInfSelector(k=2)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def labels(rng):
    """Three labels over 20 columns, of which 3, 7 and 11 matter to all of them."""
    X = rng.standard_normal((150, 20)) * np.geomspace(0.1, 100, 20) + 5
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    score = Z[:, [3, 7, 11]] @ rng.uniform(0.6, 1.5, (3, 3)) * [1, -1, 1]
    return X, score + 0.1 * rng.standard_normal(score.shape)


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("kind", ["targets", "labels", "classes"])
def test_features_that_matter_are_found(labels, selector, kind):
    X, score = labels
    y = {"targets": score, "labels": (score > 0).astype(int), "classes": score.argmax(axis=1)}[kind]
    np.testing.assert_array_equal(selector.fit(X, y).get_support(indices=True), [3, 7, 11])
    assert selector.coef_.shape == (3, 20)
    assert selector.transform(X).shape == (150, 3)


def test_coefficients_are_least_squares_in_the_units_of_the_input(labels):
    X, score = labels
    selector = L21Selector(k=3).fit(X, score)
    gap = score - X @ selector.coef_.T - selector.intercept_
    np.testing.assert_allclose(gap.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose((X - X.mean(axis=0))[:, [3, 7, 11]].T @ gap, 0, atol=1e-6)


def test_l21_agrees_with_the_multi_task_lasso(rng):
    X, Y = rng.standard_normal((30, 8)), rng.standard_normal((30, 2))
    found = minimize(RowSparse(X, Y, RowL21(), 6.0), np.zeros((8, 2)), step=1.0, tol=1e-15, max_iter=5000)
    peer = MultiTaskLasso(alpha=6.0 / 30, fit_intercept=False, tol=1e-12, max_iter=10_000).fit(X, Y)
    assert 0 < peer.coef_.any(axis=0).sum() < 8
    np.testing.assert_allclose(found.x.T, peer.coef_, atol=1e-6)


def test_correlated_features_do_not_stop_the_solver_short(rng):
    """All features bend the loss a thousand times as much as one does; steps for all of them end far off."""
    X = rng.standard_normal((60, 2000)) + 2 * rng.standard_normal((60, 1))
    Y = X[:, :3] @ rng.standard_normal((3, 2)) + 0.1 * rng.standard_normal((60, 2))
    selector = L21Selector(k=6).fit(X, Y)
    Z, target = (X - X.mean(axis=0)) / X.std(axis=0), Y - Y.mean(axis=0)
    peer = MultiTaskLasso(
        alpha=selector.trace_.strength[-1], fit_intercept=False, tol=1e-10, max_iter=100_000
    )
    W = peer.fit(Z, target).coef_
    best = np.sum((target - Z @ W.T) ** 2) / 120 + peer.alpha * np.linalg.norm(W, axis=0).sum()
    assert selector.trace_.objective[-1] == pytest.approx(best, rel=2e-5)


def test_l1_inf_agrees_with_a_quadratic_programme(rng):
    """The same minimum as a general solver finds with a bound on the magnitudes of each row."""
    X, Y = rng.standard_normal((30, 5)), rng.standard_normal((30, 2))
    problem = RowSparse(X, Y, RowLpInf(1.0), 6.0)
    found = minimize(problem, np.zeros((5, 2)), step=1.0, tol=1e-14, max_iter=5000)

    def cost(z):
        return 0.5 * np.sum((Y - X @ z[:10].reshape(5, 2)) ** 2) + 6.0 * z[10:].sum()

    def slack(z):
        W, bound = z[:10].reshape(5, 2), z[10:, None]
        return np.concatenate([(bound - W).ravel(), (bound + W).ravel()])

    start = np.concatenate([np.full(10, 0.1), np.ones(5)])
    peer = scipy_minimize(cost, start, constraints={"type": "ineq", "fun": slack}, method="SLSQP")
    assert 0 < found.x.any(axis=1).sum() < 5
    assert found.objective[-1] == pytest.approx(peer.fun, rel=1e-6)


@pytest.mark.parametrize("k", [1, 4, 9, 20])
@pytest.mark.parametrize("selector", [L21Selector(), LpInfSelector(p=1), LpInfSelector(p=0.5)])
def test_k_features_are_kept(rng, selector, k):
    X, y = rng.standard_normal((60, 25)), rng.integers(0, 3, 60)
    selector.set_params(k=k).fit(X, y)
    assert selector.get_support().sum() == k
    assert len(selector.trace_.strength) == len(selector.trace_.n_rows)
    assert (np.diff(selector.trace_.objective) <= 0).all()


def test_best_start_has_the_smaller_residual(rng):
    X, Y = rng.standard_normal((40, 60)), rng.standard_normal((40, 3))
    residuals = {}
    for start in ("ridge", "continuation", "best"):
        kept = LpInfSelector(k=6, p=0.5, start=start).fit(X, Y).get_support()
        residuals[start] = residual(X[:, kept] - X[:, kept].mean(axis=0), Y - Y.mean(axis=0))
    assert residuals["best"] == min(residuals["ridge"], residuals["continuation"])


def test_two_classes_have_one_output():
    X, y = make_classification(n_samples=100, n_features=12, random_state=0)
    names = np.array(["no", "yes"])[y]
    selector = LpInfSelector(k=4).fit(X, names)
    assert selector.coef_.shape == (1, 12)
    assert np.mean((X @ selector.coef_[0] + selector.intercept_ > 0.5) == y) > 0.8


def test_weights_act_as_repetition(rng):
    X, y = rng.standard_normal((50, 10)), rng.integers(0, 3, 50)
    weight = rng.integers(0, 4, 50)
    weighted = LpInfSelector(k=3).fit(X, y, sample_weight=weight)
    repeated = LpInfSelector(k=3).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-8)


def test_constant_columns_are_never_selected(rng):
    X = rng.standard_normal((50, 4))
    X[:, 1] = 3.3
    X[:, 2] = 0
    with pytest.warns(UserWarning, match="k = 9 exceeds"):
        selector = LpInfSelector(k=9, p=1).fit(X, X[:, 0] > 0)
    np.testing.assert_array_equal(selector.get_support(indices=True), [0, 3])


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"k": 0}, "k must be"),
        ({"k": 2.5}, "k must be"),
        ({"p": 2}, "p must be"),
        ({"start": "cold"}, "start must be"),
        ({"ridge": 0}, "ridge must be"),
    ],
)
def test_bad_parameters(rng, parameters, match):
    with pytest.raises(ParameterError, match=match):
        LpInfSelector(**{"k": 2, **parameters}).fit(rng.standard_normal((10, 3)), np.arange(10) % 2)


def test_bad_data(rng):
    X = rng.standard_normal((10, 3))
    with_nan = X.copy()
    with_nan[4, 1] = np.nan
    with pytest.raises(DataError, match="two classes"):
        L21Selector(k=2).fit(X, np.ones(10, dtype=int))
    with pytest.raises(ValueError, match="zero"):
        L21Selector(k=2).fit(X, np.arange(10) % 2, sample_weight=np.zeros(10))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        L21Selector(k=2).fit(X, np.arange(9) % 2)
    with pytest.raises(ValueError, match="NaN"):
        L21Selector(k=2).fit(with_nan, np.arange(10) % 2)
