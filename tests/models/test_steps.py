import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.models.annealing import anneal
from annealed.models.designs import BinnedDesign, DenseDesign
from annealed.models.losses import Lorenz, SquaredError
from annealed.models.penalties import Ridge
from annealed.models.schedules import InverseSchedule
from annealed.models.steps import MAX_HALVINGS, StepLength


def explicit_curvature(X, max_curvature):
    """Largest eigenvalue of the bound on the Hessian, features and intercept."""
    A = np.column_stack([X, np.ones(len(X))])
    return max_curvature * np.linalg.norm(A, 2) ** 2 / len(A)


@pytest.mark.parametrize("n_features", [1, 4, 60])
@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_step_is_the_inverse_of_the_largest_curvature(rng, n_features, correlation):
    X = rng.standard_normal((100, n_features)) + correlation * 3 * rng.standard_normal((100, 1))
    X -= X.mean(axis=0)
    steps = StepLength(DenseDesign(X.T.copy()), SquaredError(X[:, 0]), None, "auto")
    # A power iteration ends when it gains less than 2 %, so it may stop somewhat below.
    assert 1 / steps.current() == pytest.approx(explicit_curvature(X, 2.0), rel=0.15)


def test_penalty_adds_its_curvature(rng):
    X = rng.standard_normal((100, 4))
    plain, penalized = (
        StepLength(DenseDesign(X.T.copy()), SquaredError(X[:, 0]), penalty, "auto").current()
        for penalty in (None, Ridge(3.0))
    )
    assert 1 / penalized == pytest.approx(1 / plain + 6)


def test_intercept_is_not_forgotten_when_features_leave(rng):
    """Features bend the loss most at first; once they left, the intercept does (by 2, Lorenz)."""
    codes = rng.integers(0, 256, (40, 200)).astype(np.uint8)
    design = BinnedDesign(codes, 10)
    steps = StepLength(design, Lorenz(np.ones(200)), None, "auto")
    steps.current()
    for size in (20, 10, 5, 2):
        indices = np.arange(size)
        design.keep(indices)
        steps.keep(indices)
        step = steps.current()
    assert 1 / step == pytest.approx(2.0, rel=0.05)


def test_step_is_renewed_only_when_features_left(rng):
    X = rng.standard_normal((100, 50))
    design = DenseDesign(X.T.copy())
    steps = StepLength(design, SquaredError(X[:, 0]), None, "auto")
    first = steps.current()
    for size, renewed in ((40, False), (32, True)):
        indices = np.arange(size)
        design.keep(indices)
        steps.keep(indices)
        assert (steps.current() != first) == renewed


def test_features_of_zeros_alone_leave_the_intercepts_curvature():
    steps = StepLength(DenseDesign(np.zeros((3, 5))), SquaredError(np.ones(5)), None, "auto")
    assert steps.current() == pytest.approx(1 / 2)


def test_a_number_is_taken_as_it_is(rng):
    X = rng.standard_normal((10, 2))
    steps = StepLength(DenseDesign(X.T.copy()), SquaredError(X[:, 0]), None, 0.25)
    assert steps.current() == steps.last == 0.25


@pytest.mark.parametrize("learning_rate", ["auto", 0.25])
def test_halving_lasts(rng, learning_rate):
    X = rng.standard_normal((10, 2))
    steps = StepLength(DenseDesign(X.T.copy()), SquaredError(X[:, 0]), None, learning_rate)
    before = steps.current()
    steps.halve()
    assert steps.current() == before / 2
    steps.keep(np.array([1]))
    assert steps.current() == before / 2


def test_halving_ends_in_an_error(rng):
    X = rng.standard_normal((10, 2))
    steps = StepLength(DenseDesign(X.T.copy()), SquaredError(X[:, 0]), None, "auto")
    for _ in range(MAX_HALVINGS):
        steps.halve()
    with pytest.raises(DataError, match="training diverges at any step length"):
        steps.halve()


@pytest.mark.parametrize("n_bins", [3, 10])
def test_automatic_step_never_diverges_on_binned_designs(rng, n_bins):
    codes = rng.integers(0, 256, (60, 150)).astype(np.uint8)
    y = np.sign(rng.standard_normal(150))
    trace = anneal(BinnedDesign(codes, n_bins), Lorenz(y), Ridge(1e-4), InverseSchedule(4, 300)).trace
    # The step only grows as features leave: it was never halved.
    assert (np.diff(trace.step) > -0.15 * np.array(trace.step[1:])).all()
