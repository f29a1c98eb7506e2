"""Cross-validated comparison: fair scores, hand-computed stability, problems that do not spread."""

import numpy as np
import pytest
from scipy import sparse

from annealed.features.errors import DataError
from annealed.models.selection.comparison import compare_each, ordered_support, select, stability
from annealed.models.selection.registry import make_selector


def compare(X, y, methods, ks, n_folds=5, seed=0):
    """All scores in one list, and the problems by method."""
    scores, problems = [], {}
    for method, found, problem in compare_each(X, y, methods, ks, n_folds=n_folds, seed=seed):
        scores += found
        if problem:
            problems[method] = problem
    return scores, problems


def test_stability_by_hand():
    masks = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]], dtype=bool)
    # unbiased variances 0, 1/3, 1/3, 0 over 1/2 * 1/2
    assert stability(masks) == pytest.approx(1 - (2 / 3 / 4) / (1 / 4))


def test_stability_is_kunchevas_for_equal_sizes(rng):
    """Kuncheva's consistency index, (r m - k^2) / (k (m - k)) with r in common, averaged over pairs."""
    m, k = 30, 7
    masks = np.array([np.isin(np.arange(m), rng.permutation(m)[:k]) for _ in range(5)])
    common = [(a & b).sum() for i, a in enumerate(masks) for b in masks[:i]]
    assert stability(masks) == pytest.approx(np.mean([(r * m - k * k) / (k * (m - k)) for r in common]))


def test_stability_of_equal_of_all_and_of_random_selections(rng):
    assert stability(np.tile([True, False, True], (4, 1))) == 1
    assert stability(np.ones((3, 5), dtype=bool)) == 1
    random = np.array([np.isin(np.arange(200), rng.permutation(200)[:20]) for _ in range(40)])
    assert abs(stability(random)) < 0.02


def test_selection_is_made_inside_the_folds(rng):
    """On pure noise, a selection that had seen the test rows would score far above chance."""
    X, y = rng.standard_normal((60, 2000)), np.arange(60) % 2
    (score,), problems = compare(X, y, ["f"], [10])
    assert problems == {}
    assert score.mean < 0.7


def test_problems_of_one_method_do_not_end_the_others(rng):
    X = rng.standard_normal((40, 6))
    scores, problems = compare(X, X[:, 0] > 0, ["chi2", "f", "all", "random"], [2])
    assert [(score.method, score.k) for score in scores] == [("f", 2), ("all", 6), ("random", 2)]
    assert "negative" in problems["chi2"]


def test_order_is_by_contribution_not_by_unit(rng):
    X = rng.standard_normal((200, 5)) * [1, 1000, 1, 1, 1]
    y = 3 * X[:, 1] / 1000 + X[:, 0]
    selector = make_selector("fsa", 2, task="regression", random_state=0).fit(X, y)
    assert ordered_support(selector, X.std(axis=0)).tolist() == [1, 0]


def test_one_class_and_too_many_folds(rng):
    X = rng.standard_normal((10, 3))
    with pytest.raises(DataError, match="10 rows"):
        compare(X, X[:, 0], ["f"], [1], n_folds=8)
    with pytest.raises(DataError, match="one class"):
        compare(X, np.zeros(10, dtype=int), ["f"], [1])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_only_constant_columns(make):
    X, y = make(np.tile([1.0, 0.0, -2.0], (12, 1))), np.arange(12) % 2
    with pytest.raises(DataError, match="every feature is constant"):
        compare(X, y, ["f", "fsa"], [1], n_folds=2)


@pytest.mark.parametrize("method", ["fsa", "lp-inf", "f", "l1"])
def test_several_targets_share_their_features(rng, method):
    X = rng.standard_normal((200, 15))
    Y = np.c_[X[:, 3] > 0, X[:, 9] > 0, np.zeros(200, dtype=bool)].astype(int)
    assert sorted(select(X, Y, "classification", method, 2, 0)) == [3, 9]


@pytest.mark.parametrize("method", ["fsa", "fgm", "lp-inf"])
def test_several_labels_are_compared(rng, method):
    X = rng.standard_normal((150, 12))
    Y = np.c_[X[:, 3] > 0, X[:, 9] > 0, X[:, 3] + X[:, 9] > 2].astype(int)
    (score, every), problems = compare(X, Y, [method, "all"], [2], n_folds=3)
    assert problems == {}
    assert score.mean > max(every.mean, 0.8)
    assert score.stability == 1


def test_targets_of_one_value_are_refused(rng):
    with pytest.raises(DataError, match="every target holds one value only"):
        compare(rng.standard_normal((20, 3)), np.ones((20, 2), dtype=int), ["fsa"], [1], n_folds=2)


def test_sparse_tables_stay_sparse_where_a_method_takes_them(rng, monkeypatch):
    X = sparse.random_array((80, 30), density=0.3, rng=rng, format="csr")
    y = (X[:, [4]].toarray()[:, 0] > 0).astype(int)
    dense = [select(X.toarray(), y, "classification", method, 1, 0).tolist() for method in ("fgm", "f")]
    assert [select(X, y, "classification", method, 1, 0).tolist() for method in ("fgm", "f")] == dense
    monkeypatch.setattr(sparse.csr_array, "toarray", lambda self: pytest.fail("made dense"))
    assert select(X, y, "classification", "fgm", 1, 0).tolist() == [4]
