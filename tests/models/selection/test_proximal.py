"""ISTA and FISTA against optimality conditions, scikit-learn's lasso and their own rates."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso as CoordinateDescent

from annealed.features.errors import ParameterError
from annealed.models.selection.proximal import Lasso, minimize, shrink_rows, soft_threshold

VARIANTS = [
    {"accelerated": accelerated, "line_search": line_search, "grow": grow}
    for accelerated in (False, True)
    for line_search, grow in ((False, 1.0), (True, 1.0), (True, 1.5))
]


def lipschitz(problem):
    """The gradient's Lipschitz constant: the square of X's largest singular value."""
    return np.linalg.norm(problem.X, 2) ** 2


@pytest.fixture
def problem(rng):
    X = rng.standard_normal((40, 25))
    y = X[:, :3] @ [2.0, -1.0, 0.5] + 0.1 * rng.standard_normal(40)
    return Lasso(X, y, strength=4.0)


@pytest.mark.parametrize("options", VARIANTS)
def test_minimize_meets_the_optimality_conditions(problem, options):
    step = 1 / lipschitz(problem) if not options["line_search"] else 1.0
    found = minimize(problem, np.zeros(25), step=step, tol=1e-15, max_iter=20_000, **options)
    gradient = problem.gradient(found.response)
    used = found.x != 0
    assert found.converged
    assert 3 <= used.sum() < 25
    np.testing.assert_allclose(gradient[used], -4.0 * np.sign(found.x[used]), atol=1e-4)
    assert np.abs(gradient[~used]).max() <= 4.0 + 1e-6
    np.testing.assert_allclose(found.response, problem.X @ found.x, atol=1e-9)


def test_minimize_agrees_with_coordinate_descent(problem):
    found = minimize(problem, np.zeros(25), step=1.0, tol=1e-15, max_iter=20_000)
    peer = CoordinateDescent(alpha=4.0 / 40, fit_intercept=False, tol=1e-12).fit(problem.X, problem.y)
    np.testing.assert_allclose(found.x, peer.coef_, atol=1e-6)


@pytest.mark.parametrize("accelerated", [False, True])
@pytest.mark.parametrize("line_search", [False, True])
def test_iterations_keep_within_the_published_rates(rng, accelerated, line_search):
    """Theorems 3.1 and 4.4 of Beck and Teboulle, on an ill-conditioned problem."""
    X = rng.standard_normal((30, 30)) * np.geomspace(1, 1e-3, 30)
    problem = Lasso(X, rng.standard_normal(30), strength=1e-3)
    curvature = lipschitz(problem)
    options = {"step": 1 / curvature, "line_search": line_search}
    optimum = minimize(problem, np.zeros(30), tol=0, max_iter=20_000, **options)
    found = minimize(
        problem, np.zeros(30), tol=0, max_iter=200, accelerated=accelerated, restart=False, **options
    )
    k = np.arange(1, len(found.objective))
    rate = 2 / (k + 1) ** 2 if accelerated else 1 / (2 * k)
    gap = np.array(found.objective[1:]) - optimum.objective[-1]
    assert (gap <= rate * curvature * np.sum(optimum.x**2) + 1e-12).all()


def test_ista_and_restarted_fista_never_rise(problem):
    for accelerated in (False, True):
        found = minimize(problem, np.ones(25), step=1.0, accelerated=accelerated, tol=0, max_iter=300)
        assert (np.diff(found.objective) <= 0).all()


def test_backtracking_ends_within_a_factor_of_the_curvature(problem):
    found = minimize(problem, np.zeros(25), step=1e6, shrink=0.5, tol=1e-12)
    assert found.step >= 0.5 / lipschitz(problem)


def test_constant_step_that_is_too_long_is_refused(problem):
    with pytest.raises(ParameterError, match="too long"), np.errstate(all="ignore"):
        minimize(problem, np.ones(25), step=1.0, line_search=False, max_iter=10_000)


@pytest.mark.parametrize(
    ("options", "match"),
    [({"step": 0}, "step"), ({"step": 1, "shrink": 1}, "shrink"), ({"step": 1, "grow": 0.5}, "grow")],
)
def test_bad_parameters(problem, options, match):
    with pytest.raises(ParameterError, match=match):
        minimize(problem, np.zeros(25), **options)


def test_soft_threshold_by_hand():
    np.testing.assert_array_equal(soft_threshold(np.array([3.0, -0.5, -2.0, 0.0]), 1.0), [2, 0, -1, 0])


def test_shrink_rows_by_hand():
    X = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]])
    np.testing.assert_allclose(shrink_rows(X, 1.0), [[2.4, 3.2], [0, 0], [0, 0]])
