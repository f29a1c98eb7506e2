import numpy as np
import pytest

from annealed.features.turning import Turn


def centroid(image):
    """x, y of what is bright."""
    weights = image[..., 0].astype(float)
    rows, cols = np.indices(weights.shape)
    return np.array([(cols * weights).sum(), (rows * weights).sum()]) / weights.sum()


@pytest.mark.parametrize("degrees", [0.0, 17.0, 90.0, -135.0, 200.0])
def test_points_turn_with_the_pixels(degrees):
    image = np.zeros((60, 81, 3), np.uint8)
    rows, cols = np.mgrid[:60, :81]
    image[:] = (250 * np.exp(-((cols - 50.3) ** 2 + (rows - 20.8) ** 2) / 18))[..., None]
    turn = Turn(degrees, (60, 81))
    turned = turn.apply(image)
    assert turned.shape[1::-1] == turn.size
    point = np.array([50.3, 20.8])
    np.testing.assert_allclose(centroid(turned), turn.to_turned(point), atol=0.1)
    np.testing.assert_allclose(turn.to_photo(turn.to_turned(point)), point, atol=1e-9)


def test_what_is_turned_clockwise_stands_upright():
    """An arrow to the right turned clockwise by 90 degrees points down; turned back it points right again."""
    turn = Turn(90.0, (40, 40))
    tail, head = turn.to_turned(np.array([[20.0, 10.0], [20.0, 30.0]]))
    np.testing.assert_allclose(head - tail, [20.0, 0.0], atol=1e-9)


def test_the_turned_photo_holds_all_corners():
    turn = Turn(33.0, (50, 90))
    corners = turn.to_turned(np.array([[0, 0], [89, 0], [0, 49], [89, 49]], dtype=float))
    assert (corners >= -0.5).all()
    assert (corners <= np.array(turn.size) - 0.5).all()
