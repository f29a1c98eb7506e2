from itertools import pairwise

import numpy as np
import pytest
from naive import piecewise_basis
from scipy import sparse

from annealed.features.errors import DataError, ParameterError
from annealed.models.annealing import anneal, anneal_path
from annealed.models.designs import BinnedDesign, BlockDesign, DenseDesign, SparseDesign
from annealed.models.losses import HuberHinge, Logistic, Lorenz, PairwiseLogistic, SquaredError
from annealed.models.penalties import Ridge, SecondDifference
from annealed.models.schedules import InverseSchedule

N_ROWS, N_FEATURES = 60, 24
SCHEDULE = InverseSchedule(k=4, n_iter=40, mu=5)
LITERAL = {"batch_size": None, "momentum": 0.0, "tol": 0.0}  # Algorithm 1 as printed


def make_table(rng, n_rows=N_ROWS, n_features=N_FEATURES):
    """Standard normal columns, rounded so that float32 holds them exactly."""
    return np.round(rng.standard_normal((n_rows, n_features)) * 64) / 64


def make_response(rng, X):
    return 3 * X[:, 3] - 2 * X[:, 11] + X[:, 17] - 0.5 * X[:, 20] + 0.1 * rng.standard_normal(len(X)) + 1.5


def dense(X):
    return DenseDesign(np.ascontiguousarray(X.T))


# Derivatives of the losses (4), (6) to (8) at one response.
DERIVATIVES = {
    SquaredError: lambda y, f: 2 * (f - y),
    Logistic: lambda y, f: -y / (1 + np.exp(y * f)),
    HuberHinge: lambda y, f: y * np.clip((y * f - 1.5) / 1, -1, 0),
    Lorenz: lambda y, f: np.where(y * f > 1, 0, y * 2 * (y * f - 1) / (1 + (y * f - 1) ** 2)),
}


def naive_anneal(
    A, derivative, sizes, rate, *, intercept=0.0, momentum=0.0, batches=None, score=None, rho=None
):
    """Algorithm 1 on an explicit matrix of shape (n_rows, n_features, n_coefficients), in the paper's order.

    `derivative(f, start, stop)` gives dL / df for a batch's mean loss, `score` a block's rank, `rho` a
    penalty's gradient. Momentum is Nesterov's in the textbook form: the gradient is taken, and the
    features are ranked, at beta + momentum * velocity.
    """
    n_rows, n_features, _ = A.shape
    score = score or (lambda b: np.linalg.norm(b, axis=1))
    kept = np.arange(n_features)
    beta = np.zeros(A.shape[1:])
    velocity, intercept_velocity = np.zeros_like(beta), 0.0
    for size in sizes:
        parts = batches or [(0, n_rows)]
        if batches and len(kept) == sizes[-1]:  # the survivors are trained in one batch, from rest
            parts, batches = [(0, n_rows)], None
            beta, intercept = beta + momentum * velocity, intercept + momentum * intercept_velocity
            velocity, intercept_velocity = np.zeros_like(beta), 0.0
        for start, stop in parts:
            ahead = beta + momentum * velocity
            level = intercept + momentum * intercept_velocity
            rows = A[start:stop, kept]
            slope = derivative(np.einsum("ijk,jk->i", rows, ahead) + level, start, stop)
            gradient = np.einsum("ijk,i->jk", rows, slope)
            if rho is not None:
                gradient = gradient + rho(ahead)
            velocity = momentum * velocity - rate * gradient
            intercept_velocity = momentum * intercept_velocity - rate * slope.sum()
            beta, intercept = beta + velocity, intercept + intercept_velocity
        if size < len(kept):
            ranks = np.argsort(-score(beta + momentum * velocity), kind="stable")
            stays = np.sort(ranks[:size])
            kept, beta, velocity = kept[stays], beta[stays], velocity[stays]
    return kept, beta + momentum * velocity, intercept + momentum * intercept_velocity


def weighted(derivative, y, weight=None):
    weight = np.ones(len(y)) if weight is None else weight * len(y) / weight.sum()
    return lambda f, start, stop: weight[start:stop] * derivative(y[start:stop], f) / (stop - start)


def check_same(result, naive):
    kept, beta, intercept = naive
    np.testing.assert_array_equal(result.kept, kept)
    np.testing.assert_allclose(result.beta[0], beta, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(result.intercept[0], intercept, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("loss", DERIVATIVES)
@pytest.mark.parametrize("with_weights", [False, True])
def test_literal_algorithm_1_agrees_with_naive_twin(rng, loss, with_weights):
    X = make_table(rng)
    y = make_response(rng, X)
    if loss is not SquaredError:
        y = np.sign(y)
    weight = rng.uniform(0.1, 2, N_ROWS) if with_weights else None
    rate = 0.05 if loss is SquaredError else 0.5
    start = np.average(y, weights=weight) if loss is SquaredError else 0.0
    result = anneal(dense(X), loss(y, weight), None, SCHEDULE, learning_rate=rate, **LITERAL)
    derivative = weighted(DERIVATIVES[loss], y, weight)
    sizes = SCHEDULE.features_kept(N_FEATURES)
    check_same(result, naive_anneal(X[:, :, None], derivative, sizes, rate, intercept=start))


@pytest.mark.parametrize("batch_size", [None, 20, 7])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_batches_and_momentum_agree_with_naive_twin(rng, batch_size, momentum):
    X = make_table(rng)
    y = np.sign(make_response(rng, X))
    loss = Logistic(y)
    options = {"batch_size": batch_size, "momentum": momentum, "tol": 0.0}
    result = anneal(dense(X), loss, None, SCHEDULE, learning_rate=0.2, **options)
    batches = loss.splits(batch_size) if batch_size else None
    naive = naive_anneal(
        X[:, :, None],
        weighted(DERIVATIVES[Logistic], y),
        SCHEDULE.features_kept(N_FEATURES),
        0.2,
        momentum=momentum,
        batches=batches,
    )
    check_same(result, naive)


class WatchedDesign(DenseDesign):
    """Remembers which rows were asked for."""

    def __init__(self, columns):
        super().__init__(columns)
        self.asked = []

    def block(self, start, stop):
        self.asked.append((start, stop))
        return super().block(start, stop)


def test_an_iteration_takes_some_batches_and_the_next_others(rng):
    X = make_table(rng, n_rows=50)
    design = WatchedDesign(np.ascontiguousarray(X.T))
    y, schedule = make_response(rng, X), InverseSchedule(3, 12, 0)
    options = {"batch_size": 10, "batches_per_iteration": 2, "learning_rate": 1e-3}
    anneal(design, SquaredError(y), None, schedule, **options)
    batches = [(0, 10), (10, 20), (20, 30), (30, 40), (40, 50)]
    assert design.asked[:8] == [*batches, *batches[:3]]
    assert set(design.asked[8:]) <= {*batches, (0, 50)}


@pytest.mark.parametrize("n", [5, 8])
def test_as_many_batches_as_there_are_change_nothing(rng, n):
    X = make_table(rng, n_rows=50)
    y, schedule = make_response(rng, X), InverseSchedule(3, 40)
    expected = anneal(dense(X), SquaredError(y), None, schedule, batch_size=10)
    result = anneal(dense(X), SquaredError(y), None, schedule, batch_size=10, batches_per_iteration=n)
    np.testing.assert_array_equal(result.kept, expected.kept)
    np.testing.assert_array_equal(result.beta, expected.beta)


def test_penalized_algorithm_agrees_with_naive_twin(rng):
    X = make_table(rng)
    y = make_response(rng, X)
    result = anneal(dense(X), SquaredError(y), Ridge(0.3), SCHEDULE, learning_rate=0.05, **LITERAL)
    naive = naive_anneal(
        X[:, :, None],
        weighted(DERIVATIVES[SquaredError], y),
        SCHEDULE.features_kept(N_FEATURES),
        0.05,
        intercept=y.mean(),
        rho=lambda beta: 0.6 * beta,
    )
    check_same(result, naive)


def test_piecewise_blocks_agree_with_naive_twin(rng):
    """Blocks of B + 1 coefficients, with the prior (13), ranked by their norms."""
    codes = rng.integers(0, 256, (N_FEATURES, N_ROWS)).astype(np.uint8)
    y = np.sign(np.abs(codes[5] - 128.0) - 64 + rng.standard_normal(N_ROWS))
    penalty = SecondDifference(strength=0.01, smoothness=0.02)
    bend = np.diff(np.eye(5), n=2, axis=0)
    prior = 2 * 0.01 * np.eye(5) + 2 * 0.02 * bend.T @ bend
    result = anneal(BinnedDesign(codes, 4), Lorenz(y), penalty, SCHEDULE, learning_rate=0.5, **LITERAL)
    naive = naive_anneal(
        piecewise_basis(codes, 4),
        weighted(DERIVATIVES[Lorenz], y),
        SCHEDULE.features_kept(N_FEATURES),
        0.5,
        rho=lambda beta: beta @ prior,
    )
    check_same(result, naive)


def test_ranking_agrees_with_naive_twin(rng):
    X = make_table(rng)
    f = make_response(rng, X)
    pairs = np.array([(i, j) for g in range(6) for i in range(10 * g, 10 * g + 10) for j in range(10 * g, i)])
    r = (f[pairs[:, 0]] > f[pairs[:, 1]]).astype(float)

    def derivative(f, start, stop):
        slope = np.zeros(N_ROWS)
        for (i, j), r_ij in zip(pairs, r, strict=True):
            push = (1 / (1 + np.exp(f[j] - f[i])) - r_ij) / len(pairs)
            slope[i] += push
            slope[j] -= push
        return slope

    loss = PairwiseLogistic(pairs, r, N_ROWS)
    result = anneal(dense(X), loss, None, SCHEDULE, learning_rate=0.5, **LITERAL)
    check_same(result, naive_anneal(X[:, :, None], derivative, SCHEDULE.features_kept(N_FEATURES), 0.5))


def test_groups_agree_with_naive_blocks(rng):
    """Groups of equal size are blocks: the root mean square of a group is its norm, up to a factor."""
    X = make_table(rng)
    y = make_response(rng, X)
    schedule = InverseSchedule(k=3, n_iter=40, mu=5)
    groups = np.arange(N_FEATURES) % 8
    result = anneal(
        dense(X), SquaredError(y), None, schedule, learning_rate=0.05, feature_groups=groups, **LITERAL
    )
    A = np.stack([X[:, groups == g] for g in range(8)], axis=1)
    derivative = weighted(DERIVATIVES[SquaredError], y)
    kept, beta, intercept = naive_anneal(A, derivative, schedule.features_kept(8), 0.05, intercept=y.mean())
    check_same(result, (np.flatnonzero(np.isin(groups, kept)), beta.T.reshape(-1, 1), intercept))


def test_groups_of_unequal_size_are_ranked_by_root_mean_square(rng):
    """One strong feature outranks three weak ones, although their norm is larger."""
    X = make_table(rng, n_features=6)
    y = X @ [1.0, 0.7, 0.7, 0.7, 0.0, 0.0]
    result = anneal(
        dense(X), SquaredError(y), None, InverseSchedule(1, 30), feature_groups=np.array([4, 9, 9, 9, 1, 1])
    )
    assert result.kept.tolist() == [0]
    assert result.trace.features_kept[-1] == 1


def test_multiple_outputs_share_their_features(rng):
    """Features are ranked by the norm over the outputs."""
    X = make_table(rng)
    y = np.stack([2 * X[:, 3], 2 * X[:, 11], X[:, 3] - X[:, 17]])
    result = anneal(dense(X), SquaredError(y), None, InverseSchedule(k=3))
    assert result.kept.tolist() == [3, 11, 17]
    np.testing.assert_allclose(result.beta[:, :, 0], [[2, 0, 0], [0, 2, 0], [1, 0, -1]], atol=1e-4)


def test_always_keep_never_leaves_and_counts_among_k(rng):
    X = make_table(rng)
    y = make_response(rng, X)
    result = anneal(dense(X), SquaredError(y), None, InverseSchedule(k=4), always_keep=np.array([0, 23]))
    assert result.kept.tolist() == [0, 3, 11, 23]
    assert result.ranking[[0, 23]].tolist() == [1, 1]


def test_always_keep_of_groups_keeps_the_whole_group(rng):
    X = make_table(rng)
    y = make_response(rng, X)
    groups = np.arange(N_FEATURES) // 2
    result = anneal(
        dense(X),
        SquaredError(y),
        None,
        InverseSchedule(k=2),
        feature_groups=groups,
        always_keep=np.array([0]),
    )
    assert result.kept.tolist() == [0, 1, 2, 3]


def make_designs(X):
    """All designs that hold the same numbers; `streamed` never fits its budget, `resident` soon does."""

    def read(start, stop, columns):
        return X[start:stop, columns]

    return {
        "float32": DenseDesign(np.ascontiguousarray(X.T, dtype=np.float32)),
        "csr": SparseDesign(sparse.csr_array(X)),
        "csc": SparseDesign(sparse.csc_matrix(X)),
        "streamed": BlockDesign(read, *X.shape, dtype=np.float64, block_rows=11, memory_budget=0),
        "resident": BlockDesign(read, *X.shape, dtype=np.float64, block_rows=11),
        "float32 blocks": BlockDesign(read, *X.shape, block_rows=64),
    }


@pytest.mark.parametrize("batch_size", [None, 15])
def test_all_designs_select_the_same(rng, batch_size):
    """The numbers are exact in float32, so only the order of summation differs."""
    X = make_table(rng) * (rng.random((N_ROWS, N_FEATURES)) < 0.7)
    y = np.sign(make_response(rng, X))
    expected = anneal(dense(X), Lorenz(y), None, SCHEDULE, batch_size=batch_size)
    for name, design in make_designs(X).items():
        result = anneal(design, Lorenz(y), None, SCHEDULE, batch_size=batch_size)
        np.testing.assert_array_equal(result.kept, expected.kept, err_msg=name)
        np.testing.assert_array_equal(result.ranking, expected.ranking, err_msg=name)
        np.testing.assert_allclose(result.beta, expected.beta, rtol=1e-8, atol=1e-10, err_msg=name)
        np.testing.assert_allclose(result.intercept, expected.intercept, rtol=1e-8, err_msg=name)
        assert design.n_features == SCHEDULE.k, name


def test_threads_change_no_bit(rng, with_threads):
    X = make_table(rng, 1500, 100)
    y = np.sign(make_response(rng, X))
    codes = (X.T * 40 + 128).clip(0, 255).astype(np.uint8)
    penalty = SecondDifference()

    def run():
        linear = anneal(dense(X), Lorenz(y), None, InverseSchedule(5, 30), batch_size=None)
        binned = anneal(BinnedDesign(codes, 6), Lorenz(y), penalty, InverseSchedule(5, 30), batch_size=None)
        thin = anneal(SparseDesign(sparse.csr_array(X)), Lorenz(y), None, InverseSchedule(5, 30))
        return linear, binned, thin

    for one, two in zip(*with_threads(run), strict=True):
        for name in ("kept", "beta", "intercept", "ranking"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        assert one.trace.loss == two.trace.loss


def test_automatic_step_solves_least_squares(rng):
    X = make_table(rng, n_features=5)
    y = make_response(rng, make_table(rng))
    result = anneal(dense(X), SquaredError(y), None, InverseSchedule(k=5, n_iter=2000), tol=1e-12)
    solution = np.linalg.lstsq(np.column_stack([X, np.ones(N_ROWS)]), y, rcond=None)[0]
    np.testing.assert_allclose([*result.beta.ravel(), result.intercept[0]], solution, atol=1e-8)


@pytest.mark.parametrize("loss", [SquaredError, Logistic, HuberHinge, Lorenz])
def test_relevant_features_are_found_and_the_gradient_vanishes(rng, loss):
    X = make_table(rng, 300, 200)
    y = make_response(rng, X) + rng.standard_normal(300)
    targets = y if loss is SquaredError else np.sign(y)
    bound, penalty = loss(targets), Ridge(0.01)
    result = anneal(dense(X), bound, penalty, InverseSchedule(k=3, n_iter=3000), tol=1e-10)
    assert result.kept.tolist() == [3, 11, 17]
    response = result.beta[0, :, 0] @ X[:, result.kept].T + result.intercept
    slope = bound.derivative(response[None], 0, 300)
    gradient = slope @ X[:, result.kept] + 0.02 * result.beta[0, :, 0]
    np.testing.assert_allclose(gradient, 0, atol=1e-7)
    assert slope.sum() == pytest.approx(0, abs=1e-7)


def test_trace_follows_the_schedule_and_the_loss_falls(rng):
    X = make_table(rng)
    y = make_response(rng, X)
    seen = []
    result = anneal(
        dense(X), SquaredError(y), None, SCHEDULE, batch_size=None, momentum=0, tol=0, callback=seen.append
    )
    trace = result.trace
    assert trace.features_kept == SCHEDULE.features_kept(N_FEATURES).tolist()
    assert trace.loss[0] == pytest.approx(np.var(y))
    settled = trace.loss[20:]  # from here on all features stay, and a step of 1 / L never climbs
    assert (np.diff(settled) <= 1e-12).all()
    assert (np.diff(trace.seconds) >= 0).all()
    assert [p.iteration for p in seen] == list(range(1, 41))
    assert [(p.features_kept, p.loss, p.step, p.seconds) for p in seen] == list(
        zip(trace.features_kept, trace.loss, trace.step, trace.seconds, strict=True)
    )
    assert {p.n_iter for p in seen} == {40}


def test_visits_are_the_area_under_the_schedule(rng):
    """What `cost` says is what responses are computed for."""

    class Counting(DenseDesign):
        visits = 0

        def response(self, beta, intercept, start, stop):
            self.visits += self.n_features * (stop - start)
            return super().response(beta, intercept, start, stop)

    X = make_table(rng)
    design = Counting(np.ascontiguousarray(X.T))
    anneal(design, SquaredError(make_response(rng, X)), None, SCHEDULE, learning_rate=0.05, **LITERAL)
    assert design.visits == N_ROWS * SCHEDULE.cost(N_FEATURES)


def test_training_ends_once_the_survivors_have_converged(rng):
    X = make_table(rng)
    y = make_response(rng, X)
    early = anneal(dense(X), SquaredError(y), None, InverseSchedule(k=4, n_iter=2000), tol=1e-5)
    full = anneal(dense(X), SquaredError(y), None, InverseSchedule(k=4, n_iter=2000), tol=0)
    assert len(early.trace) < 1500
    assert len(full.trace) == 2000
    assert early.trace.features_kept[-1] == 4
    np.testing.assert_allclose(early.beta, full.beta, rtol=1e-3)


def test_ranking_orders_features_by_when_they_left(rng):
    X = make_table(rng)
    kept_after = []
    design = dense(X)
    result = anneal(
        design, SquaredError(make_response(rng, X)), None, SCHEDULE, callback=lambda p: kept_after.append(p)
    )
    ranking = result.ranking
    assert (ranking[result.kept] == 1).all()
    others = np.sort(np.delete(ranking, result.kept))
    np.testing.assert_array_equal(others, np.arange(2, N_FEATURES - SCHEDULE.k + 2))
    # Whatever was left after an iteration ranks above whatever had gone.
    for size in {p.features_kept for p in kept_after}:
        assert (ranking <= size - SCHEDULE.k + 1).sum() == size


def test_ties_go_to_the_lower_index():
    """Four copies of one column have equal coefficients throughout."""
    column = np.array([1.0, -1.0, 2.0, -2.0])
    result = anneal(
        DenseDesign(np.tile(column, (4, 1))), SquaredError(3 * column), None, InverseSchedule(k=2, n_iter=50)
    )
    assert result.kept.tolist() == [0, 1]


def test_path_is_nested_and_each_size_is_trained(rng):
    X = make_table(rng, 200, 60)
    y = make_response(rng, X)
    sizes = [2, 8, 3, 8, 1]
    path = anneal_path(dense(X), SquaredError(y), None, InverseSchedule(k=1, n_iter=300), sizes)
    assert [len(result.kept) for result in path] == [8, 3, 2, 1]
    for larger, smaller in pairwise(path):
        assert set(smaller.kept) < set(larger.kept)
        assert (smaller.ranking[smaller.kept] == 1).all()
    for result in path:
        A = np.column_stack([X[:, result.kept], np.ones(200)])
        solution = np.linalg.lstsq(A, y, rcond=None)[0]
        np.testing.assert_allclose(result.beta[0, :, 0], solution[:-1], atol=1e-3)


def test_path_starts_as_a_single_run_does(rng):
    X = make_table(rng)
    y = make_response(rng, X)
    alone = anneal(dense(X), SquaredError(y), None, InverseSchedule(k=6, n_iter=100))
    first = anneal_path(dense(X), SquaredError(y), None, InverseSchedule(k=1, n_iter=100), [6, 2])[0]
    np.testing.assert_array_equal(first.kept, alone.kept)
    np.testing.assert_array_equal(first.beta, alone.beta)


@pytest.mark.parametrize("learning_rate", [3.0, 100.0, 1e6, 1e9])
@pytest.mark.parametrize("loss", [SquaredError, Logistic, HuberHinge, Lorenz])
@pytest.mark.parametrize("batch_size", [None, 20])
def test_far_too_large_steps_recover(rng, learning_rate, loss, batch_size):
    X = make_table(rng)
    y = make_response(rng, X)
    bound = loss(y if loss is SquaredError else np.sign(y))
    options = {"learning_rate": learning_rate, "batch_size": batch_size}
    result = anneal(dense(X), bound, None, InverseSchedule(k=4, n_iter=200), **options)
    assert np.isfinite(result.beta).all()
    assert np.isfinite(result.intercept).all()
    response = result.beta[0, :, 0] @ X[:, result.kept].T + result.intercept
    empty = bound.value(np.full((1, N_ROWS), bound.initial_intercept()[0]), 0, N_ROWS)
    assert bound.value(response[None], 0, N_ROWS) <= 2 * empty


@pytest.mark.parametrize("loss", [SquaredError, Logistic])
def test_features_leave_by_steps_that_did_not_diverge(rng, loss):
    X = make_table(rng, n_rows=200)
    y = 3 * X[:, 15] - 2 * X[:, 20] + 0.1 * rng.standard_normal(200)  # not the first ones, which win ties
    bound = loss(y if loss is SquaredError else np.sign(y))
    options = {"learning_rate": 30.0, "batch_size": 20}
    result = anneal(dense(X), bound, None, InverseSchedule(k=2, n_iter=200), **options)
    assert result.kept.tolist() == [15, 20]
    assert result.trace.step[0] < 30


@pytest.mark.parametrize("learning_rate", [1e100, 1e300])
@pytest.mark.parametrize("batch_size", [None, 20])
def test_steps_beyond_forty_halvings_are_refused(rng, learning_rate, batch_size):
    X = make_table(rng)
    loss = SquaredError(make_response(rng, X))
    options = {"learning_rate": learning_rate, "batch_size": batch_size}
    with pytest.raises(DataError, match="training diverges at any step length"):
        anneal(dense(X), loss, None, InverseSchedule(k=4, n_iter=200), **options)


@pytest.mark.parametrize("n_iter", [1, 2, 3])
def test_few_iterations(rng, n_iter):
    X = make_table(rng)
    result = anneal(dense(X), SquaredError(make_response(rng, X)), None, InverseSchedule(4, n_iter))
    assert len(result.kept) == 4
    assert np.isfinite(result.beta).all()


def test_single_sample():
    result = anneal(DenseDesign(np.array([[1.0], [2.0]])), SquaredError([3.0]), None, InverseSchedule(1))
    assert result.intercept[0] + result.beta[0, 0, 0] * [1, 2][result.kept[0]] == pytest.approx(3)


def test_no_feature_but_constants():
    """Columns of zeros (constants, once centred) pull nothing; the intercept still learns."""
    y = np.array([1.0, 1.0, 1.0, -1.0])
    result = anneal(DenseDesign(np.zeros((3, 4))), Logistic(y), None, InverseSchedule(1, 2000), tol=1e-9)
    assert result.kept.tolist() == [0]
    assert result.beta.ravel().tolist() == [0]
    assert result.intercept[0] == pytest.approx(np.log(3), rel=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size must be None or an integer of at least 1, got 0"),
        ({"momentum": 1.0}, "momentum must be a number of at least 0 and below 1, got 1.0"),
        ({"momentum": -0.1}, "momentum must be a number of at least 0 and below 1, got -0.1"),
        ({"momentum": np.nan}, "momentum must be a number of at least 0 and below 1, got nan"),
        ({"learning_rate": 0.0}, 'learning_rate must be "auto" or a number above 0, got 0.0'),
        ({"learning_rate": np.inf}, 'learning_rate must be "auto" or a number above 0, got inf'),
        ({"learning_rate": "fast"}, "learning_rate must be \"auto\" or a number above 0, got 'fast'"),
        ({"tol": -1e-3}, "tol must be a number of at least 0, got -0.001"),
        ({"tol": np.nan}, "tol must be a number of at least 0, got nan"),
        ({"always_keep": np.array([24])}, "always_keep must hold feature numbers from 0 to 23"),
        ({"always_keep": np.array([-1])}, "always_keep must hold feature numbers from 0 to 23"),
        ({"always_keep": np.array([1.0])}, "always_keep must hold feature numbers from 0 to 23"),
        ({"always_keep": np.arange(5)}, "always_keep names 5 features or groups, more than k = 4"),
        (
            {"always_keep": np.arange(0, 24, 3), "feature_groups": np.arange(24) // 3},
            "always_keep names 8 features or groups, more than k = 4",
        ),
    ],
)
def test_bad_parameters_are_refused(rng, options, message):
    X = make_table(rng)
    with pytest.raises(ParameterError, match=message):
        anneal(dense(X), SquaredError(X[:, 0]), None, SCHEDULE, **options)


@pytest.mark.parametrize("groups", [np.arange(23), np.zeros((24, 1), dtype=int)])
def test_groups_of_another_length_are_refused(rng, groups):
    X = make_table(rng)
    with pytest.raises(DataError, match="feature_groups must name a group for each of 24 features, got"):
        anneal(dense(X), SquaredError(X[:, 0]), None, SCHEDULE, feature_groups=groups)


def test_a_loss_of_other_rows_is_refused(rng):
    X = make_table(rng)
    with pytest.raises(DataError, match="the design has 60 rows, the loss 59"):
        anneal(dense(X), SquaredError(X[1:, 0]), None, SCHEDULE)
