import numpy as np
import pytest
from scipy import sparse

from annealed.features.errors import DataError
from annealed.models import FSARanker
from annealed.models.comparable_pairs import comparable_pairs

SHORT = {"k": 2, "n_iter": 100}


@pytest.fixture(name="X")
def make_table(rng):
    return rng.standard_normal((80, 12))


@pytest.fixture(name="qid")
def make_groups():
    return np.repeat(np.arange(10), 8)


def grades_of(X, qid):
    """Higher with the features 3 and 7, on a level that differs from group to group."""
    return X[:, 3] + 0.5 * X[:, 7] + 100 * qid


@pytest.mark.parametrize("response", ["linear", "piecewise"])
def test_ranks_within_groups(X, qid, response):
    grades = grades_of(X, qid)
    ranker = FSARanker(response=response, **SHORT).fit(X, grades, qid=qid)
    assert ranker.get_support(indices=True).tolist() == [3, 7]
    f = ranker.predict(X)
    pairs, r = comparable_pairs(grades, qid)
    agree = (f[pairs[:, 0]] > f[pairs[:, 1]]) == (r > 0.5)
    assert agree.mean() > 0.97


def test_only_the_order_of_grades_counts(X, qid):
    grades = grades_of(X, qid)
    one = FSARanker(**SHORT).fit(X, grades, qid=qid)
    other = FSARanker(**SHORT).fit(X, np.exp(grades / 500), qid=qid)
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_explicit_pairs_are_those_of_the_grades(X, qid):
    grades = np.round(grades_of(X, qid))  # with ties
    pairs, r = comparable_pairs(grades, qid)
    by_grades = FSARanker(**SHORT).fit(X, grades, qid=qid)
    by_pairs = FSARanker(**SHORT).fit(X, pairs=pairs, r=r)
    np.testing.assert_array_equal(by_grades.coef_, by_pairs.coef_)


def test_a_pair_may_be_named_from_either_side(X, qid):
    pairs, r = comparable_pairs(grades_of(X, qid), qid)
    forth = FSARanker(**SHORT).fit(X, pairs=pairs, r=r)
    back = FSARanker(**SHORT).fit(X, pairs=pairs[:, ::-1], r=1 - r)
    np.testing.assert_allclose(forth.coef_, back.coef_, rtol=1e-9)


def test_weight_two_equals_a_repeated_pair(X, qid):
    pairs, r = comparable_pairs(grades_of(X, qid), qid)
    weight = np.where(np.arange(len(r)) < 50, 2.0, 1.0)
    weighted = FSARanker(**SHORT).fit(X, pairs=pairs, r=r, pair_weight=weight)
    repeated = FSARanker(**SHORT).fit(X, pairs=np.vstack([pairs, pairs[:50]]), r=np.append(r, r[:50]))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)


def test_ties_may_be_left_out(X, qid):
    grades = np.round(grades_of(X, qid))
    pairs, r = comparable_pairs(grades, qid, include_ties=False)
    without = FSARanker(include_ties=False, **SHORT).fit(X, grades, qid=qid)
    np.testing.assert_array_equal(without.coef_, FSARanker(**SHORT).fit(X, pairs=pairs, r=r).coef_)


def test_all_rows_are_comparable_without_groups(X):
    grades = X[:, 3] + 0.5 * X[:, 7]
    one = FSARanker(**SHORT).fit(X, grades)
    other = FSARanker(**SHORT).fit(X, grades, qid=np.zeros(80))
    np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("labels", [list("abcdefghij"), range(100, 0, -10)])
def test_groups_may_have_any_labels(X, qid, labels):
    grades = grades_of(X, qid)
    named = FSARanker(**SHORT).fit(X, grades, qid=np.array(list(labels))[qid])
    plain = FSARanker(**SHORT).fit(X, grades, qid=qid)
    np.testing.assert_allclose(named.coef_, plain.coef_, rtol=1e-9)


@pytest.mark.parametrize("batch_size", [None, 10, 30])
def test_batches_end_between_groups(X, qid, batch_size):
    ranker = FSARanker(batch_size=batch_size, **SHORT).fit(X, grades_of(X, qid), qid=qid)
    assert ranker.get_support(indices=True).tolist() == [3, 7]


def test_sparse_tables(rng, X, qid):
    X = X * (rng.random(X.shape) < 0.7)
    grades = grades_of(X, qid)
    ranker = FSARanker(**SHORT).fit(sparse.csr_array(X), grades, qid=qid)
    assert ranker.get_support(indices=True).tolist() == [3, 7]
    np.testing.assert_allclose(ranker.predict(sparse.csr_array(X)), ranker.predict(X))


def test_level_of_the_scores_is_free(X, qid):
    """Equation (15) has no intercept, and pairs cannot tell one: its gradient is zero."""
    ranker = FSARanker(**SHORT).fit(X, grades_of(X, qid), qid=qid)
    assert ranker.predict(X).mean() == pytest.approx(0, abs=1e-9)


def test_no_comparable_rows_are_refused(X):
    with pytest.raises(DataError, match="ranking needs at least one pair of comparable samples, got none"):
        FSARanker(**SHORT).fit(X, X[:, 3], qid=np.arange(80))


def test_ties_alone_are_refused_without_ties(X):
    with pytest.raises(DataError, match="ranking needs at least one pair of comparable samples, got none"):
        FSARanker(include_ties=False, **SHORT).fit(X, np.ones(80))


def test_one_sample_is_refused():
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        FSARanker(k=1).fit([[1.0, 2.0]], [1])


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"y": np.zeros(80), "pairs": [[0, 1]], "r": [1.0]},
        {"pairs": [[0, 1]]},
        {"y": np.zeros(80), "r": [1.0]},
    ],
)
def test_grades_or_pairs_are_required(X, arguments):
    with pytest.raises(DataError, match=r"requires y to be passed, .*; or else pairs together with r"):
        FSARanker(**SHORT).fit(X, **arguments)


@pytest.mark.parametrize(
    ("pairs", "r", "message"),
    [
        ([[0, 80]], [1.0], "pairs must hold integer row numbers from 0 to 79"),
        ([[0, -1]], [1.0], "pairs must hold integer row numbers from 0 to 79"),
        ([[0.5, 1]], [1.0], "pairs must hold integer row numbers from 0 to 79"),
        ([[0, 1]], [2.0], "r must hold values from 0 to 1"),
        ([[0, 1]], [np.nan], "r must hold values from 0 to 1"),
        ([[0, 1]], [1.0, 0.0], r"pairs must be \(n_pairs, 2\) and r \(n_pairs,\), got \(1, 2\) and \(2,\)"),
        (np.empty((0, 2), int), [], "ranking needs at least one pair"),
    ],
)
def test_bad_pairs_are_refused(X, pairs, r, message):
    with pytest.raises(DataError, match=message):
        FSARanker(**SHORT).fit(X, pairs=pairs, r=r)


def test_groups_of_another_length_are_refused(X, qid):
    with pytest.raises(DataError, match="qid and y must have one value a sample"):
        FSARanker(**SHORT).fit(X, X[:, 3], qid=qid[1:])


@pytest.mark.parametrize("weight", [[-1.0], [np.nan], [0.0], [1.0, 1.0]])
def test_bad_pair_weights_are_refused(X, weight):
    with pytest.raises(DataError, match="weights must be 1 finite numbers of at least 0"):
        FSARanker(**SHORT).fit(X, pairs=[[0, 1]], r=[1.0], pair_weight=weight)


def test_score_is_the_mean_ndcg_of_the_groups(rng):
    X = rng.standard_normal((60, 6))
    grades = np.digitize(X[:, 2] + 0.5 * rng.standard_normal(60), [-1, 0, 1])
    qid = np.repeat(np.arange(6), 10)
    grades[qid == 3] = 1  # says nothing
    ranker = FSARanker(k=2, n_iter=50).fit(X, grades, qid=qid)
    f = ranker.predict(X)
    by_hand = []
    for q in (0, 1, 2, 4, 5):
        gain = 2.0 ** grades[qid == q] - 1
        discount = 1 / np.log2(2 + np.arange(4))
        best = np.sort(gain)[::-1][:4] @ discount
        by_hand.append(gain[np.argsort(-f[qid == q])][:4] @ discount / best)
    assert ranker.score(X, grades, qid=qid, n_best=4) == pytest.approx(np.mean(by_hand))
    assert ranker.score(X, f - f.min()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("grades", "qid", "message"),
    [
        (np.ones(20), None, "no group has rows of different grades"),
        (np.arange(20) - 3.0, None, "finite grades of at least 0"),
        (np.arange(19), None, "X has 20 rows, y 19 and qid 20"),
        (np.arange(20), np.zeros(3), "X has 20 rows, y 20 and qid 3"),
    ],
)
def test_grades_that_cannot_be_scored(rng, grades, qid, message):
    X = rng.standard_normal((20, 4))
    ranker = FSARanker(k=1, n_iter=20).fit(X, np.arange(20))
    with pytest.raises(DataError, match=message):
        ranker.score(X, grades, qid=qid)
