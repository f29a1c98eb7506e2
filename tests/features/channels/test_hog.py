import numpy as np
import pytest
from skimage.feature import hog as skimage_hog

from annealed.features.channels.hog import hog_geometry, vote_table
from annealed.features.pool import WindowPool

HOG = WindowPool.default()[:864]


def compute(patch):
    """HOG features of one patch, (colour, block row, block col, cell row, cell col, orientation)."""
    return HOG.compute(patch[None]).reshape(3, 3, 3, 2, 2, 8)


def naive_cells(patch, colour):
    """Cell sums (4, 4, 8), pixel by pixel."""
    grey = patch[..., colour].astype(float)
    cells = np.zeros((4, 4, 8))
    for r in range(24):
        for c in range(24):
            g_row = grey[r + 2, c + 1] - grey[r, c + 1]
            g_col = grey[r + 1, c + 2] - grey[r + 1, c]
            votes = round(5 * float(np.hypot(g_row, g_col)))
            position = np.degrees(np.arctan2(g_row, g_col)) % 180 / 22.5 - 0.5
            below = int(np.floor(position))
            beyond = round(votes * (position - below))
            cells[r // 6, c // 6, below % 8] += votes - beyond
            cells[r // 6, c // 6, (below + 1) % 8] += beyond
    return cells


def naive_hog(patch):
    out = np.zeros((3, 3, 3, 2, 2, 8))
    for colour in range(3):
        cells = naive_cells(patch, colour)
        for r in range(3):
            for c in range(3):
                block = cells[r : r + 2, c : c + 2]
                norm = np.sqrt((block**2).sum() + 180.0**2)
                out[colour, r, c] = np.minimum(block / norm, 0.2)
    return out


def fine_histograms(grey):
    """Cell histograms of scikit-image in 256 orientations, up to one factor: (rows, cols, 256)."""
    rows, cols = grey.shape[0] // 6, grey.shape[1] // 6
    one_block = skimage_hog(
        grey,
        orientations=256,
        pixels_per_cell=(6, 6),
        cells_per_block=(rows, cols),
        block_norm="L2",
        feature_vector=False,
    )
    return one_block[0, 0]


@pytest.mark.parametrize("spread", [256, 12, 2])
def test_equals_the_naive_twin(rng, spread):
    patch = rng.integers(0, spread, (26, 26, 3), dtype=np.uint8)
    np.testing.assert_allclose(compute(patch), naive_hog(patch), atol=2e-5)


def test_agrees_with_scikit_image(rng):
    """Its many hard bins, folded into ours by nearness, and normalised as ours are."""
    picture = rng.integers(0, 256, (6, 6)).repeat(6, axis=0).repeat(6, axis=1)
    picture = np.clip(picture + rng.normal(0, 20, (36, 36)), 0, 255).astype(np.uint8)
    cells = fine_histograms(picture)[1:5, 1:5]
    position = (np.arange(256) + 0.5) / 32 - 0.5
    distance = np.abs((position[:, None] - np.arange(8) + 4) % 8 - 4)
    cells = cells @ np.maximum(0, 1 - distance)
    expected = np.zeros((3, 3, 2, 2, 8))
    for r in range(3):
        for c in range(3):
            block = cells[r : r + 2, c : c + 2]
            expected[r, c] = np.minimum(block / np.sqrt((block**2).sum()), 0.2)
    patch = np.repeat(picture[5:31, 5:31, None], 3, axis=2)
    # fine bins are hard: a vote is off by at most half of one, 1/64 of ours
    np.testing.assert_allclose(compute(patch)[1], expected, atol=4e-3)


def test_colours_are_independent(rng):
    patch = rng.integers(0, 256, (26, 26, 3), dtype=np.uint8)
    swapped = compute(np.ascontiguousarray(patch[..., [2, 0, 1]]))
    np.testing.assert_array_equal(swapped, compute(patch)[[2, 0, 1]])


def test_a_quarter_turn_shifts_orientations_by_four(rng):
    patch = rng.integers(0, 256, (26, 26, 3), dtype=np.uint8)
    straight, turned = compute(patch), compute(np.ascontiguousarray(np.rot90(patch)))
    # blocks and cells turn with the picture
    expected = np.rot90(np.rot90(straight, axes=(1, 2)), axes=(3, 4))
    np.testing.assert_allclose(turned, np.roll(expected, 4, axis=-1), atol=1e-4)


def test_a_mirror_reverses_orientations(rng):
    patch = rng.integers(0, 256, (26, 26, 3), dtype=np.uint8)
    straight, mirrored = compute(patch), compute(np.ascontiguousarray(patch[:, ::-1]))
    expected = straight[:, :, ::-1, :, ::-1, ::-1]
    np.testing.assert_allclose(mirrored, expected, atol=1e-4)


def test_the_negative_has_the_same_features(rng):
    patch = rng.integers(0, 256, (26, 26, 3), dtype=np.uint8)
    np.testing.assert_allclose(compute(255 - patch), compute(patch), atol=1e-5)


def test_brightness_makes_no_difference(rng):
    patch = rng.integers(0, 100, (26, 26, 3), dtype=np.uint8)
    np.testing.assert_array_equal(compute(patch + np.uint8(120)), compute(patch))


def test_a_constant_window_gives_zeros():
    assert not compute(np.full((26, 26, 3), 77, np.uint8)).any()


def test_a_faint_edge_by_hand():
    """One grey level more from column 12 on: 5 votes in columns 11 and 12, shared by bins 7 and 0."""
    patch = np.full((26, 26, 3), 100, np.uint8)
    patch[:, 13:] = 101
    cell = compute(patch)[0, 1, 1, 0, 0]
    norm = np.sqrt(4 * (18**2 + 12**2) + 180**2)
    np.testing.assert_allclose(cell, [12 / norm, 0, 0, 0, 0, 0, 0, 18 / norm], rtol=1e-6)


def test_an_edge_votes_for_its_own_orientation():
    """An edge at 45 degrees down to the right: brightness grows along 135 degrees, bins 5 and 6."""
    r, c = np.indices((26, 26))
    patch = np.repeat((5 * (r - c) + 128).astype(np.uint8)[..., None], 3, axis=2)
    cell = compute(patch)[0, 1, 1, 0, 0]
    assert cell[5] == cell[6] == np.float32(0.2)
    assert not np.delete(cell, [5, 6]).any()


def test_the_strongest_gradients_fit_into_a_cell():
    """Every pixel has a gradient of 255 down and 255 across: the largest sum that a cell can have."""
    r, c = np.indices((26, 26)) // 2
    patch = np.repeat(((r + c) % 2 * 255).astype(np.uint8)[..., None], 3, axis=2)
    assert naive_cells(patch, 0).sum(axis=2).min() == 36 * 1803
    np.testing.assert_allclose(compute(patch), naive_hog(patch), atol=2e-5)


def test_features_are_distinct():
    assert np.unique(hog_geometry(), axis=0).shape == (288, 5)


def test_votes_add_up_to_five_times_the_magnitude():
    table = vote_table().reshape(511, 511)
    g_row, g_col = np.mgrid[-255:256, -255:256]
    votes = (table & 0x7FF) + (table >> 16)
    np.testing.assert_array_equal(votes, np.rint(5 * np.hypot(g_row, g_col)))
    assert table[255, 255] & ~np.uint32(7 << 11) == 0


def test_opposite_gradients_vote_alike():
    table = vote_table().reshape(511, 511)
    fields = (table & 0x7FF, (table >> 11) & 7, table >> 16)
    away_from_zero = np.ones(table.shape, dtype=bool)
    away_from_zero[255, 255] = False
    votes = np.zeros((*table.shape, 8), dtype=int)
    for b in range(8):
        votes[..., b] = np.where(fields[1] == b, fields[0], 0) + np.where(
            fields[1] == (b - 1) % 8, fields[2], 0
        )
    assert np.abs(votes - votes[::-1, ::-1])[away_from_zero].max() <= 1
