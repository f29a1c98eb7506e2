"""The proximal operators against brute force over levels, closed forms and the paper's example."""

import numpy as np
import pytest

from annealed.features.errors import ParameterError
from annealed.models.selection.row_penalties import RowL21, RowLpInf, prox_lp_inf

POWERS = [0.0, 0.1, 0.25, 0.5, 0.75, 0.99, 1.0]


def objective(u, a, rho, p):
    largest = np.abs(u).max()
    return 0.5 * np.sum((u - a) ** 2) + (rho * largest**p if largest > 0 else 0.0)


def clipped_by_brute_force(a, rho, p):
    """The best of very many levels; their shape is proved in the paper, and tested below without it."""
    levels = np.concatenate([np.linspace(0, np.abs(a).max(), 5001)[1:], np.abs(a[a != 0])])
    excess = np.maximum(np.abs(a) - levels[:, None], 0)
    best = levels[np.argmin(0.5 * (excess**2).sum(axis=1) + rho * levels**p)] if len(levels) else 0.0
    return min(np.clip(a, -best, best), np.zeros_like(a), key=lambda u: objective(u, a, rho, p))


def random_rows(rng, n_rows):
    for _ in range(n_rows):
        a = rng.standard_normal(rng.integers(1, 7)) * rng.choice([0.1, 1, 10])
        if rng.random() < 0.3:
            a = np.round(a)  # ties and zeros
        yield a, float(rng.choice([0, 0.01, 0.3, 1, 3, 30]))


@pytest.mark.parametrize("p", POWERS)
def test_prox_lp_inf_is_as_low_as_brute_force(rng, p):
    n_partly_clipped = 0
    for a, rho in random_rows(rng, 60):
        found = prox_lp_inf(a[None], rho, p)[0]
        best = clipped_by_brute_force(a, rho, p)
        assert objective(found, a, rho, p) <= objective(best, a, rho, p) + 1e-12 * (1 + a @ a)
        n_partly_clipped += bool((found != a).any() and found.any())
    assert n_partly_clipped > 5 or p == 0


@pytest.mark.parametrize("p", POWERS)
def test_prox_lp_inf_is_as_low_as_a_grid_over_all_vectors(rng, p):
    """Without the theorem on the optimum's shape: every vector of a grid in two dimensions."""
    grid = np.linspace(-2, 2, 401)
    u = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    for _ in range(5):
        a, rho = rng.uniform(-2, 2, 2), rng.uniform(0, 1.5)
        largest = np.abs(u).max(axis=1)
        costs = 0.5 * ((u - a) ** 2).sum(axis=1) + rho * np.where(largest > 1e-9, largest**p, 0)
        assert objective(prox_lp_inf(a[None], rho, p)[0], a, rho, p) <= costs.min() + 1e-12


def test_prox_lp_inf_example_of_the_paper():
    found = prox_lp_inf(np.array([[5.0, 4, 3, 2, 1]]), 1.5, 1.0)
    np.testing.assert_allclose(found, [[3.75, 3.75, 3, 2, 1]])


def test_prox_lp_inf_for_p_of_one_is_the_residual_of_a_projection(rng):
    """Moreau: prox of rho |.|_inf plus the projection on the l1 ball of radius rho is the identity."""
    for a, rho in random_rows(rng, 50):
        projection = a - prox_lp_inf(a[None], rho, 1.0)[0]
        assert np.abs(projection).sum() <= rho + 1e-12
        if np.abs(a).sum() > rho:
            assert np.abs(projection).sum() == pytest.approx(rho, abs=1e-12)


def test_prox_lp_inf_compares_a_local_minimum_with_zero():
    """b = 1, p = 1/2: a local minimum exists up to rho = (4/3)^1.5 / 2 = .7698, but zero wins from .5443 on.

    At the threshold, with t = 2/3: (1 - t)^2 / 2 + rho sqrt(t) = 1 / 2 gives rho = (2/3)^1.5.
    """
    threshold = (2 / 3) ** 1.5
    below = prox_lp_inf(np.array([[1.0]]), threshold - 1e-6, 0.5)[0, 0]
    assert below == pytest.approx(2 / 3, abs=1e-4)
    assert prox_lp_inf(np.array([[1.0]]), threshold + 1e-6, 0.5)[0, 0] == 0


def test_prox_lp_inf_at_zero_counts_rows():
    A = np.array([[1.0, 1.0], [1.0, 0.9], [2.0, 0.0]])
    np.testing.assert_array_equal(prox_lp_inf(A, 1.0, 0.0), [[0, 0], [0, 0], [2, 0]])


def test_prox_lp_inf_keeps_signs_and_leaves_its_input(rng):
    A = rng.standard_normal((8, 4))
    before = A.copy()
    found = prox_lp_inf(A, 0.2, 0.5)
    assert ((found == 0) | (np.sign(found) == np.sign(A))).all()
    np.testing.assert_array_equal(A, before)


@pytest.mark.parametrize("penalty", [RowL21(), RowLpInf(1.0), RowLpInf(0.5), RowLpInf(0.0)])
def test_prox_is_as_low_as_its_neighbours(rng, penalty):
    A = rng.standard_normal((6, 3))

    def cost(U):
        return 0.5 * np.sum((U - A) ** 2) + 0.4 * penalty.value(U)

    found = penalty.prox(A, 0.4)
    for _ in range(300):
        assert cost(found) <= cost(found + rng.standard_normal(A.shape) * 10 ** rng.uniform(-6, 0)) + 1e-12
    assert cost(found) <= cost(np.zeros_like(A))


@pytest.mark.parametrize("penalty", [RowL21(), RowLpInf(1.0)])
def test_largest_strength_is_where_the_first_row_leaves_zero(rng, penalty):
    gradient = rng.standard_normal((6, 3))
    strength = penalty.largest_strength(gradient)
    assert not penalty.prox(-gradient, strength).any()
    assert np.any(penalty.prox(-gradient, 0.999 * strength), axis=1).sum() == 1


def test_values_by_hand():
    W = np.array([[3.0, -4.0], [0.0, 0.0], [1.0, 0.5]])
    assert RowLpInf(1.0).value(W) == 5
    assert RowLpInf(0.5).value(W) == 3
    assert RowLpInf(0.0).value(W) == 2
    assert RowL21().value(W) == pytest.approx(5 + np.sqrt(1.25))


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_bad_powers(p):
    with pytest.raises(ParameterError, match="p must be"):
        prox_lp_inf(np.ones((1, 1)), 1.0, p)
    with pytest.raises(ParameterError, match="p must be"):
        RowLpInf(p)


def test_bad_strength():
    with pytest.raises(ParameterError, match="rho"):
        prox_lp_inf(np.ones((1, 1)), -1.0, 1.0)
