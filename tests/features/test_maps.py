import numpy as np
import pytest
from numba import config
from scanned import features_at, features_of_row

from annealed.features.channels.haar import HAAR
from annealed.features.errors import DataError, ParameterError
from annealed.features.maps import LevelMaps
from annealed.features.patches import cut_windows
from annealed.features.pool import WindowPool


@pytest.fixture(scope="module")
def pool():
    """Some features of every kind and channel, in no order."""
    every = WindowPool.default()
    return every[np.random.default_rng(5).permutation(len(every))[:300]]


def some_centres(first, end, width):
    """The corners of a band of rows, and centres spread over it."""
    rows, cols = (a.ravel() for a in np.mgrid[first:end, :width])
    spread = np.arange(0, len(rows), 37)
    corners = [0, width - 1, len(rows) - width, len(rows) - 1]
    chosen = np.concatenate([corners, spread])
    return rows[chosen], cols[chosen]


@pytest.mark.parametrize("shape", [(31, 40), (24, 24), (3, 29), (1, 1)])
def test_scanned_values_are_those_of_the_windows_cut_out(rng, pool, shape):
    level = rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
    rows, cols = some_centres(0, *shape)
    scanned = features_at(pool, LevelMaps(level), rows, cols)
    assert np.array_equal(scanned, pool.compute(cut_windows(level, rows, cols)))


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="half a million values take a minute uncompiled")
def test_every_feature_is_the_same_in_a_scan(rng):
    every = WindowPool.default()
    level = rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)
    rows, cols = rng.integers(0, 40, 8), rng.integers(0, 50, 8)
    scanned = features_at(every, LevelMaps(level), rows, cols)
    assert np.array_equal(scanned, every.compute(cut_windows(level, rows, cols)))


def test_a_band_gives_what_the_whole_level_gives(rng, pool):
    level = rng.integers(0, 256, (70, 33, 3), dtype=np.uint8)
    whole = LevelMaps(level)
    for first, end in [(0, 9), (9, 50), (50, 70)]:
        band = LevelMaps(level, rows=(first, end))
        assert band.shape == (end - first, 33)
        rows, cols = some_centres(first, end, 33)
        assert np.array_equal(features_at(pool, band, rows, cols), features_at(pool, whole, rows, cols))


def test_maps_in_used_memory_are_the_same(rng, pool):
    large, small = (rng.integers(0, 256, (*shape, 3), dtype=np.uint8) for shape in [(60, 50), (30, 45)])
    rows, cols = some_centres(0, 30, 45)
    fresh = features_at(pool, LevelMaps(small), rows, cols)
    first = LevelMaps(large)
    again = LevelMaps(small, reuse=first)
    assert np.array_equal(features_at(pool, again, rows, cols), fresh)
    assert np.shares_memory(again.read[0][1][0], first.read[0][1][0])


def test_a_row_equals_its_windows(rng, pool):
    level = rng.integers(0, 256, (30, 47, 3), dtype=np.uint8)
    maps = LevelMaps(level, rows=(4, 30))
    expected = features_at(pool, maps, np.full(47, 11), np.arange(47))
    assert np.array_equal(features_of_row(pool, maps, 11), expected)


def test_only_the_wanted_maps_are_made(rng):
    level = rng.integers(0, 256, (30, 30, 3), dtype=np.uint8)
    only_haar, both = LevelMaps(level, channels=[HAAR]), LevelMaps(level)
    (_, hog_maps), (_, haar_maps) = only_haar.read
    assert [flat.size for flat in hog_maps] == [0, 0]
    assert np.array_equal(haar_maps[0], both.read[1][1][0])
    haar = WindowPool.default()[864::999]
    assert np.array_equal(features_at(haar, only_haar, [9], [9]), features_at(haar, both, [9], [9]))


@pytest.mark.parametrize(("rows", "message"), [([3], "begin with row 5"), ([12], "0..11")])
def test_windows_outside_the_band(rows, message):
    maps = LevelMaps(np.zeros((30, 30, 3), np.uint8), rows=(5, 12))
    with pytest.raises(DataError, match=message):
        maps.starts(rows, [0])


@pytest.mark.parametrize("rows", [(5, 5), (-1, 3), (0, 31)])
def test_bad_bands(rows):
    with pytest.raises(ParameterError, match="rows is"):
        LevelMaps(np.zeros((30, 30, 3), np.uint8), rows=rows)


def test_grey_levels_are_refused():
    with pytest.raises(DataError, match="accepted is RGB"):
        LevelMaps(np.zeros((30, 30), np.uint8))
