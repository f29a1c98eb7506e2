"""Cross-validated comparison: fair scores, hand-computed stability, problems that do not spread."""

import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.models.selection.comparison import compare, ordered_support, stability, task_of
from annealed.models.selection.registry import make_selector


def test_stability_by_hand():
    masks = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]], dtype=bool)
    assert stability(masks) == pytest.approx((1 / 3 + 1 + 1 / 3) / 3)


def test_selection_is_made_inside_the_folds(rng):
    """On pure noise, a selection that had seen the test rows would score far above chance."""
    X, y = rng.standard_normal((60, 2000)), np.arange(60) % 2
    (score,), problems = compare(X, y, ["f"], [10])
    assert problems == {}
    assert score.mean < 0.7


def test_task_is_read_from_the_target(rng):
    assert task_of(np.array(["a", "b", "a", "b"])) == "classification"
    assert task_of(rng.standard_normal(20)) == "regression"
    assert task_of(np.arange(300)) == "regression"


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
