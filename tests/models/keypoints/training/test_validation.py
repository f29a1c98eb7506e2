import numpy as np
import pytest

from annealed.models.keypoints.evaluation import PrecisionRecall
from annealed.models.keypoints.training.validation import VALIDATION_FLOOR, best_threshold, summarise


def curve(threshold, recall, precision):
    return PrecisionRecall(
        *(np.array(column, dtype=float) for column in (threshold, recall, precision, np.zeros(len(recall)))),
        n_keypoints=10,
        n_photos=4,
    )


def test_best_threshold_lies_half_way_below_the_best_f1():
    found = curve([3.0, 2.0, 1.0], [0.2, 0.6, 0.7], [1.0, 0.9, 0.3])
    assert best_threshold(found) == pytest.approx(1.5)


def test_best_threshold_of_the_last_point_lies_half_way_to_the_floor():
    found = curve([3.0, 2.0], [0.2, 0.6], [1.0, 0.9])
    assert best_threshold(found) == pytest.approx((2.0 + VALIDATION_FLOOR) / 2)


def test_of_nothing():
    nothing = curve([], [], [])
    assert best_threshold(nothing) == VALIDATION_FLOOR
    summary = summarise(nothing)
    assert (summary["recall"], summary["precision"], summary["curve"]) == (0.0, 1.0, [])


def test_summary_says_what_the_threshold_gives():
    summary = summarise(curve([3.0, 2.0, 1.0], [0.2, 0.6, 0.7], [1.0, 0.9, 0.3]))
    assert (summary["photos"], summary["keypoints"]) == (4, 10)
    assert (summary["recall"], summary["precision"]) == (0.6, 0.9)
    assert summary["average_precision"] == pytest.approx(0.2 * 1 + 0.4 * 0.9 + 0.1 * 0.3)
    assert summary["curve"] == [[0.2, 1.0], [0.6, 0.9], [0.7, 0.3]]
