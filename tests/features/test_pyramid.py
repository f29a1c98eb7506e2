import numpy as np
import pytest
from skimage import data, filters, transform

from annealed.features.errors import DataError, ParameterError
from annealed.features.pyramid import gaussian_pyramid


def blob(shape, centre, sigma=6.0):
    """A bright Gaussian spot on black, its centre at (x, y)."""
    r, c = np.mgrid[: shape[0], : shape[1]]
    spot = 250 * np.exp(-((c - centre[0]) ** 2 + (r - centre[1]) ** 2) / (2 * sigma**2))
    return np.repeat(np.rint(spot).astype(np.uint8)[..., None], 3, axis=2)


def centroid(image):
    weights = image[..., 0].astype(float)
    r, c = np.indices(weights.shape)
    return np.array([(c * weights).sum(), (r * weights).sum()]) / weights.sum()


def test_levels_scales_and_sizes():
    levels = gaussian_pyramid(np.zeros((100, 61, 3), np.uint8), scales_per_octave=2, min_size=20)
    assert [level.image.shape for level in levels] == [(100, 61, 3), (71, 43, 3), (50, 30, 3), (35, 22, 3)]
    np.testing.assert_allclose([level.scale for level in levels], [1, 0.5**0.5, 0.5, 0.5**1.5])


def test_first_level_is_the_photo(rng):
    photo = rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)
    assert np.array_equal(gaussian_pyramid(photo)[0].image, photo)


@pytest.mark.parametrize(
    ("max_scale", "min_scale", "expected"),
    [
        (2.0, 0.9, [2, 2**0.75, 2**0.5, 2**0.25, 1]),
        (0.5, 0.4, [0.5, 2**-1.25]),
        (1.3, 1.0, [2**0.25, 1]),
        (0.99, 0.8, [2**-0.25]),
    ],
)
def test_range_of_scales(max_scale, min_scale, expected):
    photo = np.zeros((200, 200, 3), np.uint8)
    levels = gaussian_pyramid(photo, max_scale=max_scale, min_scale=min_scale)
    np.testing.assert_allclose([level.scale for level in levels], expected)


def test_a_level_does_not_depend_on_which_others_are_wanted(rng):
    photo = rng.integers(0, 256, (160, 130, 3), dtype=np.uint8)
    every = {level.scale: level.image for level in gaussian_pyramid(photo)}
    for level in gaussian_pyramid(photo, max_scale=0.4):
        assert np.array_equal(level.image, every[level.scale])


def test_points_convert_there_and_back(rng):
    photo = np.zeros((90, 121, 3), np.uint8)
    points = rng.uniform(-5, 130, (7, 2))
    for level in gaussian_pyramid(photo, max_scale=2):
        np.testing.assert_allclose(level.from_photo(level.to_photo(points)), points, atol=1e-9)


def test_corners_of_the_picture_stay_corners():
    photo = np.zeros((90, 121, 3), np.uint8)
    corners = np.array([[-0.5, -0.5], [120.5, 89.5]])
    for level in gaussian_pyramid(photo, max_scale=2):
        height, width = level.image.shape[:2]
        expected = [[-0.5, -0.5], [width - 0.5, height - 0.5]]
        np.testing.assert_allclose(level.from_photo(corners), expected, atol=1e-9)


def test_half_scale_averages_pairs():
    level = gaussian_pyramid(np.zeros((64, 64, 3), np.uint8))[4]
    np.testing.assert_allclose(level.to_photo([3, 10]), [6.5, 20.5])


def test_content_stays_where_it_is():
    centre = (70.3, 92.8)
    for level in gaussian_pyramid(blob((150, 201), centre), max_scale=2):
        np.testing.assert_allclose(level.to_photo(centroid(level.image)), centre, atol=0.15)


def test_constant_photo_stays_constant():
    for level in gaussian_pyramid(np.full((77, 90, 3), 201, np.uint8), max_scale=2):
        assert (level.image == 201).all()


def test_finest_checkerboard_becomes_grey():
    board = (np.indices((64, 64)).sum(axis=0) % 2 * 255).astype(np.uint8)
    level = gaussian_pyramid(np.repeat(board[..., None], 3, axis=2))[4]
    assert np.abs(level.image[2:-2, 2:-2].astype(int) - 127).max() <= 2


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_first_octave_agrees_with_scikit_image(step):
    photo = data.astronaut()[:240, 100:400]
    level = gaussian_pyramid(photo)[step]
    blurred = filters.gaussian(
        photo, sigma=2 ** (step / 4) / 3, mode="reflect", channel_axis=2, preserve_range=True
    )
    expected = transform.resize(blurred, level.image.shape[:2], order=1, mode="reflect", anti_aliasing=False)
    difference = np.abs(expected - level.image)
    # OpenCV blurs and samples in fixed-point numbers of 8 bits
    assert difference.max() < 3
    assert difference.mean() < 0.5


def test_second_octave_is_made_from_half_the_photo(rng):
    photo = rng.integers(0, 256, (128, 160, 3), dtype=np.uint8)
    levels = gaussian_pyramid(photo)
    again = gaussian_pyramid(levels[4].image)
    assert np.array_equal(again[2].image, levels[6].image)


def test_photo_smaller_than_a_window_has_no_levels():
    assert gaussian_pyramid(np.zeros((23, 500, 3), np.uint8)) == []


def test_single_pixel_ends():
    levels = gaussian_pyramid(np.full((1, 1, 3), 9, np.uint8), min_size=1)
    assert [level.image.tolist() for level in levels[:1]] == [[[[9, 9, 9]]]]
    assert len(levels) == 4  # 0.84, 0.71 and 0.59 of a pixel still round to one


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((50, 50), np.uint8),
        np.zeros((50, 50, 4), np.uint8),
        np.zeros((50, 50, 3)),
        np.zeros((0, 50, 3), np.uint8),
    ],
)
def test_other_images_are_refused(image):
    with pytest.raises(DataError, match="accepted is RGB"):
        gaussian_pyramid(image)


@pytest.mark.parametrize(
    ("name", "value"),
    [("scales_per_octave", 0), ("min_size", 0), ("max_scale", 0.0), ("max_scale", 9.0), ("min_scale", -1.0)],
)
def test_parameters_out_of_range(name, value):
    with pytest.raises(ParameterError, match=name):
        gaussian_pyramid(np.zeros((50, 50, 3), np.uint8), **{name: value})
