from dataclasses import replace

import numpy as np
import pytest

from annealed.datasets.photos.photo_set import Photo
from annealed.models.keypoints.angles import STEP_DEG
from annealed.models.keypoints.training.orientation import Orientations
from annealed.models.keypoints.training.views import N_TURNED, views_of

SHAPE = np.array([-1.0 + 0j, -0.5 - 0.5j, -0.5 + 0.5j, 2.0 + 0j])
MIRROR = [0, 2, 1, 3]


@pytest.fixture
def photo():
    """One object turned clockwise by 70 degrees, each keypoint a dot of its own grey."""
    seen = 15 * SHAPE * np.exp(1j * np.deg2rad(70.0)) + 70 + 60j
    points = np.rint(np.stack([seen.real, seen.imag], axis=1))
    image = np.zeros((120, 150, 3), np.uint8)
    for grey, (x, y) in zip((100, 150, 200, 250), points.astype(int), strict=True):
        image[y - 2 : y + 3, x - 2 : x + 3] = grey
    return Photo(
        "photo", image, ("0",), points[None], np.ones((1, 4), bool), np.array([20.0]),
        np.full((1, 4), np.nan), np.array([[0.0, 0.0, 10.0, 20.0]]),
    )  # fmt: skip


@pytest.fixture
def turned():
    return Orientations((np.array([70.0]),), (np.array([25.0]),), True, SHAPE)


def direction(points):
    """Angle from the tail to the nose, degrees clockwise from the shape's own."""
    x, y = points[0] - points[3]
    return (np.rad2deg(np.arctan2(y, x)) - 180 + 180) % 360 - 180


def test_views_show_the_object_upright_also_in_a_mirror(photo, turned):
    views = views_of([photo], turned, MIRROR, 0)
    assert len(views) == 2 + N_TURNED
    for view in views[:2]:
        assert abs(direction(view.points[0])) <= STEP_DEG / 2 + 2
        assert view.sizes.tolist() == [25.0]
        image = view.read()
        for grey, (x, y) in zip((100, 150, 200, 250), np.rint(view.points[0]).astype(int), strict=True):
            if view.mirror is not None and grey in (150, 200):
                grey = 350 - grey  # left is right in the mirror
            assert abs(int(image[y, x, 0]) - grey) <= 5


def test_objects_off_the_upright_are_ignored_or_no_objects(photo, turned):
    view = views_of([photo], turned, None, 0)[0]
    for off, n, known in (
        (0, 1, True),
        (22, 1, True),
        (30, 1, False),
        (-60, 1, False),
        (90, 0, False),
        (180, 0, False),
    ):
        other = replace(view, degrees=70.0 + off)
        assert len(other.points) == len(other.visible) == len(other.boxes) == n
        assert np.isfinite(other.sizes).sum() == known


def test_regions_to_ignore_are_turned(photo, turned):
    view = replace(views_of([photo], turned, None, 0)[0], degrees=90.0)
    np.testing.assert_allclose(view.ignore, [[0.0, 139.0, 20.0, 149.0]], atol=1e-9)


def test_an_object_of_unknown_turn_is_ignored_everywhere(photo, turned):
    views = views_of([photo], replace(turned, degrees=(np.array([np.nan]),)), MIRROR, 0)
    assert len(views) == N_TURNED
    assert all(len(view.points) == 1 and np.isnan(view.sizes).all() for view in views)
