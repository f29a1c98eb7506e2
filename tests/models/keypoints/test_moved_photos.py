"""A photo that is turned, mirrored, padded or shifted gives detections that are turned, padded, shifted.

Exact where arithmetic is: windows see the same pixels after a shift by whole pixels and a padding, and a
photo turned by a quarter is, for a detector of all four quarters, the same four photos. A mirrored photo
gives mirrored values of the features that have a mirror image (HOG; see tests/features/channels), not
mirrored detections: a classifier of one side of an object is not one of the other. Through a pyramid, whose
levels are resampled, padding moves sampling points; it is therefore compared on the photo's own scale.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annealed.features.patches import PATCH_PX
from annealed.features.pyramid import Level
from annealed.features.turning import Turn
from annealed.models.keypoints.detector import KeypointDetector, PyramidConfig
from annealed.models.keypoints.scan import scan_photo

DRAWN = settings(max_examples=8, deadline=None, derandomize=True)
FLOOR = -100.0
ALL_QUARTERS = (0.0, 90.0, 180.0, 270.0)


def drawn_photo(seed, shape):
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, size=(-(-shape[0] // 4), -(-shape[1] // 4), 3), dtype=np.uint8)
    return np.ascontiguousarray(coarse.repeat(4, axis=0).repeat(4, axis=1)[: shape[0], : shape[1]])


def scores(image, classifier):
    """Score of each window of a photo on its own scale, by its row and column."""
    (found,) = scan_photo([Level(image, 1.0, image.shape[:2])], [classifier], [FLOOR], exact=True)
    return dict(
        zip(zip(found.row.tolist(), found.col.tolist(), strict=True), found.score.tolist(), strict=True)
    )


@DRAWN
@given(
    seed=st.integers(0, 1000),
    shape=st.tuples(st.integers(34, 60), st.integers(34, 60)),
    room=st.tuples(*[st.integers(0, 9)] * 4),
)
def test_windows_of_a_padded_photo_have_the_same_scores(make_classifier, seed, shape, room):
    """All that lie inside of the photo; others see what is repeated beyond its border."""
    image, classifier = drawn_photo(seed, shape), make_classifier()
    top, bottom, left, right = room
    padded = np.pad(image, ((top, bottom), (left, right), (0, 0)), constant_values=seed % 256)
    before, after = scores(image, classifier), scores(padded, classifier)
    assert len(before) == shape[0] * shape[1]
    reach = PATCH_PX // 2
    inner = {
        (row, col): score
        for (row, col), score in before.items()
        if reach <= row < shape[0] - reach and reach <= col < shape[1] - reach
    }
    assert inner
    assert {place: after[place[0] + top, place[1] + left] for place in inner} == inner


@pytest.fixture
def detector(make_classifier):
    classifiers = tuple(make_classifier(name, seed=i) for i, name in enumerate(("chin", "nose")))
    return KeypointDetector(classifiers, object_px=10.0, pyramid=PyramidConfig(max_scale=1.0))


@DRAWN
@given(seed=st.integers(0, 1000), shape=st.tuples(st.integers(30, 60), st.integers(30, 60)))
@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_photo_turned_by_quarters_gives_detections_turned_by_quarters(
    make_classifier, quarters, seed, shape
):
    classifier = make_classifier()
    detector = KeypointDetector((classifier,), object_px=10.0, angles=ALL_QUARTERS)
    image = drawn_photo(seed, shape)
    turned = np.ascontiguousarray(np.rot90(image, quarters))
    there, here = (detector.detect(photo, threshold=-1.0, exact=True) for photo in (image, turned))
    assert len(here) == len(there) > 0
    places = Turn(90.0 * quarters, shape).to_turned(np.stack([there.x, there.y], axis=1))
    for one, other in zip(
        _in_order(places, there), _in_order(np.stack([here.x, here.y], 1), here), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-4)


def _in_order(places, found):
    """x, y, scale and score, sorted by all of them."""
    rows = np.column_stack([places, found.scale, found.score])
    return rows[np.lexsort(rows.round(3).T)]


@pytest.mark.parametrize("degrees", [90.0, 180.0, 270.0])
def test_a_quarter_turn_moves_pixels_and_makes_none(rng, degrees):
    image = rng.integers(0, 256, (31, 44, 3), dtype=np.uint8)
    turned = Turn(degrees, image.shape[:2]).apply(image)
    np.testing.assert_array_equal(turned, np.rot90(image, round(degrees / 90)))


@pytest.mark.parametrize("by", [(0, 3), (5, 0), (4, 7)])
def test_what_lies_elsewhere_in_the_photo_is_found_there(detector, rng, by):
    """A photo cut at another place is the same photo, shifted."""
    detector = replace(detector, suppression=replace(detector.suppression, refine_radius=0.0))
    image = drawn_photo(3, (70, 80))
    rows, cols = by
    levels = [
        [Level(np.ascontiguousarray(part), 1.0, part.shape[:2])] for part in (image, image[rows:, cols:])
    ]
    whole, part = (detector.detect_levels(level, threshold=FLOOR, exact=True) for level in levels)
    # The best of the whole that sees nothing beyond the cut is also the best around its place in the part.
    inside = (whole.x >= cols + PATCH_PX) & (whole.y >= rows + PATCH_PX)
    best = np.flatnonzero(inside)[0]
    moved = np.array([whole.x[best] - cols, whole.y[best] - rows])
    nearest = np.abs(np.stack([part.x, part.y], axis=1) - moved).max(axis=1).argmin()
    np.testing.assert_allclose([part.x[nearest], part.y[nearest]], moved, atol=1e-9)
    assert part.score[nearest] == whole.score[best]
