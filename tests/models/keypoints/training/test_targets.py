from types import SimpleNamespace

import numpy as np
import pytest

from annealed.features.errors import ParameterError
from annealed.features.pyramid import Level
from annealed.models.keypoints.training.targets import (
    KeypointTargets,
    TargetConfig,
    are_negatives,
    keypoint_targets,
    positive_windows,
)

NAN = np.nan


def make_targets(points, sizes, visible=None, ignore=()):
    points = np.array(points, dtype=np.float64).reshape(-1, 2)
    return KeypointTargets(
        points,
        np.ones(len(points), dtype=bool) if visible is None else np.array(visible),
        np.array(sizes, dtype=np.float64),
        np.array(ignore, dtype=np.float64).reshape(-1, 4),
    )


def make_level(shape, scales=(1.0, 1.0)):
    """A level of `shape` whose pixels are `scales` photo pixels high and wide."""
    photo_shape = tuple(np.rint(np.multiply(shape, scales)).astype(int))
    return Level(np.zeros((*shape, 3), dtype=np.uint8), 1 / scales[0], photo_shape)


def make_photo(points, sizes, boxes, ignore=()):
    points = np.array(points, dtype=np.float64)
    return SimpleNamespace(
        points=points,
        visible=np.isfinite(points).all(axis=2),
        sizes=np.array(sizes, dtype=np.float64),
        boxes=np.array(boxes, dtype=np.float64),
        ignore=np.array(ignore, dtype=np.float64).reshape(-1, 4),
    )


def every_negative(targets, rule, level):
    """A map of the level: which windows are negatives."""
    shape = level.image.shape[:2]
    return are_negatives(targets, rule, level, np.indices(shape)[::-1].reshape(2, -1).T).reshape(shape)


def test_keypoint_targets_of_annotated_objects():
    photo = make_photo([[(1, 2), (3, 4)], [(5, 6), (7, 8)]], [30, 40], [[NAN] * 4] * 2, [(0, 0, 1, 1)])
    targets = keypoint_targets(photo, 1)
    np.testing.assert_array_equal(targets.points, [(3, 4), (7, 8)])
    np.testing.assert_array_equal(targets.sizes, [30, 40])
    np.testing.assert_array_equal(targets.ignore, [(0, 0, 1, 1)])


def test_keypoint_targets_object_without_the_keypoint_is_ignored():
    photo = make_photo([[(10, 20), (NAN, NAN)]], [8], [[5, 15, 30, 40]])
    targets = keypoint_targets(photo, 1)
    assert len(targets.points) == 0
    np.testing.assert_array_equal(targets.ignore, [(1, 11, 34, 44)])


def test_keypoint_targets_object_without_a_size_is_ignored():
    photo = make_photo([[(10, 20), (13, 24)]], [NAN], [[NAN] * 4])
    targets = keypoint_targets(photo, 0)
    assert len(targets.points) == 0
    np.testing.assert_array_equal(targets.ignore, [(7.5, 17.5, 15.5, 26.5)])


def test_keypoint_targets_object_without_a_place_hides_the_whole_photo():
    targets = keypoint_targets(make_photo([[(NAN, NAN)]], [NAN], [[NAN] * 4]), 0)
    assert not every_negative(targets, TargetConfig(), make_level((5, 6))).any()


def test_positive_windows_within_one_pixel():
    targets = make_targets([(10.2, 20.7)], [30])
    found = positive_windows(targets, TargetConfig(), make_level((50, 50)))
    expected = [(x, y) for y in range(40) for x in range(40) if np.hypot(x - 10.2, y - 20.7) <= 1]
    assert found.tolist() == [list(p) for p in expected]


@pytest.mark.parametrize(("scale", "n"), [(1.99, 0), (2.0, 5), (3.0, 5), (4.0, 5), (4.05, 0)])
def test_positive_windows_only_where_the_size_is_in_range(scale, n):
    """A face of 80 px is 20 to 40 px wide on the levels reduced 2 to 4 times; both ends count."""
    point = (np.array([10.0, 10.0]) + 0.5) * scale - 0.5
    targets = make_targets([point], [80])
    assert len(positive_windows(targets, TargetConfig(), make_level((100, 100), (scale, scale)))) == n


def test_positive_windows_hidden_outside_and_doubled():
    targets = make_targets(
        [(10, 10), (30, 30), (30, 30), (15, 0)], [30] * 4, visible=[False, True, True, True]
    )
    found = positive_windows(targets, TargetConfig(), make_level((32, 31)))
    assert found.tolist() == [[14, 0], [15, 0], [16, 0], [15, 1], [30, 29], [29, 30], [30, 30], [30, 31]]


@pytest.mark.parametrize("scales", [(1.0, 1.0), (2.0, 2.0), (1.41, 1.39)])
def test_are_negatives_agrees_with_a_loop(scales):
    targets = make_targets(
        [(20.3, 15.1), (44, 50)], [24, 9], visible=[True, False], ignore=[(5, 40, 12.5, 90), (-9, -9, 3, 3)]
    )
    level = make_level((30, 35), scales)
    mask = every_negative(targets, TargetConfig(), level)
    for r in range(30):
        for c in range(35):
            x, y = level.to_photo((c, r))
            free = np.hypot(x - 20.3, y - 15.1) >= 12 and np.hypot(x - 44, y - 50) >= 4.5
            ignored = (5 <= x <= 12.5 and 40 <= y <= 90) or (x <= 3 and y <= 3)
            assert mask[r, c] == (free and not ignored), (r, c)


def test_positives_and_negatives_share_no_window():
    targets = make_targets([(60.0, 60.0)], [80])
    for scale in (2.0, 2.5, 3.3, 4.0):
        found = positive_windows(targets, TargetConfig(), make_level((100, 100), (scale, scale)))
        mask = every_negative(targets, TargetConfig(), make_level((100, 100), (scale, scale)))
        assert len(found) > 0
        assert not mask[found[:, 1], found[:, 0]].any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size_range_px": (40.0, 20.0)}, "two ascending positive numbers"),
        ({"size_range_px": (0.0, 20.0)}, "two ascending positive numbers"),
        ({"positive_radius_px": 0.0}, "positive_radius_px must be"),
        ({"negative_distance": np.nan}, "negative_distance must be"),
    ],
)
def test_target_rule_refuses(arguments, message):
    with pytest.raises(ParameterError, match=message):
        TargetConfig(**arguments)
