"""A run that is interrupted, saved and gone on with ends with the bits of one that was not."""

import io
import pickle

import numpy as np
import pytest
from scipy import sparse

from annealed.features.errors import DataError, ParameterError
from annealed.models.annealing import Annealer, anneal
from annealed.models.designs import BinnedDesign, BlockDesign, DenseDesign, SparseDesign
from annealed.models.losses import Logistic, Lorenz, SquaredError
from annealed.models.penalties import Ridge
from annealed.models.schedules import InverseSchedule

N_ROWS, N_FEATURES = 80, 30
SCHEDULE = InverseSchedule(k=3, n_iter=40, mu=5)
OPTIONS = {
    "batches": {"batch_size": 20},
    "all at once": {"batch_size": None, "momentum": 0.0},
    "divergence": {"batch_size": 20, "learning_rate": 30.0},
    "some batches": {"batch_size": 10, "batches_per_iteration": 3},
    "groups": {"batch_size": 20, "feature_groups": np.arange(N_FEATURES) // 2, "always_keep": np.array([7])},
}


class InterruptionError(Exception):
    pass


class Fragile(DenseDesign):
    """Fails once, at the n-th call of one of its methods."""

    def __init__(self, columns, method="", n=0):
        super().__init__(columns)
        self._method, self._left = method, n

    def _count(self, method):
        if method == self._method:
            self._left -= 1
            if self._left == 0:
                raise InterruptionError

    def value_and_gradient(self, *arguments):
        self._count("step")
        return super().value_and_gradient(*arguments)

    def value(self, *arguments):
        self._count("back-off")
        return super().value(*arguments)

    def keep(self, indices):
        self._count("keep")
        super().keep(indices)

    def hessian(self, *arguments):
        self._count("step length")
        return super().hessian(*arguments)


def problem():
    rng = np.random.default_rng(3)
    columns = rng.standard_normal((N_FEATURES, N_ROWS))
    return columns, columns[3] - 2 * columns[11] + columns[20] + 0.3 * rng.standard_normal(N_ROWS)


def assert_same(result, expected):
    np.testing.assert_array_equal(result.kept, expected.kept)
    np.testing.assert_array_equal(result.beta, expected.beta)
    np.testing.assert_array_equal(result.intercept, expected.intercept)
    np.testing.assert_array_equal(result.ranking, expected.ranking)
    for name in ("loss", "features_kept", "step"):
        assert getattr(result.trace, name) == getattr(expected.trace, name)


def stored(state):
    """The state after a way through an NPZ file and a pickle."""
    file = io.BytesIO()
    np.savez(file, **state)
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        return pickle.loads(pickle.dumps(dict(arrays)))


def interrupt(method, n, options):
    """The state at the n-th call of a method, or None if the run ended before."""
    columns, y = problem()
    annealer = Annealer(Fragile(columns, method, n), SquaredError(y), Ridge(1e-3), **options)
    try:
        annealer.run(SCHEDULE)
    except InterruptionError:
        return stored(annealer.state())
    return None


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("method", ["step", "keep", "step length", "back-off"])
def test_interrupted_anywhere_the_run_goes_on_to_the_same_bits(method, options):
    columns, y = problem()
    problems = lambda: (Fragile(columns), SquaredError(y), Ridge(1e-3))  # noqa: E731
    expected = anneal(*problems(), SCHEDULE, **options)
    calls = 0
    for n in (1, 2, 3, 4, 5, 6, 9, 13, 25, 40, 60):
        state = interrupt(method, n, options)
        if state is None:
            break
        calls += 1
        assert_same(anneal(*problems(), SCHEDULE, resume_from=state, **options), expected)
    automatic = "learning_rate" not in options
    may_be_none = {"back-off": automatic, "step length": not automatic}
    assert calls > 0 or may_be_none.get(method, False)


def test_a_run_goes_on_by_itself_after_an_interruption():
    columns, y = problem()
    expected = anneal(Fragile(columns), SquaredError(y), None, SCHEDULE)
    annealer = Annealer(Fragile(columns, "keep", 4), SquaredError(y), None)
    with pytest.raises(InterruptionError):
        annealer.run(SCHEDULE)
    assert_same(annealer.run(SCHEDULE), expected)


def designs():
    columns, y = problem()
    codes = (columns * 40 + 128).clip(0, 255).astype(np.uint8)
    read = lambda start, stop, kept: columns.T[start:stop, kept]  # noqa: E731
    return {
        "dense": (lambda: DenseDesign(columns), y),
        "binned": (lambda: BinnedDesign(codes, 5), y),
        "sparse": (lambda: SparseDesign(sparse.csr_array(columns.T * (columns.T > 0))), y),
        "streamed": (lambda: BlockDesign(read, N_ROWS, N_FEATURES, block_rows=7, memory_budget=9000), y),
    }


@pytest.mark.parametrize("name", ["dense", "binned", "sparse", "streamed"])
@pytest.mark.parametrize("loss", [Lorenz, Logistic])
def test_from_every_checkpoint_the_same_bits(name, loss):
    make, y = designs()[name]
    states = []
    config = {"batch_size": 20, "tol": 1e-3}
    bound = loss(np.sign(y))
    expected = anneal(make(), bound, None, SCHEDULE, checkpoint=lambda s: states.append(stored(s)), **config)
    assert len(states) == len(expected.trace)
    for state in (*states[:6], *states[6::7], states[-1]):
        assert_same(anneal(make(), bound, None, SCHEDULE, resume_from=state, **config), expected)


def test_a_state_is_small():
    rng = np.random.default_rng(0)
    states = []
    anneal(
        DenseDesign(rng.standard_normal((200, 300))),
        SquaredError(rng.standard_normal(300)),
        None,
        InverseSchedule(k=5, n_iter=100),
        checkpoint=states.append,
    )
    assert sum(array.nbytes for array in states[-1].values()) < 8000


def test_states_of_other_problems_are_refused():
    columns, y = problem()
    states = []
    anneal(DenseDesign(columns), SquaredError(y), None, SCHEDULE, checkpoint=states.append)
    other = DenseDesign(columns[:-1])
    with pytest.raises(DataError, match="the state is that of a run on other data"):
        anneal(other, SquaredError(y), None, SCHEDULE, resume_from=states[3])
    with pytest.raises(DataError, match=r"no state of an annealing run: it lacks guard\.beta"):
        anneal(DenseDesign(columns), SquaredError(y), None, SCHEDULE, resume_from={})
    with pytest.raises(ParameterError, match="the run in progress has InverseSchedule"):
        anneal(DenseDesign(columns), SquaredError(y), None, InverseSchedule(9), resume_from=states[3])
