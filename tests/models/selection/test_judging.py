"""Which question a target asks, and measures by hand."""

import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.models.selection.judging import folds, make_judge, measure
from annealed.models.target_kinds import kind_of


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (["a", "b", "a", "b"], "classes"),
        ([1, 5, 1, 5], "classes"),
        (np.arange(300), "targets"),
        ([0.5, 1.5, 2.5, 0.5], "targets"),
        ([[0, 1], [1, 1], [0, 0]], "labels"),
        ([[0, 1], [1, 2], [0, 0]], "targets"),
        ([[0.0, 1.5], [1.0, 1.0]], "targets"),
    ],
)
def test_kind_is_read_from_the_target(y, kind):
    assert kind_of(np.array(y)) == kind


def test_measures_by_hand():
    assert measure("classes", np.array(["a", "b", "b", "a"]), np.array(["a", "b", "a", "a"])) == 0.75
    truth = np.array([[1, 0], [1, 1], [0, 1]])
    predicted = np.array([[0.9, 0.6], [0.4, 0.8], [0.1, 0.7]])  # 3 of 4 labels found, 1 of 4 found is wrong
    assert measure("labels", truth, predicted) == pytest.approx(2 * 3 / (2 * 3 + 1 + 1))
    targets = np.array([[0.0, 2.0], [2.0, 4.0]])  # the second column's errors are as large as its spread
    assert measure("targets", targets, np.array([[0.0, 3.0], [2.0, 3.0]])) == pytest.approx((1 + 0) / 2)


def test_labels_are_judged_column_by_column(rng):
    X = rng.standard_normal((300, 2))
    Y = (X > 0).astype(int)
    model = make_judge(X, "labels").fit(X[:200], Y[:200])
    assert measure("labels", Y[200:], model.predict(X[200:])) > 0.9


def test_classes_are_spread_evenly(rng):
    y = np.repeat([0, 1], [20, 10])
    for _, test in folds(np.zeros((30, 1)), y, "classes", 5, 0):
        assert np.bincount(y[test]).tolist() == [4, 2]


def test_rows_that_do_not_make_folds():
    with pytest.raises(DataError, match="2 folds of 3 rows"):
        folds(np.zeros((3, 1)), np.zeros((3, 2)), "labels", 2, 0)
