import numpy as np
import pytest

from annealed.models.annealing import anneal
from annealed.models.designs import DenseDesign
from annealed.models.fused import can_fuse
from annealed.models.losses import HuberHinge, Logistic, Lorenz, PairwiseLogistic, SquaredError
from annealed.models.penalties import Ridge
from annealed.models.schedules import InverseSchedule

N_ROWS, N_FEATURES = 90, 40
SCHEDULE = InverseSchedule(k=4, n_iter=60, mu=5)


class StepByStep(DenseDesign):
    """The same design by another name: its iterations are not fused."""


def make_problem(rng, n_outputs=1):
    columns = rng.standard_normal((N_FEATURES, N_ROWS))
    scores = columns[3] - 2 * columns[11] + 0.5 * rng.standard_normal((n_outputs, N_ROWS))
    return columns, np.where(scores > 0, 1.0, -1.0), rng.uniform(0.5, 2, N_ROWS)


def run(design_type, columns, loss, **options):
    design = design_type(columns)
    batches = loss.splits(options["batch_size"])
    assert can_fuse(design, loss, None, batches) == (design_type is DenseDesign)
    return anneal(design, loss, None, SCHEDULE, **options)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", [SquaredError, Logistic, HuberHinge, Lorenz])
@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 25},
        {"batch_size": None, "momentum": 0.0, "tol": 0.0},
        {"batch_size": 25, "learning_rate": 30.0},  # diverges and recovers
    ],
    ids=["batches", "literal", "divergence"],
)
def test_fused_run_is_the_run_step_by_step(rng, loss, dtype, n_outputs, options):
    columns, target, weight = make_problem(rng, n_outputs)
    columns = columns.astype(dtype)
    fused = run(DenseDesign, columns, loss(target, weight), **options)
    plain = run(StepByStep, columns, loss(target, weight), **options)
    np.testing.assert_array_equal(fused.kept, plain.kept)
    np.testing.assert_array_equal(fused.beta, plain.beta)
    np.testing.assert_array_equal(fused.intercept, plain.intercept)
    assert fused.trace.loss == plain.trace.loss
    assert fused.trace.step == plain.trace.step


def test_other_problems_are_not_fused(rng):
    columns, target, _ = make_problem(rng)
    design = DenseDesign(columns)
    assert not can_fuse(design, Logistic(target), Ridge(0.1), [(0, N_ROWS)])
    pairs = PairwiseLogistic([[0, 1]], [1.0], N_ROWS)
    assert not can_fuse(design, pairs, None, [(0, N_ROWS)])
    large = DenseDesign(np.zeros((2000, 300)))
    assert not can_fuse(large, Logistic(np.ones(300)), None, [(0, 300)])
