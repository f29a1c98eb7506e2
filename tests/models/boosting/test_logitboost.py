import naive
import numpy as np
import pytest
from scipy.special import expit
from sklearn.utils.estimator_checks import parametrize_with_checks

from annealed.datasets.tables.simulated import make_correlated_classification
from annealed.features.errors import DataError, ParameterError
from annealed.models.boosting import LogitBoost


@parametrize_with_checks([LogitBoost(n_rounds=4, learner_fraction=0.5)])
def test_estimator_checks(estimator, check):
    check(estimator)


def naive_line(x, w, z):
    a, b = naive.weighted_line(x, w, z)
    return a + b * x


def naive_steps(x, w, z, n_bins):
    low, high = x.min(), x.max()
    borders = low + (high - low) * np.arange(1, n_bins) / n_bins
    bins = (x[:, None] > borders).sum(axis=1)
    means = np.zeros(n_bins)
    for b in np.unique(bins):
        means[b] = np.average(z[bins == b], weights=w[bins == b])
    return means[bins]


def naive_round(X, w, z, fit):
    """Return the variable whose learner has the least weighted squared error, and its values."""
    fits = [fit(x, w, z) for x in X.T]
    best = int(np.argmin([w @ (z - f) ** 2 for f in fits]))
    return best, fits[best]


def naive_two_classes(X, y, n_rounds, fit, weight, z_max=4.0):
    """Algorithm 3 of Friedman et al., in their notation: F is half the log odds."""
    F, chosen = np.zeros(len(X)), []
    for _ in range(n_rounds):
        p = np.exp(F) / (np.exp(F) + np.exp(-F))
        z = np.where(y == 1, np.minimum(1 / p, z_max), -np.minimum(1 / (1 - p), z_max))
        best, f = naive_round(X, weight * p * (1 - p), z, fit)
        F = F + f / 2
        chosen.append([best])
    return 2 * F, chosen


def naive_many_classes(X, y, n_rounds, fit, weight, z_max=4.0):
    """Algorithm 6, with the centring of the functions written out; returns probabilities."""
    J = y.max() + 1
    F, chosen = np.zeros((len(X), J)), []
    for _ in range(n_rounds):
        p = np.exp(F) / np.exp(F).sum(axis=1, keepdims=True)
        f, row = np.empty_like(F), []
        for j in range(J):
            z = np.clip(((y == j) - p[:, j]) / (p[:, j] * (1 - p[:, j])), -z_max, z_max)
            best, f[:, j] = naive_round(X, weight * p[:, j] * (1 - p[:, j]), z, fit)
            row.append(best)
        F = F + (J - 1) / J * (f - f.mean(axis=1, keepdims=True))
        chosen.append(row)
    return np.exp(F) / np.exp(F).sum(axis=1, keepdims=True), chosen


LEARNERS = [
    pytest.param({"learner": "linear"}, naive_line, id="linear"),
    pytest.param(
        {"learner": "constant", "n_bins": 6}, lambda x, w, z: naive_steps(x, w, z, 6), id="constant"
    ),
]


@pytest.mark.parametrize(("options", "fit"), LEARNERS)
def test_two_classes_equal_naive(rng, options, fit):
    X = rng.standard_normal((60, 8)) * 3 + 1
    y = (X[:, 2] + X[:, 5] + rng.standard_normal(60) > 2).astype(int)
    weight = rng.uniform(0.2, 2, 60)
    model = LogitBoost(n_rounds=6, **options).fit(X, y, sample_weight=weight)
    expected, chosen = naive_two_classes(X, y, 6, fit, weight)
    np.testing.assert_array_equal(model.chosen_, chosen)
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("options", "fit"), LEARNERS)
def test_three_classes_equal_naive(rng, options, fit):
    X = rng.standard_normal((90, 7))
    y = np.digitize(X[:, 1] + 0.5 * X[:, 4] + 0.3 * rng.standard_normal(90), [-0.5, 0.6])
    weight = rng.uniform(0.2, 2, 90)
    model = LogitBoost(n_rounds=5, **options).fit(X, y, sample_weight=weight)
    expected, chosen = naive_many_classes(X, y, 5, fit, weight)
    np.testing.assert_array_equal(model.chosen_, chosen)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-4, atol=1e-6)


def test_first_round_by_hand():
    # All start at p = 1/2, so z = +-2 and the best line through (-1, -2), (1, 2) is 2 x.
    X = np.array([[-1.0, 5.0], [1.0, 5.0], [-1.0, 6.0], [1.0, 6.0]])
    model = LogitBoost(n_rounds=1).fit(X, ["no", "yes", "no", "yes"])
    np.testing.assert_allclose(model.coef_, [[2, 0]])
    np.testing.assert_allclose(model.intercept_, [0], atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit([-2, 2, -2, 2]))
    assert model.predict(X).tolist() == ["no", "yes", "no", "yes"]
    np.testing.assert_allclose(model.trace_.loss, np.log1p(np.exp(-2)))


def test_equal_variables_go_to_the_first(rng):
    x = rng.standard_normal(40)
    X = np.column_stack([rng.standard_normal(40), x, x, x])
    for learner in ("linear", "constant"):
        model = LogitBoost(n_rounds=2, learner=learner).fit(X, x > 0)
        assert model.support_.tolist() == [False, True, False, False]


def test_finds_the_relevant_variables():
    X, y, support = make_correlated_classification(3000, 200, k=5, random_state=1)
    np.testing.assert_array_equal(LogitBoost(n_rounds=5).fit(X, y).support_, support)


def test_constant_learners_see_what_lines_cannot(rng):
    X = rng.uniform(-1, 1, (400, 5))
    y = np.abs(X[:, 3]) > 0.5
    model = LogitBoost(n_rounds=1, learner="constant", n_bins=4).fit(X, y)
    assert model.get_support(indices=True).tolist() == [3]
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("learner", ["linear", "constant"])
def test_threads_do_not_change_the_result(rng, with_threads, learner):
    X = rng.standard_normal((3000, 80))
    y = (X[:, :5].sum(axis=1) + rng.standard_normal(3000) > 0).astype(int)
    one, two = with_threads(lambda: LogitBoost(n_rounds=10, learner=learner).fit(X, y))
    np.testing.assert_array_equal(one.chosen_, two.chosen_)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_seed_determines_the_learners_drawn(rng):
    X = rng.standard_normal((100, 60))
    y = rng.integers(0, 2, 100)

    def chosen(seed):
        return (
            LogitBoost(n_rounds=8, learner_fraction=0.1, random_state=seed).fit(X, y).chosen_.ravel().tolist()
        )

    assert chosen(3) == chosen(3)
    assert chosen(3) != chosen(4)


def test_small_fractions_still_draw_one_learner(rng):
    X = rng.standard_normal((30, 4))
    model = LogitBoost(n_rounds=3, learner_fraction=0.01, random_state=0).fit(X, X[:, 0] > 0)
    assert len(model.chosen_) == 3


def test_max_features_limits_the_support(rng):
    X = rng.standard_normal((200, 30))
    y = X[:, :6].sum(axis=1) > 0
    free = LogitBoost(n_rounds=20).fit(X, y)
    held = LogitBoost(n_rounds=20, max_features=3).fit(X, y)
    assert free.support_.sum() > 3 == held.support_.sum()
    assert len(held.chosen_) == 20
    assert max(held.trace_.features_used) == 3


def test_trace_has_one_entry_a_round(rng):
    X = rng.standard_normal((200, 10))
    model = LogitBoost(n_rounds=7).fit(X, X[:, 0] + X[:, 1] > 0)
    trace = model.trace_
    assert len(trace) == len(trace.seconds) == len(trace.features_used) == 7
    assert trace.loss[-1] < trace.loss[0] < np.log(2)
    assert trace.features_used == sorted(trace.features_used)
    assert trace.features_used[-1] == model.support_.sum()


def test_unseen_values_use_the_outermost_bins():
    X = np.arange(8.0)[:, None]
    model = LogitBoost(n_rounds=1, learner="constant", n_bins=4).fit(X, X[:, 0] > 3)
    inside, outside = model.decision_function([[0.0], [7.0]]), model.decision_function([[-9.0], [99.0]])
    np.testing.assert_array_equal(inside, outside)


def test_separable_classes_stay_finite():
    X = np.linspace(-1, 1, 20)[:, None]
    for learner in ("linear", "constant"):
        model = LogitBoost(n_rounds=100, learner=learner).fit(X, X[:, 0] > 0)
        assert np.isfinite(model.decision_function(X)).all()
        assert model.score(X, X[:, 0] > 0) == 1


def test_transform_keeps_names_of_used_variables(rng):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(rng.standard_normal((50, 3)), columns=["a", "b", "c"])
    model = LogitBoost(n_rounds=1).fit(X, X["b"] > 0)
    assert model.get_feature_names_out().tolist() == ["b"]
    assert model.transform(X).shape == (50, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"learner": "tree"}, "learner is 'tree'; it must be one of linear, constant"),
        ({"n_rounds": 0}, "n_rounds is 0"),
        ({"n_rounds": 2.5}, "n_rounds is 2.5"),
        ({"n_bins": 1}, "n_bins is 1; it must be an integer of at least 2 and at most 256"),
        ({"n_bins": 257}, "n_bins is 257"),
        ({"learner_fraction": 0}, "learner_fraction is 0"),
        ({"learner_fraction": 1.1}, "learner_fraction is 1.1"),
        ({"max_features": 0}, "max_features is 0"),
        ({"z_max": 0.5}, "z_max is 0.5"),
        ({"z_max": float("nan")}, "z_max is nan"),
    ],
)
def test_bad_parameters(arguments, message):
    with pytest.raises(ParameterError, match=message):
        LogitBoost(**arguments).fit([[0.0], [1.0]], [0, 1])


def test_one_class_is_an_error():
    with pytest.raises(DataError, match="1 class"):
        LogitBoost().fit([[0.0], [1.0]], [1, 1])


def test_one_class_with_weight_is_an_error():
    with pytest.raises(DataError, match="1 class"):
        LogitBoost().fit([[0.0], [1.0]], [0, 1], sample_weight=[1, 0])


def test_non_finite_values_are_an_error():
    with pytest.raises(ValueError, match="NaN"):
        LogitBoost().fit([[0.0], [np.nan]], [0, 1])


def test_weights_of_zero_are_an_error():
    with pytest.raises(ValueError, match="non-zero"):
        LogitBoost().fit([[0.0], [1.0]], [0, 1], sample_weight=[0, 0])
