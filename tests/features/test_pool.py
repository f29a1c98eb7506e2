import numpy as np
import pytest
from numba import config

from annealed.features.channels.haar import HAAR
from annealed.features.channels.hog import HOG
from annealed.features.codes import code_of, code_scale
from annealed.features.errors import DataError
from annealed.features.pool import WindowPool


@pytest.fixture(scope="module")
def pool():
    every = WindowPool.default()
    return every[np.random.default_rng(6).permutation(len(every))[:100]]


@pytest.fixture
def patches(rng):
    return rng.integers(0, 256, (70, 26, 26, 3), dtype=np.uint8)


def test_default_pool_has_the_paper_s_size():
    every = WindowPool.default()
    assert len(every) == 864 + 60939
    assert every.belongs_to(HOG).sum() == 864
    assert every.belongs_to(HAAR).sum() == 60939
    assert every.channels == [HOG, HAAR]
    assert len(np.unique(every.descriptors, axis=0)) == len(every)
    assert np.bincount(every.descriptors[:, 1]).tolist() == [len(every) // 3] * 3


def test_default_pool_passes_its_own_check():
    every = WindowPool.default()
    assert np.array_equal(WindowPool.from_descriptors(every.descriptors).descriptors, every.descriptors)


@pytest.mark.parametrize(
    "bad",
    [
        [6, 0, 0, 0, 2, 4, 0],  # unknown kind
        [1, 3, 0, 0, 4, 4, 0],  # a fourth colour
        [1, 0, 0, 0, 4, 13, 0],  # two of 13 columns reach outside
        [2, 0, 20, 0, 3, 4, 0],  # reaches below the window
        [3, 0, 0, 0, 4, 0, 0],  # no width
        [5, 0, 0, 0, 0, 4, 0],  # no height
        [4, 0, 0, 0, 255, 255, 0],  # would wrap around in 8 bits
        [5, 0, 0, 0, 4, 4, 1],  # the unused column is used
        [0, 0, 3, 0, 0, 0, 0],  # a fourth block
        [0, 0, 0, 0, 2, 0, 0],  # a third cell in the block
        [0, 0, 0, 0, 0, 0, 8],  # a ninth orientation
    ],
)
def test_descriptors_outside_the_window_are_refused(bad):
    good = [1, 0, 0, 0, 4, 4, 0]
    with pytest.raises(DataError, match="descriptor 1 is"):
        WindowPool.from_descriptors(np.array([good, bad], dtype=np.uint8))


@pytest.mark.parametrize(
    "array", [np.zeros((3, 6), np.uint8), np.zeros((3, 7), np.int16), np.zeros(7, np.uint8)]
)
def test_other_arrays_are_no_descriptors(array):
    with pytest.raises(DataError, match="descriptors has shape"):
        WindowPool.from_descriptors(array)


def test_a_pool_does_not_change_with_the_array_it_came_from():
    array = np.array([[1, 0, 0, 0, 4, 4, 0]], dtype=np.uint8)
    pool = WindowPool.from_descriptors(array)
    array[:] = 0
    assert pool.descriptors.tolist() == [[1, 0, 0, 0, 4, 4, 0]]


@pytest.mark.parametrize(
    "indices", [np.array([5, 3, 3]), [7], slice(10, 13), 4, np.arange(100) % 9 == 1, np.array([], int)]
)
def test_part_of_a_pool_computes_part_of_the_values(pool, patches, indices):
    every = pool.compute(patches)
    expected = every[indices].reshape(-1, len(patches))
    assert np.array_equal(pool[indices].compute(patches), expected)


@pytest.mark.parametrize("n_windows", [0, 1, 63, 64, 65, 70])
def test_windows_do_not_influence_one_another(pool, patches, n_windows):
    together = pool.compute(patches[:n_windows])
    assert together.shape == (len(pool), n_windows)
    for i in range(0, n_windows, 9):
        assert np.array_equal(together[:, i], pool.compute(patches[i : i + 1])[:, 0])


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="a thousand windows take a minute without compilation")
def test_more_windows_than_all_tasks_take_at_once(rng):
    pool = WindowPool.default()[::9000]
    patches = rng.integers(0, 256, (16 * 64 + 70, 26, 26, 3), dtype=np.uint8)
    every = pool.compute(patches)
    assert np.array_equal(every[:, 1000:], pool.compute(patches[1000:]))
    lo, hi = pool.ranges(patches)
    assert np.array_equal(lo, every.min(axis=1))
    assert np.array_equal(hi, every.max(axis=1))


def test_ranges_are_smallest_and_largest_values(pool, patches):
    values = pool.compute(patches)
    lo, hi = pool.ranges(patches)
    assert (lo < 0).any()  # both signs take part
    assert np.array_equal(lo, values.min(axis=1))
    assert np.array_equal(hi, values.max(axis=1))


def test_codes_are_those_of_the_values(pool, patches):
    values = pool.compute(patches)
    lo, hi = np.quantile(values, 0.1, axis=1), np.quantile(values, 0.9, axis=1)
    scaling = code_scale(lo, hi)
    codes = pool.codes(patches, lo, hi)
    assert codes.dtype == np.uint8
    for f in range(0, len(pool), 11):
        for i in range(0, len(patches), 7):
            assert codes[f, i] == code_of(values[f, i], *(a[f] for a in scaling))


def test_outputs_may_be_given(pool, patches):
    values, codes = np.empty((100, 70), np.float32), np.empty((100, 70), np.uint8)
    lo, hi = pool.ranges(patches)
    assert pool.compute(patches, out=values) is values
    assert pool.codes(patches, lo, hi, out=codes) is codes
    assert np.array_equal(values, pool.compute(patches))
    assert np.array_equal(codes, pool.codes(patches, lo, hi))


@pytest.mark.parametrize("out", [np.empty((100, 69), np.float32), np.empty((100, 70))])
def test_outputs_of_another_shape_or_type(pool, patches, out):
    with pytest.raises(DataError, match="out has shape"):
        pool.compute(patches, out=out)


def test_results_do_not_depend_on_the_number_of_threads(pool, patches, with_threads):
    def everything():
        lo, hi = pool.ranges(patches)
        return pool.compute(patches), lo, hi, pool.codes(patches, lo, hi)

    for one, two in zip(*with_threads(everything), strict=True):
        assert np.array_equal(one, two)


def test_patches_need_not_be_contiguous(pool, patches):
    assert np.array_equal(pool.compute(patches[::-2]), pool.compute(patches[::-2].copy()))


def test_no_windows_have_no_range(pool):
    with pytest.raises(DataError, match="at least one window"):
        pool.ranges(np.empty((0, 26, 26, 3), np.uint8))


def test_ranges_of_another_pool(pool, patches):
    with pytest.raises(DataError, match="99 entries; the pool has 100"):
        pool.codes(patches, np.zeros(99), np.ones(99))


def test_grey_windows_are_refused(pool):
    with pytest.raises(DataError, match="patches has shape"):
        pool.compute(np.zeros((3, 26, 26), np.uint8))


def test_names_tell_features_apart():
    every = WindowPool.default()
    assert len(set(every.names())) == len(every)
    haar = WindowPool.from_descriptors(np.array([[4, 2, 3, 5, 2, 6, 0]], np.uint8))
    assert haar.names() == [
        "blue, above and below against the middle: each 6 px wide and 2 px high, from row 3, column 5"
    ]
    hog = WindowPool.from_descriptors(np.array([[0, 1, 1, 0, 0, 1, 0]], np.uint8))
    assert hog.names() == ["green edges at 79 degrees in the upper left cell, beside those below and left"]


def test_drawn_rectangles_give_the_value(rng):
    """The weighted sum over what `draw` returns is the Haar feature itself."""
    pool = WindowPool.default()[864::1500]
    patch = rng.integers(0, 256, (26, 26, 3), dtype=np.uint8)
    window = patch[1:-1, 1:-1].astype(int)
    values = pool.compute(patch[None])[:, 0]
    for f, (_, colour, *_) in enumerate(pool.descriptors):
        total = sum(
            weight * window[row : row + height, col : col + width, colour].sum()
            for row, col, height, width, weight, _ in pool.draw(f)
        )
        assert total == values[f]


def test_drawn_hog_cell_lies_in_its_block():
    pool = WindowPool.from_descriptors(np.array([[0, 1, 2, 1, 0, 1, 7]], np.uint8))
    block, cell = pool.draw(0)
    assert block == (12, 6, 12, 12, 0, None)
    assert cell[:5] == (12, 12, 6, 6, 1)
    assert np.degrees(cell.angle) == 7.5 * 22.5 + 90  # across the gradient
