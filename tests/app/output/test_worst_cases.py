import numpy as np
import pytest

from annealed.app.output.worst_cases import FalseAlarm, Miss, false_alarms, misses, pick_misses
from annealed.models.keypoints.evaluation import Criteria, Observed, precision_recall
from annealed.models.keypoints.training.targets import KeypointTargets


def seen(detections, points=(), sizes=(), visible=None, ignore=()):
    """A photo with detections (x, y, score, scale) and annotated points."""
    columns = np.array(detections, dtype=np.float64).reshape(-1, 4)
    points = np.array(points, dtype=np.float64).reshape(-1, 2)
    truth = KeypointTargets(
        points,
        np.ones(len(points), dtype=bool) if visible is None else np.array(visible),
        np.array(sizes, dtype=np.float64),
        np.array(ignore, dtype=np.float64).reshape(-1, 4),
    )
    return Observed(columns[:, :2], columns[:, 2], columns[:, 3], truth)


@pytest.fixture
def photos():
    """Objects of 100 and 50 pixels; the threshold is meant to be 1."""
    return [
        # found; missed by 20 px; the second is off by more for a detection under the threshold
        seen([(50, 50, 2, 1), (50, 220, 3, 2), (50, 208, 0.5, 1)], [(50, 50), (50, 200)], [100, 100]),
        # nothing near, but hits that score 0.9 and 0.7; a hidden one is no miss
        seen([(50, 50, 0.7, 1), (51, 50, 0.9, 1)], [(50, 50), (90, 90)], [50, 50], visible=[True, False]),
        # nothing near at all: 60 px away at size 100; and a false alarm without an object
        seen([(50, 110, 4, 3)], [(50, 50)], [100]),
        seen([(10, 10, 5, 4), (90, 90, 6, 1)], ignore=[(80, 80, 99, 99)]),
    ]


def test_misses_by_hand(photos):
    assert misses(photos, 1.0, Criteria()) == [
        Miss(2, (50.0, 50.0), 100.0),
        Miss(1, (50.0, 50.0), 50.0, 0.02, 0.9, 1),
        Miss(0, (50.0, 200.0), 100.0, 0.2, 3.0, 1, reported=True),
    ]


def test_the_detection_meant_is_the_nearest_reported_otherwise_the_best():
    photo = seen(
        [(0, 30, 2, 1), (0, 20, 1, 1), (0, 4, 0.2, 1), (0, 10, 0.8, 1), (0, 60, 9, 1)], [(0, 0)], [100]
    )
    (miss,) = misses([photo], 1.0, Criteria())
    assert (miss.detection, miss.distance, miss.reported) == (1, 0.2, True)
    (miss,) = misses([photo], 1.5, Criteria())
    assert (miss.detection, miss.distance, miss.reported) == (0, 0.3, True)
    (miss,) = misses([photo], 5.0, Criteria())
    assert (miss.detection, miss.distance, miss.reported) == (0, 0.3, False)


def test_misses_with_one_near_are_sorted_by_distance():
    offsets = (7, 45, 12)
    photos = [seen([(0, offset, 1, 1)], [(0, 0)], [100]) for offset in offsets]
    assert [miss.distance for miss in misses(photos, 0.0, Criteria())] == [0.45, 0.12, 0.07]


def test_false_alarms_by_hand(photos):
    assert false_alarms(photos, 1.0, Criteria(), object_px=20) == [
        FalseAlarm(3, (10.0, 10.0), 80.0, np.inf, 5.0, 0),
        FalseAlarm(2, (50.0, 110.0), 60.0, 0.6, 4.0, 0),
        FalseAlarm(0, (50.0, 220.0), 40.0, 0.2, 3.0, 1),
    ]


def test_nothing_seen_and_nothing_annotated():
    assert misses([seen([])], 0.0, Criteria()) == []
    assert false_alarms([seen([])], 0.0, Criteria(), 20) == []
    assert misses([seen([], [(5, 5)], [10])], 0.0, Criteria()) == [Miss(0, (5.0, 5.0), 10.0)]


def test_errors_add_up_to_recall_and_false_alarms_at_any_threshold():
    rng = np.random.default_rng(0)
    photos = []
    for _ in range(15):
        points = rng.uniform(0, 200, (3, 2))
        places = np.concatenate([points + rng.normal(0, 4, (3, 2)), rng.uniform(0, 200, (5, 2))])
        columns = np.column_stack([places, np.round(rng.normal(size=8), 1), np.ones(8)])
        visible = rng.random(3) < 0.8
        photos.append(seen(columns, points, rng.uniform(20, 90, 3), visible, [(0, 0, 40, 40)]))
    criteria = Criteria(0.06, 0.2)
    curve = precision_recall(photos, criteria)
    for threshold in (-9.0, -0.5, 0.0, 0.4, 9.0):
        recall, _, false_per_photo = curve.at(threshold)
        n_missed = len(misses(photos, threshold, criteria))
        assert n_missed == pytest.approx((1 - recall) * curve.n_keypoints)
        n_false = len(false_alarms(photos, threshold, criteria, 20))
        assert n_false == pytest.approx(false_per_photo * len(photos))


@pytest.mark.parametrize(
    ("n_alone", "n_off", "shown"),
    [
        (9, 9, (2, 2)),
        (1, 9, (1, 3)),
        (9, 1, (3, 1)),
        (0, 9, (0, 4)),
        (9, 0, (4, 0)),
        (1, 1, (1, 1)),
        (0, 0, (0, 0)),
    ],
)
def test_pick_misses_shows_both_kinds(n_alone, n_off, shown):
    alone = [Miss(i, (0, 0), 10) for i in range(n_alone)]
    off = [Miss(i, (0, 0), 10, 0.3, 1.0, 0, reported=True) for i in range(n_off)]
    assert pick_misses([*alone, *off], 4) == [*alone[: shown[0]], *off[: shown[1]]]
