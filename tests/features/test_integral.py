import numpy as np
import pytest
from numba import config
from skimage import transform

from annealed.features.integral import integral_image, window_integrals


def rectangle(integral, top, left, bottom, right):
    return int(integral[bottom, right] - integral[top, right] - integral[bottom, left] + integral[top, left])


@pytest.mark.parametrize("shape", [(7, 5, 3), (1, 9, 1), (1, 1, 2), (0, 4, 3)])
def test_equals_the_cumulative_sum(rng, shape):
    image = rng.integers(0, 256, shape, dtype=np.uint8)
    expected = np.zeros((shape[2], shape[0] + 1, shape[1] + 1), dtype=int)
    expected[:, 1:, 1:] = image.astype(int).cumsum(axis=0).cumsum(axis=1).transpose(2, 0, 1)
    assert np.array_equal(integral_image(image), expected)


def test_equals_scikit_image(rng):
    image = rng.integers(0, 256, (31, 22, 3), dtype=np.uint8)
    for channel in range(3):
        expected = transform.integral_image(image[..., channel].astype(np.int64))
        assert np.array_equal(integral_image(image)[channel, 1:, 1:], expected)


def test_rectangles_equal_naive_sums(rng):
    image = rng.integers(0, 256, (20, 30, 1), dtype=np.uint8)
    integral = integral_image(image)[0]
    for _ in range(50):
        top, bottom = np.sort(rng.integers(0, 21, 2))
        left, right = np.sort(rng.integers(0, 31, 2))
        assert rectangle(integral, top, left, bottom, right) == image[top:bottom, left:right].sum()


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nine million pixels take minutes without compilation")
def test_rectangles_stay_exact_where_the_integral_wraps_around():
    image = np.full((3000, 3000, 1), 255, dtype=np.uint8)
    integral = integral_image(image)[0]
    assert integral[-1, -1] < 0  # 2.3e9 does not fit
    with np.errstate(over="ignore"):
        assert rectangle(integral, 2976, 2976, 3000, 3000) == 24 * 24 * 255


def test_windows_side_by_side_equal_single_ones(rng):
    patches = rng.integers(0, 256, (4, 26, 26, 3), dtype=np.uint8)
    out = np.zeros((3, 25, 25, 4), dtype=np.int32)
    window_integrals(np.ascontiguousarray(patches.transpose(1, 2, 3, 0)), 3, out)
    for i, patch in enumerate(patches[:3]):
        assert np.array_equal(out[..., i], integral_image(patch[1:-1, 1:-1]))
    assert not out[..., 3].any()  # the fourth was not asked for
