"""The outer loop: Theorem 2's bounds, the optimum over every subset, limits, what a set may hold."""

from itertools import combinations

import numpy as np
import pytest

from annealed.models.selection.fgm.atoms import FeatureAtoms
from annealed.models.selection.fgm.cutting_plane import generate
from annealed.models.selection.fgm.margin_losses import Logistic, SquaredHinge
from annealed.models.selection.fgm.subproblem import L1SquaredProblem
from annealed.models.selection.proximal import minimize


def make_case(rng, cls, n=60, m=8, fit_intercept=True):
    X = rng.standard_normal((n, m))
    y = np.where(X[:, [0]] + X[:, [1]] + 0.5 * X[:, [2]] + 0.5 * rng.standard_normal((n, 1)) > 0.2, 1.0, -1.0)
    return FeatureAtoms(X, np.ones(m)), lambda: cls(y, np.full(n, 0.3), fit_intercept)


@pytest.mark.parametrize("cls", [SquaredHinge, Logistic])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("budget", [1, 2, 3])
def test_bounds_close_on_the_optimum_over_every_subset(rng, cls, fit_intercept, budget):
    """Cutting planes against the same problem with all sets of `budget` features at once (equation 16)."""
    atoms, loss = make_case(rng, cls, fit_intercept=fit_intercept)
    subsets = [list(subset) for subset in combinations(range(8), budget)]
    everything = L1SquaredProblem([atoms.X[:, subset] for subset in subsets], loss())
    start = np.zeros((budget * len(subsets), 1))
    optimum = -minimize(everything, start, step=0.1, tol=1e-13, max_iter=20_000).objective[-1]

    trace = generate(atoms, loss(), budget, tol=1e-5, inner_tol=1e-12, max_inner=5000).trace
    lower, upper = np.array(trace.lower), np.array(trace.upper)
    slack = 1e-6 * abs(optimum)
    assert (lower <= optimum + slack).all()
    assert (upper >= optimum - slack).all()
    assert lower[-1] == pytest.approx(optimum, rel=1e-4)
    assert upper[-1] == pytest.approx(optimum, rel=1e-4)


@pytest.mark.parametrize("cls", [SquaredHinge, Logistic])
@pytest.mark.parametrize("inner_tol", [1e-2, 1e-5])
def test_lower_bound_rises_and_upper_bound_falls(rng, cls, inner_tol):
    """Theorem 2, however roughly the problems in between are solved."""
    X = rng.standard_normal((100, 200))
    y = np.sign(X[:, :20] @ rng.random((20, 1)))
    trace = generate(
        FeatureAtoms(X, np.ones(200)),
        cls(y, np.full(100, 1.0), True),
        4,
        inner_tol=inner_tol,
        tol=0.01,
    ).trace
    assert len(trace) > 5
    assert (np.diff(trace.lower) >= 0).all()
    assert (np.diff(trace.upper) <= 0).all()
    assert trace.lower[-1] <= trace.upper[-1]
    assert all((np.diff(inner) <= 0).all() for inner in trace.inner)
    assert len({len(column) for column in vars(trace).values()}) == 1


def test_a_set_that_is_generated_again_is_solved_more_exactly(rng):
    X = rng.standard_normal((200, 50))
    y = np.sign(X[:, :8] @ rng.random((8, 1)) + 0.3 * rng.standard_normal((200, 1)))
    loss = SquaredHinge(y, np.full(200, 10.0), True)
    generated = generate(FeatureAtoms(X, np.ones(50)), loss, 5, inner_tol=1e-3)
    assert generated.trace.gap <= 1e-3
    assert len(generated.trace) > len(generated.sets)


def test_first_set_is_the_most_correlated_one(rng):
    atoms, loss = make_case(rng, SquaredHinge, fit_intercept=False)
    generated = generate(atoms, loss(), 3, max_cuts=1)
    # Without features every loss is 1, so that alpha is constant.
    correlation = np.abs(atoms.X.T @ loss().y[:, 0])
    np.testing.assert_array_equal(generated.sets[0], np.sort(np.argsort(-correlation)[:3]))


@pytest.mark.parametrize("limit", [1, 5, 8])
def test_limit_is_met_exactly(rng, limit):
    X = rng.standard_normal((80, 60))
    y = np.sign(X[:, :15] @ rng.random((15, 1)))
    generated = generate(
        FeatureAtoms(X, np.ones(60)), SquaredHinge(y, np.full(80, 1.0), True), 3, limit=limit, tol=0
    )
    assert len(np.unique(np.concatenate(generated.sets))) == limit
    assert generated.trace.n_atoms[-1] == limit


def test_trace_as_text_has_the_bounds_of_each_set(rng):
    atoms, loss = make_case(rng, SquaredHinge)
    trace = generate(atoms, loss(), 1, max_cuts=3, tol=0).trace
    header, *lines = str(trace).splitlines()
    assert header.split() == ["cut", "atoms", "beta_T", "phi_T", "gap", "seconds"]
    assert [int(line.split()[0]) for line in lines] == [1, 2, 3]
    for line, lower, upper in zip(lines, trace.lower, trace.upper, strict=True):
        printed = [float(part) for part in line.split()[2:5]]
        np.testing.assert_allclose(printed, [lower, upper, (upper - lower) / abs(lower)], rtol=0.05)


def test_max_cuts_and_callback(rng):
    atoms, loss = make_case(rng, SquaredHinge)
    seen = []
    generated = generate(atoms, loss(), 1, max_cuts=2, tol=0, callback=lambda trace: seen.append(len(trace)))
    assert len(generated.sets) == 2
    assert seen == [1, 2]
