"""The l1-squared problem against general solvers and the SimpleMKL-style dual."""

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize
from scipy.sparse import csc_array

from annealed.models.selection.fgm.margin_losses import Logistic, SquaredHinge
from annealed.models.selection.fgm.subproblem import L1SquaredProblem, moreau_factors
from annealed.models.selection.proximal import Composite, minimize


def test_moreau_factors_solve_the_projection(rng):
    """Against bounded minimisation over the norms: the optimum is parallel to the input in every block."""
    for _ in range(30):
        n_blocks, step = rng.integers(1, 7), 10 ** rng.uniform(-2, 2)
        u = rng.exponential(size=n_blocks) * (rng.random(n_blocks) < 0.8)

        def cost(o, u=u, step=step):
            return 0.5 * np.sum((o - u) ** 2) + 0.5 * step * o.sum() ** 2

        found = scipy_minimize(
            cost, u / 2, bounds=[(0, None)] * n_blocks, options={"ftol": 1e-15, "gtol": 1e-10}
        )
        ours = moreau_factors(u, step) * u
        assert cost(ours) <= found.fun + 1e-12
        np.testing.assert_allclose(ours, found.x, atol=1e-5)


def test_moreau_factors_of_one_block_and_of_nothing():
    np.testing.assert_allclose(moreau_factors(np.array([2.0]), 1.0), [0.5])
    np.testing.assert_array_equal(moreau_factors(np.zeros(3), 1.0), np.zeros(3))


def make_problem(rng, cls=SquaredHinge, fit_intercept=False, n_outputs=1, n=40, widths=(3, 2, 4)):
    blocks = [rng.standard_normal((n, width)) for width in widths]
    score = blocks[0][:, [0]] - blocks[2][:, [1]] + 0.5 * rng.standard_normal((n, n_outputs))
    y = np.where(score > 0.3, 1.0, -1.0)
    return L1SquaredProblem(blocks, cls(y, np.full(n, 0.2), fit_intercept))


@pytest.mark.parametrize("cls", [SquaredHinge, Logistic])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_solution_agrees_with_a_general_solver(rng, cls, fit_intercept, n_outputs):
    """The penalty as a bound: min (sum z)^2 / 2 + p(w) with |w_t| <= z_t."""
    problem = make_problem(rng, cls, fit_intercept, n_outputs)
    found = minimize(problem, np.zeros((9, n_outputs)), step=0.1, tol=1e-14, max_iter=5000)
    smooth = 1e-9

    def cost(w):
        w = w.reshape(9, n_outputs)
        norms = np.sqrt([np.sum(part**2) + smooth for part in problem.split(w)])
        return 0.5 * norms.sum() ** 2 + problem.loss(problem.respond(w))

    peer = scipy_minimize(cost, found.x.ravel() + 0.01, method="BFGS")
    assert found.objective[-1] == pytest.approx(peer.fun, rel=2e-4)


def test_moves_share_work_without_changing_the_result(rng):
    problem = make_problem(rng, n_outputs=2)
    x, gradient = rng.standard_normal((9, 2)), rng.standard_normal((9, 2))
    response = problem.respond(x)
    for step in (0.01, 0.3, 5.0):
        point, moved = problem.moves(x, response, gradient)(step)
        plain_point, plain_moved = Composite.moves(problem, x, response, gradient)(step)
        np.testing.assert_allclose(point, plain_point, atol=1e-12)
        np.testing.assert_allclose(moved, plain_moved, atol=1e-10)


def test_sparse_blocks_act_as_dense_ones(rng):
    dense = make_problem(rng)
    sparse = L1SquaredProblem([csc_array(block) for block in dense.blocks], dense.margin_loss)
    x = rng.standard_normal((9, 1))
    np.testing.assert_allclose(sparse.respond(x), dense.respond(x))
    np.testing.assert_allclose(sparse.gradient(dense.respond(x)), dense.gradient(dense.respond(x)))


def solve_by_simple_mkl(blocks, y, C):
    """Solve equation (29) in the dual: gradient steps over kernel weights, an SVM for each (section 5.1).

    Returns the optimal value and alpha.
    """
    kernels = np.array([(block * y[:, None]) @ (block * y[:, None]).T for block in blocks])

    def svm(mu):
        Q = np.tensordot(mu, kernels, axes=1) + np.eye(len(y)) / C
        found = scipy_minimize(
            lambda a: (0.5 * a @ Q @ a - a.sum(), Q @ a - 1),
            np.full(len(y), 0.1),
            jac=True,
            bounds=[(0, None)] * len(y),
            method="L-BFGS-B",
            options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000},
        )
        return -found.fun, found.x

    def value_and_gradient(mu):
        value, alpha = svm(mu)
        return value, np.array([-0.5 * alpha @ K @ alpha for K in kernels])

    found = scipy_minimize(
        value_and_gradient,
        np.full(len(blocks), 1 / len(blocks)),
        jac=True,
        bounds=[(0, 1)] * len(blocks),
        constraints={"type": "eq", "fun": lambda mu: mu.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-12},
    )
    return svm(found.x)


def test_primal_and_simple_mkl_meet(rng):
    """Theorem 4: equal optima, and alpha = C xi."""
    problem = make_problem(rng)
    y = problem.margin_loss.y[:, 0]
    found = minimize(problem, np.zeros((9, 1)), step=0.1, tol=1e-15, max_iter=20_000)
    value, alpha = solve_by_simple_mkl(problem.blocks, y, 0.2)
    assert found.objective[-1] == pytest.approx(value, rel=1e-5)
    ours = problem.margin_loss.dual(found.response.sum(axis=0))[:, 0]
    np.testing.assert_allclose(ours, alpha, atol=1e-3 * alpha.max())
