import numpy as np
import pytest
from skimage.feature import haar_like_feature, haar_like_feature_coord
from skimage.transform import integral_image

from annealed.features.channels.haar import (
    FOUR,
    GRID,
    THREE_ACROSS,
    THREE_DOWN,
    TWO_ACROSS,
    TWO_DOWN,
    WEIGHTS,
    haar_corners,
    haar_geometry,
)
from annealed.features.pool import WindowPool


def naive_value(window, kind, row, col, height, width):
    """Add up the pixels of each rectangle, one by one."""
    total = 0
    for i, line in enumerate(WEIGHTS[kind]):
        for j, weight in enumerate(line):
            top, left = row + i * height, col + j * width
            total += weight * int(window[top : top + height, left : left + width].sum(dtype=int))
    return total


def values(patches, descriptors):
    return WindowPool.from_descriptors(np.array(descriptors, dtype=np.uint8)).compute(patches)


def random_descriptors(rng, n):
    """Any features that fit in the window, not only those of the default pool."""
    found = []
    for kind in rng.integers(1, 6, n):
        down, across = GRID[kind]
        height, width = rng.integers(1, 24 // down + 1), rng.integers(1, 24 // across + 1)
        row, col = rng.integers(0, 25 - down * height), rng.integers(0, 25 - across * width)
        found.append((kind, rng.integers(3), row, col, height, width, 0))
    return np.array(found)


@pytest.mark.parametrize("n_windows", [1, 5])
def test_values_equal_naive_sums(rng, n_windows):
    patches = rng.integers(0, 256, (n_windows, 26, 26, 3), dtype=np.uint8)
    descriptors = random_descriptors(rng, 300)
    got = values(patches, descriptors)
    for f, (kind, colour, *rectangle, _) in enumerate(descriptors):
        for i, patch in enumerate(patches):
            assert got[f, i] == naive_value(patch[1:-1, 1:-1, colour], kind, *rectangle)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (TWO_ACROSS, "type-2-x"),
        (TWO_DOWN, "type-2-y"),
        (THREE_ACROSS, "type-3-x"),
        (THREE_DOWN, "type-3-y"),
        (FOUR, "type-4"),
    ],
)
def test_agrees_with_scikit_image(rng, kind, name):
    """scikit-image has the other sign, and counts the middle one of three rectangles once, not twice."""
    patch = rng.integers(0, 256, (26, 26, 3), dtype=np.uint8)
    window = patch[1:-1, 1:-1, 2].astype(np.int64)
    every, types = haar_like_feature_coord(24, 24, name)
    chosen = rng.choice(len(every), 40, replace=False)
    theirs = haar_like_feature(integral_image(window), 0, 0, 24, 24, types[chosen], every[chosen])
    for coordinates, their_value in zip(every[chosen], theirs, strict=True):
        (top, left), (bottom, right) = coordinates[0]
        descriptor = (kind, 2, top, left, bottom - top + 1, right - left + 1, 0)
        expected = -int(their_value)
        if kind in (THREE_ACROSS, THREE_DOWN):
            (top, left), (bottom, right) = coordinates[1]
            expected -= window[top : bottom + 1, left : right + 1].sum()
        assert values(patch[None], [descriptor])[0, 0] == expected


def test_largest_values_are_exact():
    """All of the window at 255 against 0: the largest sums there are."""
    patch = np.zeros((26, 26, 3), np.uint8)
    patch[:, :13] = 255
    assert values(patch[None], [(TWO_ACROSS, 0, 0, 0, 24, 12, 0)])[0, 0] == 24 * 12 * 255
    stripes = np.zeros((26, 26, 3), np.uint8)
    stripes[9:17] = 255
    assert values(stripes[None], [(THREE_DOWN, 0, 0, 0, 8, 24, 0)])[0, 0] == -2 * 8 * 24 * 255


def test_a_constant_window_gives_zeros():
    pool = WindowPool.default()[864::50]
    assert not pool.compute(np.full((1, 26, 26, 3), 255, np.uint8)).any()


def test_turning_the_window_over_exchanges_kinds(rng):
    patch = rng.integers(0, 256, (1, 26, 26, 3), dtype=np.uint8)
    turned = {TWO_ACROSS: TWO_DOWN, TWO_DOWN: TWO_ACROSS, THREE_ACROSS: THREE_DOWN, THREE_DOWN: THREE_ACROSS}
    descriptors = random_descriptors(rng, 100)
    over = [
        (turned.get(kind, kind), channel, col, row, width, height, 0)
        for kind, channel, row, col, height, width, _ in descriptors
    ]
    np.testing.assert_array_equal(values(patch, descriptors), values(patch.transpose(0, 2, 1, 3), over))


def test_default_geometry_is_what_the_documentation_says():
    kind, row, col, height, width = haar_geometry().astype(int).T
    assert len(kind) == 20313
    assert len(np.unique(haar_geometry(), axis=0)) == len(kind)
    down, across = np.array([GRID[k] for k in kind]).T
    assert set(height) | set(width) <= {2, 3, 4, 6, 8, 12, 16, 24}
    assert (height * width).min() == 8
    long_side, short_side = (
        np.maximum(down * height, across * width),
        np.minimum(down * height, across * width),
    )
    assert (long_side <= 4 * short_side).all()
    assert (row + down * height).max() == (col + across * width).max() == 24
    assert (row[height >= 6] % 2 == 0).all()
    assert (col[width >= 6] % 2 == 0).all()
    assert set(kind) == set(GRID)


def test_corners_lie_in_the_integral_image():
    geometry = haar_geometry().astype(np.int64).T
    for points in haar_corners(*geometry):
        assert points.min() >= 0
        assert points.max() <= 24
