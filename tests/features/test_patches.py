import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.features.patches import (
    PATCH_PX,
    WINDOW_PX,
    check_patches,
    cut_turned_windows,
    cut_windows,
)


def naive_cut(image, row, col):
    padded = np.pad(image, ((13, 13), (13, 13), (0, 0)), mode="edge")
    return padded[row : row + 26, col : col + 26]


@pytest.mark.parametrize("shape", [(40, 31), (24, 24), (5, 60), (1, 1)])
def test_every_centre_equals_the_naive_cut(rng, shape):
    image = rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
    rows, cols = (a.ravel() for a in np.indices(shape))
    patches = cut_windows(image, rows, cols)
    assert patches.dtype == np.uint8
    for patch, row, col in zip(patches, rows, cols, strict=True):
        assert np.array_equal(patch, naive_cut(image, row, col))


def test_window_begins_twelve_pixels_before_its_centre():
    image = np.zeros((60, 60, 3), np.uint8)
    image[18, 28] = 255
    patch = cut_windows(image, [30], [40])[0]
    assert np.argwhere(patch[..., 0]).tolist() == [[1, 1]]
    assert (PATCH_PX, WINDOW_PX) == (26, 24)


def test_no_windows():
    assert cut_windows(np.zeros((30, 30, 3), np.uint8), np.array([], int), np.array([], int)).shape == (
        0,
        26,
        26,
        3,
    )


def test_a_view_of_an_image_is_cut_like_its_copy(rng):
    image = rng.integers(0, 256, (60, 80, 3), dtype=np.uint8)[::-1, ::2]
    assert np.array_equal(cut_windows(image, [20], [7]), cut_windows(image.copy(), [20], [7]))


@pytest.mark.parametrize(
    ("rows", "cols", "message"),
    [
        ([30], [3], "rows range from 30"),
        ([3], [-1], "cols range from -1"),
        ([3, 4], [3], "two"),
        ([3.0], [3.0], "whole pixels"),
    ],
)
def test_bad_centres(rows, cols, message):
    with pytest.raises(DataError, match=message):
        cut_windows(np.zeros((30, 30, 3), np.uint8), rows, cols)


def test_grey_level_is_refused():
    with pytest.raises(DataError, match="level_image has shape"):
        cut_windows(np.zeros((30, 30), np.uint8), [3], [3])


@pytest.mark.parametrize(
    "patches",
    [np.zeros((3, 24, 24, 3), np.uint8), np.zeros((3, 26, 26, 3), np.int16), np.zeros((26, 26, 3), np.uint8)],
)
def test_other_arrays_are_no_patches(patches):
    with pytest.raises(DataError, match="patches has shape"):
        check_patches(patches)


@pytest.fixture
def image(rng):
    return rng.integers(0, 256, (50, 60, 3), dtype=np.uint8)


def test_turned_windows_that_are_upright_are_the_windows(image):
    rows, cols = np.array([20, 3, 0]), np.array([25, 10, 30])
    centres = np.stack([cols, rows], axis=1).astype(float)
    turned = cut_turned_windows(image, centres, np.zeros(3), np.ones(3))
    np.testing.assert_array_equal(turned, cut_windows(image, rows, cols))


def test_turned_windows_follow_a_quarter_turn(image):
    """Right in the patch is down in the picture, down in the patch is left."""
    patch = cut_turned_windows(image, np.array([[25.0, 20.0]]), np.array([np.pi / 2]), np.ones(1))[0]
    for r, c in ((13, 13), (13, 17), (9, 13), (5, 20)):
        expected = image[20 + (c - 13), 25 - (r - 13)].astype(int)
        assert np.abs(patch[r, c].astype(int) - expected).max() <= 1  # cosines of a quarter turn are not 0


def test_turned_windows_stretch_and_lie_between_pixels():
    rows, cols = np.mgrid[:80, :90]
    slope = np.repeat((2 * rows + cols)[..., None], 3, axis=2).astype(np.uint8)
    patch = cut_turned_windows(slope, np.array([[40.25, 30.5]]), np.zeros(1), np.array([0.5]))[0, ..., 0]
    r, c = np.mgrid[:26, :26]
    expected = 2 * (30.5 + 0.5 * (r - 13)) + 40.25 + 0.5 * (c - 13)
    assert np.abs(patch - expected).max() <= 0.6
