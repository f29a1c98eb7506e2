import numpy as np
import pytest
from scipy.ndimage import binary_dilation

from annealed.features.pool import LevelMaps, cut_windows
from annealed.models.keypoints.detector import PyramidConfig
from annealed.models.keypoints.scan import LISTED, scan_level, scan_photo, score_map


@pytest.fixture
def maps(photo):
    return LevelMaps(photo)


def all_windows(photo):
    rows, cols = np.indices(photo.shape[:2]).reshape(2, -1)
    return cut_windows(photo, rows, cols)


def naive_cascade(classifier, patches, floor):
    """One window and one feature at a time, in float32, as the scan's description says."""
    codes = classifier.codes(patches)
    thresholds = classifier.cascade(floor)
    scores = np.empty(len(patches), dtype=np.float32)
    for i in range(len(patches)):
        total = np.float32(classifier.intercept)
        for t in range(len(codes)):
            total = np.float32(total + classifier.tables[t, codes[t, i]])
            if total < thresholds[t] or (t == len(codes) - 1 and total < np.float32(floor)):
                total = np.float32(-np.inf)
                break
        scores[i] = total
    return scores.reshape(-1)


def test_exact_scan_equals_the_full_sum_on_stored_windows(make_classifier, photo, maps):
    classifier = make_classifier()
    found = score_map(maps, classifier, 0.0, exact=True)
    np.testing.assert_array_equal(found.ravel(), classifier.scores(all_windows(photo)))


@pytest.mark.parametrize("floor", [-2.0, -1.0, 0.3, 1.0])
def test_cascade_scan_agrees_with_a_naive_twin(make_classifier, photo, maps, floor):
    classifier = make_classifier()
    found = score_map(maps, classifier, floor).ravel()
    expected = naive_cascade(classifier, all_windows(photo), floor)
    np.testing.assert_array_equal(found, expected)
    if floor > -2:
        assert 0 < np.isfinite(found).sum() < found.size


def test_cascade_with_rejection_off_is_the_full_sum(make_classifier, maps):
    classifier = make_classifier()
    below_all_floors = score_map(maps, classifier, -1e6)
    np.testing.assert_array_equal(below_all_floors, score_map(maps, classifier, 0.0, exact=True))


def test_scan_of_a_band_is_the_band_of_the_scan(make_classifier, photo, maps):
    classifier = make_classifier()
    band = LevelMaps(photo, rows=(10, 31))
    np.testing.assert_array_equal(score_map(band, classifier, 0.3), score_map(maps, classifier, 0.3)[10:31])
    rows, cols, scores = scan_level(band, classifier, 0.3)
    all_rows, all_cols, all_scores = scan_level(maps, classifier, 0.3)
    inside = (all_rows >= 10) & (all_rows < 31)
    np.testing.assert_array_equal(rows, all_rows[inside])
    np.testing.assert_array_equal(cols, all_cols[inside])
    np.testing.assert_array_equal(scores, all_scores[inside])


def test_scan_level_lists_windows_above_the_floor_in_reading_order(make_classifier, maps):
    classifier = make_classifier()
    rows, cols, scores = scan_level(maps, classifier, 0.5, exact=True)
    full = score_map(maps, classifier, 0.5, exact=True)
    expected = np.argwhere(full >= 0.5)
    np.testing.assert_array_equal(np.stack([rows, cols], axis=1), expected)
    np.testing.assert_array_equal(scores, full[rows, cols])


@pytest.mark.parametrize("height", [40, 41])
def test_sparse_scan_finds_every_other_window_and_those_beside(make_classifier, photo, height):
    classifier, floor = make_classifier(), 0.4
    maps = LevelMaps(photo[:height])
    dense = score_map(maps, classifier, floor)
    on_grid = np.zeros(dense.shape, dtype=bool)
    on_grid[::2, ::2] = True
    beside = binary_dilation(on_grid & np.isfinite(dense), np.ones((3, 3)))
    expected = np.where(on_grid | beside, dense, -np.inf)
    np.testing.assert_array_equal(score_map(maps, classifier, floor, sparse=True), expected)
    assert np.isfinite(dense[~on_grid]).sum() > np.isfinite(expected[~on_grid]).sum() > 0


@pytest.mark.parametrize(
    ("scales_per_octave", "octaves", "expected"),
    [(4, 1.0, [0, 2, 4, 6, 8]), (4, 0.5, range(9)), (8, 1.0, [0, 4, 8, 12, 16]), (2, 1.0, range(5))],
)
def test_sparse_scan_takes_two_levels_in_the_range_of_sizes(
    make_classifier, rng, scales_per_octave, octaves, expected
):
    image = rng.integers(0, 256, size=(98, 98, 3), dtype=np.uint8)
    levels = PyramidConfig(scales_per_octave).levels(image)
    (found,) = scan_photo(levels, [make_classifier()], [-100.0], sparse=True, octaves=octaves)
    assert np.unique(found.level).tolist() == list(expected)
    (found,) = scan_photo(levels, [make_classifier()], [-100.0])
    assert len(found) == sum(level.image[..., 0].size for level in levels)


def test_scan_of_more_windows_than_a_list_holds(make_classifier, rng):
    image = rng.integers(0, 256, size=(40, 2 * LISTED // 40, 3), dtype=np.uint8)
    classifier = make_classifier(k=6)
    found = score_map(LevelMaps(image), classifier, -np.inf)
    np.testing.assert_array_equal(found.ravel(), classifier.scores(all_windows(image)))


def test_scan_does_not_depend_on_the_number_of_threads(make_classifier, maps, with_threads):
    classifier = make_classifier()
    one, two = with_threads(lambda: score_map(maps, classifier, 0.0))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("width", [24, 63, 64, 65, 130])
def test_scan_of_rows_of_any_width(make_classifier, rng, width):
    image = rng.integers(0, 256, size=(24, width, 3), dtype=np.uint8)
    classifier = make_classifier(k=6)
    found = score_map(LevelMaps(image), classifier, 0.0, exact=True)
    np.testing.assert_array_equal(found.ravel(), classifier.scores(all_windows(image)))
