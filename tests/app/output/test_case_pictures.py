import numpy as np
import pytest

from annealed.app.output.case_pictures import (
    ANNOTATED,
    HIDDEN,
    REPORTED,
    SIDE_PX,
    SPAN,
    TOO_LOW,
    crop,
    draw_case,
)
from annealed.models.keypoints.evaluation import Observed
from annealed.models.keypoints.training.targets import KeypointTargets

SIZE = 20.0
FACTOR = SIDE_PX / (SPAN * SIZE)


def ramps():
    """A photo whose red is the row and green the column."""
    image = np.zeros((120, 150, 3), dtype=np.uint8)
    image[..., 0], image[..., 1] = np.arange(120)[:, None], np.arange(150)
    return image


@pytest.mark.parametrize("side", [16, 60, 61.3])
def test_crop_has_the_place_in_its_middle(side):
    tile = crop(ramps(), (70.25, 50.0), side).astype(float)
    assert tile.shape == (SIDE_PX, SIDE_PX, 3)
    inside = (np.arange(SIDE_PX) - (SIDE_PX - 1) / 2) * side / SIDE_PX
    # rounding to whole grey levels, and one more for the filter at the border
    np.testing.assert_allclose(tile[:, SIDE_PX // 2, 0], 50 + inside, atol=1.01)
    np.testing.assert_allclose(tile[SIDE_PX // 2, :, 1], 70.25 + inside, atol=1.01)


def test_crop_shrinks_without_aliasing():
    image = np.zeros((2000, 2000, 3), dtype=np.uint8)
    image[::2] = 200
    tile = crop(image, (1000, 1000), 1900)
    assert np.ptp(tile.astype(int)) < 40
    assert abs(tile.mean() - 100) < 3


def test_crop_is_grey_beyond_the_photo():
    image = np.full((100, 100, 3), 10, dtype=np.uint8)
    tile = crop(image, (49.5, -0.5), 40)
    half = SIDE_PX // 2
    assert (tile[:half] == 128).all()
    assert (tile[half:] == 10).all()
    assert (crop(image, (50, 300), 40) == 128).all()
    assert (crop(image, (50, 50), 1e9) == 128).all()


def observed(points, visible, detections):
    columns = np.array(detections, dtype=np.float64).reshape(-1, 3)
    points = np.array(points, dtype=np.float64).reshape(-1, 2)
    truth = KeypointTargets(points, np.array(visible, bool), np.full(len(points), SIZE), np.empty((0, 4)))
    return Observed(columns[:, :2], columns[:, 2], np.ones(len(columns)), truth)


def draw(photo, detection=None):
    image = np.full((100, 100, 3), 40, dtype=np.uint8)
    return draw_case(image, photo, (50.0, 50.0), SIZE, threshold=1.0, hit=0.15, detection=detection)


def has_colour(tile, x, y, colour, reach=1):
    """Whether a colour, or nearly, occurs around a place of the photo."""
    c, r = (round((v - 50) * FACTOR + (SIDE_PX - 1) / 2) for v in (x, y))
    part = tile[r - reach : r + reach + 1, c - reach : c + reach + 1].astype(int)
    return bool((np.abs(part - colour).sum(axis=2) < 60).any())


def test_draw_case_marks_annotation():
    tile = draw(observed([(50, 50), (30, 70)], [True, False], []))
    assert has_colour(tile, 50, 50, ANNOTATED)
    assert has_colour(tile, 30, 70, HIDDEN)
    faint = np.rint(np.add(ANNOTATED, 40) / 2)
    for radius in (0.15, 0.5):  # the hit radius, and half the size
        assert has_colour(tile, 50 + radius * SIZE, 50, faint)
        assert has_colour(tile, 30, 70 - radius * SIZE, faint)
    assert not has_colour(tile, 50, 50 + 0.3 * SIZE, faint)


def test_draw_case_marks_detections_reported_and_the_one_asked_for():
    ring = 5 / FACTOR
    photo = observed([(50, 50)], [True], [(50, 52, 2), (70, 35, 1), (65, 65, 0.9), (35, 60, 0.8)])
    for detection, low in ((None, False), (0, False), (2, True)):
        tile = draw(photo, detection)
        assert has_colour(tile, 50 + ring, 52, REPORTED)
        assert has_colour(tile, 70 + ring, 35, REPORTED)
        assert has_colour(tile, 65 + ring, 65, TOO_LOW) == low
        assert not has_colour(tile, 35 + ring, 60, TOO_LOW, reach=3)


@pytest.mark.parametrize(("down", "right"), [(1, 1), (1, -1), (-1, 1), (-1, -1)])
def test_draw_case_writes_scores_away_from_the_cross(down, right):
    tile = draw(observed([(50, 50)], [True], [(50 + 3 * right, 50 + 3 * down, 2.5)]))
    red = (np.abs(tile.astype(int) - REPORTED).sum(axis=2) < 120).nonzero()
    letters = np.array(red[::-1]) - ((SIDE_PX - 1) / 2 + 3 * FACTOR * np.array([right, down]))[:, None]
    letters = letters[:, np.linalg.norm(letters, axis=0) > 7]
    assert letters.shape[1] > 20
    assert ((letters * [[right], [down]]) > 0).all()


def test_draw_case_of_an_object_without_size():
    photo = observed([(50, 50)], [True], [])
    tile = draw_case(ramps(), photo, (50.0, 50.0), 0.0, threshold=1.0, hit=0.15)
    assert tile.shape == (SIDE_PX, SIDE_PX, 3)


def test_draw_case_without_anything():
    assert (draw(observed([], [], [])) == 40).all()
    far = observed([(-500, 50)], [True], [(900, 50, 2)])
    assert (draw(far) == 40).all()
