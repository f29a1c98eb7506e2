import numpy as np
import pytest

from annealed.models.annealing import anneal
from annealed.models.designs import DenseDesign, dense
from annealed.models.losses import HuberHinge, Logistic, Lorenz, SquaredError
from annealed.models.penalties import Ridge
from annealed.models.schedules import InverseSchedule


def test_float32_columns_are_summed_in_float64():
    """A float32 sum of these would lose the ones beside the large number."""
    columns = np.ones((1, 1001), dtype=np.float32)
    columns[0, 0] = 1e8
    design = DenseDesign(columns)
    assert design.gradient(np.ones((1, 1001)), 0, 1001)[0, 0, 0] == 1e8 + 1000
    response = DenseDesign(columns[:, :1].repeat(9, axis=0)).response(
        np.array([1.0, 0, 0, 0, 0, 0, 0, 0, 1e-8])[None, :, None], np.zeros(1), 0, 1
    )
    assert response.dtype == np.float64
    assert response[0, 0] == 1e8 + 1


def test_rows_beyond_one_chunk(rng):
    """Responses are summed in chunks of 512 rows; the chunks start where the block does."""
    X = rng.standard_normal((1300, 6))
    design = DenseDesign(np.ascontiguousarray(X.T))
    beta = rng.standard_normal((1, 6, 1))
    response = design.block(100, 1290).response(beta, np.zeros(1))
    np.testing.assert_allclose(response[0], X[100:1290] @ beta[0, :, 0], rtol=1e-12, atol=1e-12)


class StepByStep(DenseDesign):
    """The same design by another name: its iterations are not compiled."""


def run(design_type, rng, loss, dtype=np.float64, n_outputs=1, penalty=None, **options):
    columns = rng.standard_normal((40, 90))
    scores = columns[3] - 2 * columns[11] + 0.5 * rng.standard_normal((n_outputs, 90))
    bound = loss(np.where(scores > 0, 1.0, -1.0), rng.uniform(0.5, 2, 90))
    design = design_type(columns.astype(dtype))
    return anneal(design, bound, penalty, InverseSchedule(k=4, n_iter=60, mu=5), **options)


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
def test_compiled_run_is_the_run_step_by_step(loss, dtype, n_outputs, options):
    fused, plain = (
        run(kind, np.random.default_rng(0), loss, dtype, n_outputs, **options)
        for kind in (DenseDesign, StepByStep)
    )
    np.testing.assert_array_equal(fused.kept, plain.kept)
    np.testing.assert_array_equal(fused.beta, plain.beta)
    np.testing.assert_array_equal(fused.intercept, plain.intercept)
    assert fused.trace.loss == plain.trace.loss
    assert fused.trace.step == plain.trace.step


def test_only_what_the_kernel_knows_is_compiled(rng, monkeypatch):
    calls = []
    kernel_of = dense._descent_of
    monkeypatch.setattr(dense, "_descent_of", lambda pair: calls.append(pair) or kernel_of(pair))

    class Doubled(Logistic):
        def value(self, *arguments):
            return 2 * super().value(*arguments)

    run(DenseDesign, rng, Logistic)
    assert calls
    calls.clear()
    run(StepByStep, rng, Logistic)
    run(DenseDesign, rng, Logistic, penalty=Ridge(0.1))
    run(DenseDesign, rng, Doubled)
    monkeypatch.setattr(dense, "TASK_VISITS", 0)
    run(DenseDesign, rng, Logistic)
    assert not calls
