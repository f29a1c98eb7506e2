import numpy as np
import pytest

from annealed.models.keypoints.parts.canvas import Frames, draw_canvas, fit_frames


def some_frames(rng, n=4):
    return Frames(rng.uniform(40, 80, (n, 2)), rng.uniform(10, 40, n), rng.uniform(-np.pi, np.pi, n))


def test_points_go_to_the_photo_and_back(rng):
    frames, points = some_frames(rng), rng.normal(size=(4, 5, 2))
    np.testing.assert_allclose(frames.from_photo(frames.to_photo(points)), points, atol=1e-12)


def test_a_quarter_turn_is_clockwise():
    frames = Frames(np.array([[10.0, 20.0]]), np.array([2.0]), np.array([np.pi / 2]))
    np.testing.assert_allclose(frames.to_photo(np.array([[[1.0, 0.0]]])), [[[10, 22]]], atol=1e-12)


def test_frames_are_found_from_points_of_which_some_are_missing(rng):
    frames, mean = some_frames(rng), rng.normal(size=(5, 2))
    points = frames.to_photo(np.tile(mean, (4, 1, 1)))
    weights = np.ones((4, 5))
    weights[1, [0, 3]] = 0
    points[1, [0, 3]] = 999
    fitted = fit_frames(points, mean, weights)
    np.testing.assert_allclose(fitted.centre, frames.centre, atol=1e-9)
    np.testing.assert_allclose(fitted.size, frames.size)
    np.testing.assert_allclose(np.exp(1j * fitted.roll), np.exp(1j * frames.roll))


def test_a_frame_of_one_point_is_finite():
    fitted = fit_frames(np.ones((1, 2, 2)), np.eye(2), np.array([[1.0, 0.0]]))
    assert np.isfinite([*fitted.centre.ravel(), *fitted.size, *fitted.roll]).all()


@pytest.mark.parametrize("size", [25.0, 60.0])
def test_a_spot_is_seen_where_the_canvas_says(rng, size):
    rows, cols = np.mgrid[:120, :140]
    frames = Frames(np.array([[70.0, 60.0]]), np.array([size]), np.array([0.7]))
    spot = np.array([0.4, -0.3])
    x, y = frames.to_photo(spot[None, None])[0, 0]
    grey = 255 * np.exp(-((cols - x) ** 2 + (rows - y) ** 2) / 30)
    image = np.repeat(grey[..., None], 3, axis=2).astype(np.uint8)
    canvas = draw_canvas(image, frames, 0, np.array([-1.0, -1, 1, 1]), 48.0, 3)
    for zoom, seen in enumerate(canvas.images):
        weight = seen[..., 0].astype(float) ** 2
        rows, cols = np.indices(weight.shape)
        middle = np.array([(cols * weight).sum(), (rows * weight).sum()]) / weight.sum()
        np.testing.assert_allclose(middle, canvas.from_frame(spot, zoom), atol=0.3)
        np.testing.assert_allclose(canvas.to_frame(canvas.from_frame(spot, zoom), zoom), spot)


def test_each_zoom_is_twice_as_fine(rng):
    image = rng.integers(0, 256, (50, 70, 3), dtype=np.uint8)
    frames = Frames(np.full((1, 2), -0.5), np.array([70.0]), np.zeros(1))
    canvas = draw_canvas(image, frames, 0, np.array([0, 0, 1, 50 / 70]), 70.0, 2)
    coarse, fine = canvas.images
    assert fine.shape[:2] == (2 * coarse.shape[0], 2 * coarse.shape[1])
    np.testing.assert_array_equal(fine[:50, :70], image)


def test_a_frame_outside_of_the_picture_shows_its_border(rng):
    image = rng.integers(0, 256, (30, 30, 3), dtype=np.uint8)
    frames = Frames(np.array([[500.0, 500.0]]), np.array([20.0]), np.zeros(1))
    canvas = draw_canvas(image, frames, 0, np.array([-1.0, -1, 1, 1]), 20.0, 1)
    np.testing.assert_array_equal(np.unique(canvas.images[0].reshape(-1, 3), axis=0), image[-1:, -1])
