import numpy as np
import pytest

from annealed.features.errors import DataError, ParameterError
from annealed.models.annealing import anneal
from annealed.models.designs import DenseDesign
from annealed.models.loss_kernels import _digest
from annealed.models.losses import (
    LOSSES,
    HuberError,
    HuberHinge,
    Logistic,
    Lorenz,
    PairwiseLogistic,
    PointwiseLoss,
    SquaredError,
    find_loss,
)
from annealed.models.schedules import InverseSchedule

N_ROWS = 9


def naive_squared(y, f):
    return (y - f) ** 2


def naive_logistic(y, f):
    return np.log(1 + np.exp(-y * f))


def naive_huber(y, f, h=0.5):
    margin = y * f
    if margin > 1 + h:
        return 0.0
    if abs(1 - margin) <= h:
        return (1 + h - margin) ** 2 / (4 * h)
    return 1 - margin


def naive_lorenz(y, f):
    return 0.0 if y * f > 1 else np.log(1 + (y * f - 1) ** 2)


def naive_huber_error(y, f, h=1.0):
    gap = abs(y - f)
    return gap**2 if gap <= h else 2 * h * gap - h**2


class SquaredHinge(PointwiseLoss):
    """A loss that the package does not have."""

    curvature = 2.0

    @staticmethod
    def sample_value(y, f):
        return max(1 - y * f, 0.0) ** 2

    @staticmethod
    def sample_slope(y, f):
        return -2 * y * max(1 - y * f, 0.0)


POINTWISE = {
    "squared": (SquaredError, naive_squared),
    "huber error": (HuberError, naive_huber_error),
    "squared hinge, new here": (SquaredHinge, lambda y, f: max(1 - y * f, 0.0) ** 2),
    "logistic": (Logistic, naive_logistic),
    "huber": (HuberHinge, naive_huber),
    "lorenz": (Lorenz, naive_lorenz),
}


def make_pointwise(name, rng, n_outputs=2):
    """A loss with random targets and weights, of which one is zero."""
    if name in ("squared", "huber error"):
        target = rng.standard_normal((n_outputs, N_ROWS))
    else:
        target = rng.choice([-1.0, 1.0], (n_outputs, N_ROWS))
    weight = rng.uniform(0, 3, N_ROWS)
    weight[4] = 0
    return POINTWISE[name][0](target, weight), target, weight


def make_pairwise(rng):
    """Pairs within the rows 0-2, 3-4 and 5-8, in no order."""
    pairs = np.array([[7, 5], [0, 2], [8, 5], [4, 3], [1, 0], [6, 8], [2, 1]])
    r = np.array([1, 0, 0.5, 1, 0.25, 0, 1])
    weight = rng.uniform(0.5, 2, len(pairs))
    return PairwiseLogistic(pairs, r, N_ROWS, weight), pairs, r, weight


def any_loss(name, rng):
    return make_pairwise(rng)[0] if name == "pairwise" else make_pointwise(name, rng)[0]


ALL = [*POINTWISE, "pairwise"]


@pytest.mark.parametrize("name", POINTWISE)
@pytest.mark.parametrize(("start", "stop"), [(0, N_ROWS), (2, 7), (8, 9)])
def test_value_is_the_weighted_mean_of_the_equation(rng, name, start, stop):
    loss, target, weight = make_pointwise(name, rng)
    response = 2 * rng.standard_normal((2, stop - start))
    expected = 0.0
    for o in range(2):
        for i in range(start, stop):
            unit_mean = weight[i] * N_ROWS / weight.sum()
            expected += unit_mean * POINTWISE[name][1](target[o, i], response[o, i - start])
    assert loss.value(response, start, stop) == pytest.approx(expected / (stop - start), rel=1e-12)


@pytest.mark.parametrize(("start", "stop"), [(0, N_ROWS), (0, 5), (5, 9)])
def test_pairwise_value_is_the_weighted_mean_of_equation_9(rng, start, stop):
    loss, pairs, r, weight = make_pairwise(rng)
    f = rng.standard_normal(N_ROWS)
    terms = []
    for (i, j), r_ij, w in zip(pairs, r, weight * len(r) / weight.sum(), strict=True):
        if start <= i < stop:
            terms.append(w * (np.log(1 + np.exp(f[i] - f[j])) - r_ij * (f[i] - f[j])))
    value = loss.value(f[None, start:stop], start, stop)
    assert value == pytest.approx(np.mean(terms), rel=1e-12)


@pytest.mark.parametrize(
    ("loss", "margin", "expected"),
    [
        (Logistic, 0.0, np.log(2)),
        (Logistic, -2.0, np.log(1 + np.e**2)),
        (HuberHinge, 3.0, 0.0),
        (HuberHinge, 1.5, 0.0),
        (HuberHinge, 1.0, 0.125),  # h^2 / 4h at h = 0.5
        (HuberHinge, 0.5, 0.5),  # where the parabola meets the line
        (HuberHinge, -3.0, 4.0),
        (Lorenz, 1.0, 0.0),
        (Lorenz, 5.0, 0.0),
        (Lorenz, 0.0, np.log(2)),
        (Lorenz, -1.0, np.log(5)),
    ],
)
@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_value_by_hand(loss, margin, expected, label):
    assert loss([label]).value(np.array([[margin * label]]), 0, 1) == pytest.approx(expected, abs=1e-15)


def test_squared_error_by_hand():
    assert SquaredError([1.0, 3.0]).value(np.array([[0.0, 5.0]]), 0, 2) == (1 + 4) / 2


def test_pairwise_value_by_hand():
    loss = PairwiseLogistic([[0, 1]], [1.0], 2)
    assert loss.value(np.array([[2.0, 0.0]]), 0, 2) == pytest.approx(np.log(1 + np.exp(-2)))


def test_huber_width_is_a_parameter():
    loss = HuberHinge([1.0], h=0.1)
    assert loss.value(np.array([[1.0]]), 0, 1) == pytest.approx(0.1 / 4)
    assert loss.value(np.array([[0.9]]), 0, 1) == pytest.approx(0.1)


@pytest.mark.parametrize("loss", [Logistic([1.0]), PairwiseLogistic([[0, 1]], [0.0], 2)])
def test_logarithms_stand_huge_responses(loss):
    far = np.array([[-1e4, 0.0]])[:, : loss.n_rows]
    wrong = far if loss.n_rows == 1 else -far
    assert loss.value(wrong, 0, loss.n_rows) == 1e4
    assert loss.value(-wrong, 0, loss.n_rows) == 0
    assert np.isfinite(loss.derivative(wrong, 0, loss.n_rows)).all()


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("start", "stop"), [(0, N_ROWS), (5, 9)])
def test_derivative_agrees_with_finite_differences(rng, name, start, stop):
    loss = any_loss(name, rng)
    response = 1.5 * rng.standard_normal((loss.n_outputs, stop - start))
    derivative = loss.derivative(response, start, stop)
    numeric = np.empty_like(response)
    for index in np.ndindex(response.shape):
        step = np.zeros_like(response)
        step[index] = 1e-6
        rise = loss.value(response + step, start, stop) - loss.value(response - step, start, stop)
        numeric[index] = rise / 2e-6
    np.testing.assert_allclose(derivative, numeric, atol=1e-9)


@pytest.mark.parametrize("name", ["huber", "lorenz"])
@pytest.mark.parametrize("margin", [0.5, 1.0, 1.5])
def test_derivative_is_continuous_where_pieces_meet(name, margin):
    loss = POINTWISE[name][0]([1.0])
    below, above = (loss.derivative(np.array([[margin + d]]), 0, 1) for d in (-1e-9, 1e-9))
    np.testing.assert_allclose(below, above, atol=1e-8)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("start", "stop"), [(0, N_ROWS), (5, 9)])
def test_curvature_bounds_the_hessian(rng, name, start, stop):
    """|d' H d| <= d' C d for random directions, with H d from differences of the derivative."""
    loss = any_loss(name, rng)
    shape = (loss.n_outputs, stop - start)
    for _ in range(50):
        response, direction = rng.standard_normal(shape), rng.standard_normal(shape)
        ahead = loss.derivative(response + 1e-5 * direction, start, stop)
        behind = loss.derivative(response - 1e-5 * direction, start, stop)
        bent = np.sum(direction * (ahead - behind)) / 2e-5
        assert abs(bent) <= np.sum(direction * loss.hessian_product(direction, start, stop)) + 1e-8


@pytest.mark.parametrize(
    ("loss", "response"),
    [
        (SquaredError([0.3, 0.3]), [1.0, 1.0]),
        (Logistic([1.0, -1.0]), [0.0, 0.0]),
        (HuberHinge([1.0, -1.0]), [1.2, -1.2]),
        (Lorenz([1.0, -1.0]), [1 - 1e-6, -1 + 1e-6]),
        (PairwiseLogistic([[0, 1]], [1.0], 2), [2.0, 2.0]),
    ],
)
def test_curvature_is_attained(loss, response):
    """No smaller multiple would be a bound: where each loss bends most, it is an equality."""
    response, direction = np.array([response]), np.array([[1.0, -1.0]])
    ahead = loss.derivative(response + 1e-7 * direction, 0, 2)
    behind = loss.derivative(response - 1e-7 * direction, 0, 2)
    # The Lorenz loss bends most at the margin one, from one side only.
    np.testing.assert_allclose((ahead - behind) / 2e-7, loss.hessian_product(direction, 0, 2), rtol=1e-4)


@pytest.mark.parametrize("name", POINTWISE)
def test_weight_two_equals_a_repeated_sample(rng, name):
    loss = POINTWISE[name][0]
    target, response = np.array([1.0, -1.0, 1.0]), rng.standard_normal((1, 3))
    repeated = loss(target[[0, 0, 1, 2]])
    weighted = loss(target, [2, 1, 1])
    again = response[:, [0, 0, 1, 2]]
    assert weighted.value(response, 0, 3) == pytest.approx(repeated.value(again, 0, 4))


@pytest.mark.parametrize("name", ALL)
def test_scaling_all_weights_changes_nothing(rng, name):
    loss = any_loss(name, rng)
    response = rng.standard_normal((loss.n_outputs, N_ROWS))
    if name == "pairwise":
        scaled = PairwiseLogistic(loss.pairs, loss.r, N_ROWS, 7 * loss.weight)
    else:
        scaled = POINTWISE[name][0](loss.target, 7 * loss.weight)
    assert scaled.value(response, 0, N_ROWS) == pytest.approx(loss.value(response, 0, N_ROWS))


def test_squared_error_starts_from_the_weighted_mean():
    loss = SquaredError([[0.0, 3.0], [1.0, 1.0]], [1, 2])
    np.testing.assert_allclose(loss.initial_intercept(), [2.0, 1.0])
    assert not np.any(Logistic([[1.0], [1.0]]).initial_intercept())


@pytest.mark.parametrize("batch_size", [1, 2, 4, 9, 100, None])
def test_splits_cover_the_rows_once(batch_size):
    splits = Logistic(np.ones(N_ROWS)).splits(batch_size)
    assert np.concatenate([np.arange(*rows) for rows in splits]).tolist() == list(range(N_ROWS))
    sizes = [stop - start for start, stop in splits]
    assert max(sizes) - min(sizes) <= 1
    assert min(sizes) >= min(batch_size or N_ROWS, N_ROWS)


@pytest.mark.parametrize("batch_size", [1, 2, 3, 4, 5, 9, 100, None])
def test_pairwise_splits_part_no_pair_and_leave_none_without(rng, batch_size):
    loss, pairs, _, _ = make_pairwise(rng)
    splits = loss.splits(batch_size)
    assert np.concatenate([np.arange(*rows) for rows in splits]).tolist() == list(range(N_ROWS))
    inside = [((pairs >= start) & (pairs < stop)).all(axis=1).sum() for start, stop in splits]
    assert sum(inside) == len(pairs)
    assert min(inside) > 0


def test_pairwise_splits_between_groups(rng):
    loss = make_pairwise(rng)[0]
    assert loss.splits(1) == [(0, 3), (3, 5), (5, 9)]
    assert loss.splits(4) == [(0, 5), (5, 9)]


def test_pairwise_splits_give_rows_without_pairs_to_a_neighbour():
    loss = PairwiseLogistic([[2, 3], [5, 6]], [1, 1], 9)
    splits = loss.splits(1)
    assert [(start <= 2 < stop, start <= 5 < stop) for start, stop in splits] == [
        (True, False),
        (False, True),
    ]


@pytest.mark.parametrize("name", ALL)
def test_batches_average_to_the_whole(rng, name):
    """The mean over all rows (pairs) is the mean of the batches, weighted by their rows (pairs)."""
    loss = any_loss(name, rng)
    response = rng.standard_normal((loss.n_outputs, N_ROWS))
    total, count = 0.0, 0
    for start, stop in loss.splits(3):
        part = response[:, start:stop]
        n = stop - start if name != "pairwise" else len(loss._pairs_of(start, stop)[0])
        total += n * loss.value(part, start, stop)
        count += n
    assert total / count == pytest.approx(loss.value(response, 0, N_ROWS))


@pytest.mark.parametrize(
    "weight", [[1.0, 2.0], [1.0, -1.0, 1.0], [1.0, np.nan, 1.0], [np.inf, 1.0, 1.0], [0.0, 0.0, 0.0]]
)
def test_bad_weights_are_refused(weight):
    with pytest.raises(DataError, match="weights must be 3 finite numbers of at least 0"):
        Logistic([1.0, -1.0, 1.0], weight)


def test_no_samples_are_refused():
    with pytest.raises(DataError, match="needs at least one sample, got none"):
        Logistic(np.empty((1, 0)))


@pytest.mark.parametrize("h", [0.0, -1.0, np.nan, np.inf])
def test_bad_huber_width_is_refused(h):
    with pytest.raises(ParameterError, match="h must be a finite number above 0, got"):
        HuberHinge([1.0], h=h)


@pytest.mark.parametrize(
    ("pairs", "r", "message"),
    [
        ([[0, 1, 2]], [1.0], r"pairs must be \(n_pairs, 2\) and r \(n_pairs,\), got \(1, 3\) and \(1,\)"),
        ([[0, 1]], [1.0, 0.0], r"pairs must be \(n_pairs, 2\)"),
        (np.empty((0, 2), int), [], "needs at least one pair of comparable samples, got none"),
        ([[0, 3]], [1.0], "pairs must hold integer row numbers from 0 to 2"),
        ([[-1, 0]], [1.0], "pairs must hold integer row numbers from 0 to 2"),
        ([[0.0, 1.0]], [1.0], "pairs must hold integer row numbers from 0 to 2"),
        ([[0, 1]], [1.5], "r must hold values from 0 to 1"),
        ([[0, 1]], [np.nan], "r must hold values from 0 to 1"),
    ],
)
def test_bad_pairs_are_refused(pairs, r, message):
    with pytest.raises(DataError, match=message):
        PairwiseLogistic(pairs, r, 3)


@pytest.mark.parametrize("name", POINTWISE)
def test_the_loss_of_some_rows_has_their_terms(rng, name):
    loss, _, _ = make_pointwise(name, rng)
    response = rng.standard_normal((2, N_ROWS))
    takes = [np.array([0, 3, 4]), np.array([1, 2, 5, 6, 7, 8])]
    total, slopes = 0.0, np.empty_like(response)
    for rows in takes:
        part, n = loss.take(rows), len(rows)
        assert part.n_terms(0, n) == n
        total += part.value(response[:, rows], 0, n) * n
        slopes[:, rows] = part.derivative(np.ascontiguousarray(response[:, rows]), 0, n) * n
    assert total / N_ROWS == pytest.approx(loss.value(response, 0, N_ROWS), 1e-12)
    np.testing.assert_allclose(slopes / N_ROWS, loss.derivative(response, 0, N_ROWS), rtol=1e-12)


def test_the_ranking_loss_of_some_rows_has_their_pairs(rng):
    loss = make_pairwise(rng)[0]
    response = rng.standard_normal((1, N_ROWS))
    total, slopes = 0.0, np.zeros_like(response)
    for rows in (np.arange(3), np.arange(3, 9)):
        part, n = loss.take(rows), len(rows)
        total += part.value(response[:, rows], 0, n) * part.n_terms(0, n)
        slopes[:, rows] = part.derivative(response[:, rows], 0, n) * part.n_terms(0, n)
    assert total / 7 == pytest.approx(loss.value(response, 0, N_ROWS), 1e-12)
    np.testing.assert_allclose(slopes / 7, loss.derivative(response, 0, N_ROWS), rtol=1e-12)


def test_a_new_loss_needs_no_change_elsewhere(rng):
    columns = rng.standard_normal((30, 200))
    y = np.sign(3 * columns[4] - 2 * columns[17] + 2 * rng.standard_normal(200))
    result = anneal(DenseDesign(columns), SquaredHinge(y), None, InverseSchedule(k=2, n_iter=3000), tol=1e-9)
    assert result.kept.tolist() == [4, 17]
    response = result.beta[0, :, 0] @ columns[result.kept] + result.intercept
    slope = -2 * y * np.maximum(1 - y * response, 0) / 200
    np.testing.assert_allclose(columns[result.kept] @ slope, 0, atol=1e-4)


@pytest.mark.parametrize("name", POINTWISE)
def test_parts_of_a_batch_add_up(rng, name):
    loss, _, _ = make_pointwise(name, rng)
    response = rng.standard_normal((2, 7))
    parts = [(2, 5), (5, 6), (6, 9)]
    total = sum(loss.value(response[:, a - 2 : b - 2], a, b, 7) for a, b in parts)
    assert total == pytest.approx(loss.value(response, 2, 9))
    derivatives = [
        loss.derivative(np.ascontiguousarray(response[:, a - 2 : b - 2]), a, b, 7) for a, b in parts
    ]
    np.testing.assert_array_equal(np.concatenate(derivatives, axis=1), loss.derivative(response, 2, 9))


def test_huber_error_starts_from_the_weighted_median():
    loss = HuberError([[0.0, 9.0, 1.0, 5.0, 2.0]], [1, 1, 1, 1, 3])
    assert loss.initial_intercept().tolist() == [2.0]


def test_losses_are_found_by_name_or_given():
    assert find_loss("lorenz") is Lorenz
    assert find_loss(SquaredHinge) is SquaredHinge
    assert set(LOSSES) == {"squared", "huber_error", "logistic", "huber", "lorenz"}
    with pytest.raises(ParameterError, match="loss must be one of squared, huber_error or a class"):
        find_loss("lorenz", ("squared", "huber_error"))
    with pytest.raises(ParameterError, match="loss must be one of"):
        find_loss(None)


def test_compiled_code_is_known_by_what_it_does():
    """A loss that was edited must not get the machine code of the one before from the disk."""

    def made(text):
        scope = {}
        exec(f"import numpy as np\nscale = 2.0\ndef helper(x): return {text}\n", scope)
        exec("def value(y, f): return scale * helper(y - f)", scope)
        return _digest(scope["value"])

    assert made("x * x") == made("x * x")
    assert made("x * x") != made("x + x")
    assert made("x * 2.0") != made("x * 3.0")
