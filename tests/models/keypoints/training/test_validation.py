import pytest

from annealed.models.keypoints.training.validation import VALIDATION_FLOOR, best_threshold


def test_best_threshold_lies_half_way_below_the_best_f1(make_curve):
    found = make_curve([3.0, 2.0, 1.0], [0.2, 0.6, 0.7], [1.0, 0.9, 0.3])
    assert best_threshold(found) == pytest.approx(1.5)


def test_best_threshold_of_the_last_point_lies_half_way_to_the_floor(make_curve):
    found = make_curve([3.0, 2.0], [0.2, 0.6], [1.0, 0.9])
    assert best_threshold(found) == pytest.approx((2.0 + VALIDATION_FLOOR) / 2)


def test_of_nothing(make_curve):
    nothing = make_curve([], [], [])
    assert best_threshold(nothing) == VALIDATION_FLOOR
