import numpy as np
import pytest

from annealed.features.errors import ParameterError
from annealed.models.keypoints.detections import join_detections, make_detections
from annealed.models.keypoints.evaluation import Criteria, Observed, judge, observed, precision_recall
from annealed.models.keypoints.training.targets import KeypointTargets


def targets(points=(), visible=None, sizes=None, ignore=()):
    points = np.array(points, dtype=np.float64).reshape(-1, 2)
    n = len(points)
    return KeypointTargets(
        points,
        np.ones(n, dtype=bool) if visible is None else np.array(visible),
        np.full(n, 100.0) if sizes is None else np.array(sizes, dtype=np.float64),
        np.array(ignore, dtype=np.float64).reshape(-1, 4),
    )


def seen(positions, scores, truth):
    positions = np.array(positions, dtype=np.float64).reshape(-1, 2)
    return Observed(positions, np.array(scores, dtype=np.float64), np.ones(len(positions)), truth)


def judged(positions, truth, scores=None):
    scores = np.arange(len(positions), 0, -1) if scores is None else scores
    return judge(seen(positions, scores, truth), Criteria())


def test_observed_takes_one_keypoint():
    found = join_detections(
        [
            make_detections([3, 5], [4, 6], [1, 2], [0.5, 1.5], "chin"),
            make_detections([7], [8], [3], [9], "eye"),
        ]
    )
    truth = targets([(5, 6), (45, 6)], sizes=[10, 80])
    photo = observed(found, "chin", truth)
    np.testing.assert_array_equal(photo.positions, [(5, 6), (3, 4)])
    np.testing.assert_array_equal(photo.scores, [1.5, 0.5])
    np.testing.assert_array_equal(photo.scales, [2, 1])
    assert photo.targets is truth
    np.testing.assert_allclose(
        photo.distances, [(0, 0.5), (np.hypot(2, 2) / 10, np.hypot(2, 42) / 80)], rtol=1e-12
    )


@pytest.mark.parametrize(
    ("distance", "hit", "alarm"),
    [(0, True, False), (5, True, False), (5.01, False, False), (9.99, False, False), (10, False, True)],
)
def test_judge_hit_neither_and_false_alarm(distance, hit, alarm):
    """At an eye distance of 100 px a hit is within 5 px, a false alarm at 10 px or more."""
    hits, alarms = judged([(50, 50 + distance)], targets([(50, 50)]))
    assert np.isfinite(hits).tolist() == [hit]
    assert alarms.tolist() == [alarm]


def test_judge_measures_each_face_by_its_own_size():
    truth = targets([(50, 50), (50, 90)], sizes=[100, 400])
    # 18 px from the large face (4.5 %) and 22 from the small one (22 %)
    hits, alarms = judged([(50, 72)], truth)
    assert hits.tolist() == [-np.inf, 1.0]
    assert not alarms.any()


def test_judge_takes_the_best_score_near_a_keypoint():
    hits, alarms = judged([(50, 51), (50, 53), (50, 54)], targets([(50, 50)]), scores=[0.2, 0.9, 0.4])
    assert hits.tolist() == [0.9]
    assert not alarms.any()


def test_judge_one_detection_may_find_two_keypoints():
    hits, _ = judged([(50, 50)], targets([(50, 48), (50, 52)]))
    assert hits.tolist() == [1.0, 1.0]


def test_judge_hidden_keypoint_is_not_counted_but_excuses():
    hits, alarms = judged([(50, 50), (80, 80)], targets([(50, 50)], visible=[False]))
    assert hits.shape == (0,)
    assert alarms.tolist() == [False, True]


def test_judge_ignore_region_excuses_but_still_finds():
    truth = targets([(50, 50)], ignore=[(40, 40, 100, 100)])
    hits, alarms = judged([(50, 50), (90, 90), (101, 90)], truth)
    assert hits.tolist() == [3.0]
    assert alarms.tolist() == [False, False, True]


def test_judge_without_detections_or_annotation():
    hits, alarms = judged([], targets([(50, 50)]))
    assert hits.tolist() == [-np.inf]
    assert alarms.shape == (0,)
    hits, alarms = judged([(1, 1)], targets())
    assert hits.shape == (0,)
    assert alarms.tolist() == [True]


@pytest.fixture
def curve():
    """Two photos, three visible keypoints; by falling score: hit .9, false .8, hit .7, false .6 and .6."""
    first = targets([(50, 50), (50, 250)])
    second = targets([(50, 50)])
    return precision_recall(
        [
            seen([(50, 50), (200, 50), (50, 257)], [0.9, 0.8, 0.75], first),
            seen([(50, 50), (200, 50), (200, 200)], [0.7, 0.6, 0.6], second),
        ]
    )


def test_precision_recall_by_hand(curve):
    np.testing.assert_allclose(curve.threshold, [0.9, 0.8, 0.7, 0.6])
    np.testing.assert_allclose(curve.recall, [1 / 3, 1 / 3, 2 / 3, 2 / 3])
    np.testing.assert_allclose(curve.precision, [1, 1 / 2, 2 / 3, 2 / 5])
    np.testing.assert_allclose(curve.false_per_photo, [0, 0.5, 0.5, 1.5])
    assert (curve.n_keypoints, curve.n_photos) == (3, 2)


def test_average_precision_by_hand(curve):
    assert curve.average_precision == pytest.approx(1 / 3 * 1 + 1 / 3 * 2 / 3)


@pytest.mark.parametrize(("precision", "recall"), [(1.0, 1 / 3), (0.6, 2 / 3), (0.9, 1 / 3)])
def test_recall_at_precision_by_hand(curve, precision, recall):
    assert curve.recall_at_precision(precision) == pytest.approx(recall)


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [(1.0, (0, 1, 0)), (0.9, (1 / 3, 1, 0)), (0.65, (2 / 3, 2 / 3, 0.5)), (-1, (2 / 3, 0.4, 1.5))],
)
def test_curve_at_a_threshold(curve, threshold, expected):
    assert curve.at(threshold) == pytest.approx(expected)


def test_precision_recall_of_nothing():
    curve = precision_recall([])
    assert curve.average_precision == 0
    assert curve.recall_at_precision(0.5) == 0
    assert curve.at(0.0) == (0.0, 1.0, 0.0)


def test_precision_recall_agrees_with_a_loop_over_thresholds():
    rng = np.random.default_rng(0)
    photos = []
    for _ in range(20):
        truth = targets(
            rng.uniform(0, 200, (3, 2)), rng.random(3) < 0.8, rng.uniform(20, 90, 3), [(0, 0, 40, 40)]
        )
        near = truth.points + rng.normal(0, 4, (3, 2))
        positions = np.concatenate([near, rng.uniform(0, 200, (5, 2))])
        photos.append(seen(positions, np.round(rng.normal(size=8), 1), truth))
    curve = precision_recall(photos)
    for i, threshold in enumerate(curve.threshold):
        found = false = total = 0
        for photo in photos:
            truth, kept = photo.targets, photo.positions[photo.scores >= threshold]
            total += truth.visible.sum()
            for point, visible, size in zip(truth.points, truth.visible, truth.sizes, strict=True):
                found += visible and any(np.hypot(*(p - point)) <= 0.05 * size for p in kept)
            for p in kept:
                away = all(
                    np.hypot(*(p - point)) >= 0.1 * size
                    for point, size in zip(truth.points, truth.sizes, strict=True)
                )
                false += away and not (p <= 40).all()
        assert curve.recall[i] == pytest.approx(found / total)
        assert curve.precision[i] == pytest.approx(found / (found + false))
        assert curve.false_per_photo[i] == pytest.approx(false / 20)


@pytest.mark.parametrize(("hit", "miss"), [(0, 0.1), (0.2, 0.1), (0.1, np.inf)])
def test_criteria_out_of_order(hit, miss):
    with pytest.raises(ParameterError, match="hit <= miss"):
        Criteria(hit, miss)
