import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.models.target_kinds import are_labels, encode_classes, holds_classes, kind_of, signs


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (np.array(["a", "b"] * 5), "classes"),
        (np.arange(10) % 3, "classes"),
        (np.arange(10.0), "targets"),
        (np.arange(10), "targets"),
        (np.linspace(0, 1, 10), "targets"),
        (np.eye(4), "labels"),
        (np.eye(4) * 2, "targets"),
    ],
)
def test_kinds_of_targets(y, kind):
    assert kind_of(y) == kind


@pytest.mark.parametrize(("y", "classes"), [([0, 1, 2], True), ([True, False], True), ([0.5, 1.5], False)])
def test_class_labels_are_no_fractions(y, classes):
    assert holds_classes(np.array(y)) == classes


def test_labels_are_zero_or_one():
    assert are_labels(np.array([[0, 1], [1.0, 0]]))
    assert not are_labels(np.array([[0, 2]]))


def test_signs_of_classes():
    classes, code = encode_classes(np.array(["b", "a", "c", "b"]))
    assert classes.tolist() == ["a", "b", "c"]
    assert signs(code, 3).tolist() == [[-1, 1, -1, -1], [1, -1, -1, 1], [-1, -1, 1, -1]]
    assert signs(np.array([0, 1, 1]), 2).tolist() == [[-1, 1, 1]]


def test_one_class_is_refused():
    with pytest.raises(DataError, match="y must hold at least two classes, got one class: "):
        encode_classes(np.array(["b", "b"]))
