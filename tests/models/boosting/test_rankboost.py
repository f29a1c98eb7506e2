import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from annealed.features.errors import DataError, ParameterError
from annealed.models.boosting import RankBoost


@parametrize_with_checks([RankBoost(n_rounds=4)])
def test_estimator_checks(estimator, check):
    check(estimator)


def naive_rankboost(X, pairs, r, n_rounds, n_thresholds):
    """Freund et al., figure 1 with the third method for alpha, over every pair and every stump."""
    D = {}
    for (i, j), wanted in zip(pairs, r, strict=True):
        if wanted != 0.5:
            key = (i, j) if wanted > 0.5 else (j, i)
            D[key] = D.get(key, 0) + abs(2 * wanted - 1)
    n_pairs = sum(wanted != 0.5 for wanted in r)
    total = sum(D.values())
    D = {key: value / total for key, value in D.items()}
    stumps = []
    for _ in range(n_rounds):
        best = (0.0, None, None)
        for feature, x in enumerate(X.T):
            for t in range(n_thresholds):
                threshold = x.min() + (t + 1) / (n_thresholds + 1) * (x.max() - x.min())
                score = sum(
                    d * (float(x[i] > threshold) - float(x[j] > threshold)) for (i, j), d in D.items()
                )
                if abs(score) > abs(best[0]) + 1e-10:
                    best = (score, feature, threshold)
        score, feature, threshold = best
        alpha = 0.5 * np.log((1 + score + 1 / n_pairs) / (1 - score + 1 / n_pairs))
        stumps.append((feature, threshold, alpha))
        h = (X[:, feature] > threshold).astype(float)
        D = {(i, j): d * np.exp(-alpha * (h[i] - h[j])) for (i, j), d in D.items()}
        total = sum(D.values())
        D = {key: value / total for key, value in D.items()}
    return stumps


@pytest.mark.parametrize("n_thresholds", [1, 7, 64])
def test_stumps_equal_naive(rng, n_thresholds):
    X = rng.standard_normal((12, 5))
    X[:, 1] = rng.integers(0, 3, 12)
    pairs = np.array([(i, j) for i in range(12) for j in range(12) if i != j and rng.random() < 0.3])
    r = rng.choice([0.0, 0.2, 0.5, 0.9, 1.0], len(pairs))
    model = RankBoost(n_rounds=5, n_thresholds=n_thresholds).fit(X, pairs=pairs, r=r)
    features, thresholds, alphas = zip(*naive_rankboost(X, pairs, r, 5, n_thresholds), strict=True)
    np.testing.assert_array_equal(model.stump_features_, features)
    np.testing.assert_allclose(model.stump_thresholds_, thresholds)
    np.testing.assert_allclose(model.stump_weights_, alphas)
    expected = sum(a * (X[:, j] > t) for j, t, a in zip(features, thresholds, alphas, strict=True))
    np.testing.assert_allclose(model.predict(X), expected)


def test_one_perfect_stump_by_hand():
    # Threshold 1.5 of the range [0, 3] orders the single pair: score 1, room 1/1.
    model = RankBoost(n_rounds=1, n_thresholds=1).fit([[0.0], [3.0]], [0, 1])
    np.testing.assert_allclose(model.stump_weights_, [0.5 * np.log(3)])
    np.testing.assert_allclose(model.stump_thresholds_, [1.5])
    assert model.trace_.loss == [0.0]
    np.testing.assert_allclose(model.predict([[0.0], [1.5], [2.0]]), [0, 0, 0.5 * np.log(3)])


def test_small_values_can_rank_high():
    model = RankBoost(n_rounds=1).fit([[0.0], [3.0]], [1, 0])
    assert model.stump_weights_[0] < 0


def test_grades_in_groups_equal_their_pairs(rng):
    X, y = rng.standard_normal((20, 4)), rng.integers(0, 3, 20)
    qid = np.array(["b", "a"])[rng.integers(0, 2, 20)]
    pairs = np.array([(i, j) for i in range(20) for j in range(20) if qid[i] == qid[j] and y[i] > y[j]])
    by_grade = RankBoost(n_rounds=6).fit(X, y, qid=qid)
    by_pair = RankBoost(n_rounds=6).fit(X, pairs=pairs, r=np.ones(len(pairs)))
    np.testing.assert_array_equal(by_grade.stump_features_, by_pair.stump_features_)
    np.testing.assert_allclose(by_grade.predict(X), by_pair.predict(X))


def test_groups_keep_rows_apart():
    # Across groups the second variable would be a perfect order; inside them only the first is.
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 9.0], [1.0, 9.0]])
    model = RankBoost(n_rounds=2).fit(X, [0, 1, 2, 3], qid=[0, 0, 1, 1])
    assert model.support_.tolist() == [True, False]


def test_repeated_pairs_equal_their_weight(rng):
    X = rng.standard_normal((15, 6))
    pairs = rng.permuted(np.tile(np.arange(15), (30, 1)), axis=1)[:, :2]
    r = rng.choice([0.0, 1.0], 30)
    count = rng.integers(1, 4, 30)
    repeated = RankBoost(n_rounds=3).fit(X, pairs=np.repeat(pairs, count, axis=0), r=np.repeat(r, count))
    weighted = RankBoost(n_rounds=3).fit(X, pairs=pairs, r=r, pair_weight=count)
    np.testing.assert_array_equal(repeated.stump_features_[0], weighted.stump_features_[0])
    np.testing.assert_array_equal(repeated.stump_thresholds_[0], weighted.stump_thresholds_[0])
    assert repeated.trace_.loss[0] == pytest.approx(weighted.trace_.loss[0])


def test_loss_is_the_share_of_wrong_pairs(rng):
    X, y = rng.standard_normal((40, 5)), rng.integers(0, 4, 40)
    model = RankBoost(n_rounds=12).fit(X, y)
    f = model.predict(X)
    wrong = [f[i] <= f[j] + 1e-12 for i in range(40) for j in range(40) if y[i] > y[j]]
    assert model.trace_.loss[-1] == pytest.approx(np.mean(wrong))
    assert len(model.trace_) == 12
    assert model.trace_.features_used[-1] == model.support_.sum()


def test_threads_do_not_change_the_result(rng, with_threads):
    X, y = rng.standard_normal((500, 90)), rng.integers(0, 3, 500)
    one, two = with_threads(lambda: RankBoost(n_rounds=10).fit(X, y))
    np.testing.assert_array_equal(one.stump_features_, two.stump_features_)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


def test_sparse_equals_dense(rng):
    X = rng.standard_normal((30, 40)) * (rng.random((30, 40)) < 0.3)
    y = rng.integers(0, 3, 30)
    dense, packed = RankBoost(n_rounds=8).fit(X, y), RankBoost(n_rounds=8).fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(dense.stump_features_, packed.stump_features_)
    np.testing.assert_array_equal(dense.predict(X), packed.predict(sparse.csr_array(X)))


def test_constant_variables_give_no_stump():
    model = RankBoost(n_rounds=3).fit(np.ones((4, 2)), [0, 1, 2, 3])
    assert len(model.stump_features_) == len(model.trace_) == 0
    np.testing.assert_array_equal(model.predict(np.ones((2, 2))), [0, 0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_rounds": 0}, "n_rounds is 0"),
        ({"n_thresholds": 256}, "n_thresholds is 256; it must be an integer of at least 1 and at most 255"),
        ({"n_thresholds": 0}, "n_thresholds is 0"),
    ],
)
def test_bad_parameters(arguments, message):
    with pytest.raises(ParameterError, match=message):
        RankBoost(**arguments).fit([[0.0], [1.0]], [0, 1])


X3 = np.arange(3.0)[:, None]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "requires y to be passed"),
        ({"y": [0, 1, 2], "pairs": [[0, 1]], "r": [1]}, "requires y"),
        ({"pairs": [[0, 1]]}, "pairs together with r"),
        ({"y": [1, 1, 1]}, "not tied"),
        ({"y": [0, 1, 2], "qid": [0, 1, 2]}, "not tied"),
        ({"y": [0, 1, 2], "qid": [0, 1]}, "qid"),
        ({"pairs": [[0, 1]], "r": [0.5]}, "not tied"),
        ({"pairs": [[0, 3]], "r": [1]}, "rows 0 to 2, got 0 to 3"),
        ({"pairs": [[-1, 1]], "r": [1]}, "rows 0 to 2, got -1 to 1"),
        ({"pairs": [[0.0, 1.0]], "r": [1]}, "integers"),
        ({"pairs": [0, 1], "r": [1]}, r"shape \(n_pairs, 2\)"),
        ({"pairs": [[0, 1]], "r": [1.5]}, "r must hold 1 values from 0 to 1"),
        ({"pairs": [[0, 1]], "r": [float("nan")]}, "r must hold"),
        ({"pairs": [[0, 1]], "r": [1], "pair_weight": [-1]}, "pair_weight must hold 1"),
    ],
)
def test_bad_data(arguments, message):
    with pytest.raises(DataError, match=message):
        RankBoost().fit(X3, **arguments)


def test_non_finite_values_are_an_error():
    with pytest.raises(ValueError, match="infinity"):
        RankBoost().fit([[0.0], [np.inf]], [0, 1])
