import numpy as np
import pytest

from annealed.features.codes import code_of, code_scale, encode, quantise
from annealed.features.errors import DataError


def naive_code(value, lo, hi):
    if hi <= lo:
        return 0
    return int(np.floor(np.clip((value - lo) / (hi - lo), 0, 1) * 255 + 0.5))


def test_codes_equal_the_definition(rng):
    for _ in range(200):
        lo, hi = np.sort(rng.normal(0, 100, 2)).astype(np.float32)
        value = np.float32(rng.normal(0, 150))
        got = code_of(value, *(a[0] for a in code_scale([lo], [hi])))
        position = (float(value) - float(lo)) / (float(hi) - float(lo)) * 255 + 0.5
        # float32 may fall on the other side of a rounding boundary, but only next to one
        if abs(position - round(position)) > 1e-3:
            assert got == naive_code(float(value), float(lo), float(hi))


def test_ends_of_the_range_are_the_first_and_the_last_code(rng):
    lo = rng.normal(0, 1000, 500).astype(np.float32)
    hi = lo + rng.uniform(1e-3, 1e4, 500).astype(np.float32)
    for low, high, scale in zip(*code_scale(lo, hi), strict=True):
        assert code_of(low, low, high, scale) == 0
        assert code_of(high, low, high, scale) == 255


def test_values_outside_clamp():
    lo, hi, scale = (a[0] for a in code_scale([2.0], [3.0]))
    codes = np.zeros((1, 4), dtype=np.uint8)
    quantise(np.array([-1e9, 2, 3, 1e9], np.float32), lo, hi, scale, 4, codes, 0, 0)
    assert codes.tolist() == [[0, 0, 255, 255]]


def test_quantise_writes_only_its_places():
    lo, hi, scale = (a[0] for a in code_scale([0.0], [1.0]))
    codes = np.full((2, 5), 7, dtype=np.uint8)
    quantise(np.array([0, 1, 1], np.float32), lo, hi, scale, 2, codes, 1, 2)
    assert codes.tolist() == [[7, 7, 7, 7, 7], [7, 7, 0, 255, 7]]


@pytest.mark.parametrize("width", [0.0, 1e-45, 1e-31])
def test_a_range_without_width_has_one_code(width):
    lo, hi, scale = (a[0] for a in code_scale([0.0], [width]))
    assert code_of(np.float32(5), lo, hi, scale) == 0


@pytest.mark.parametrize(
    ("lo", "hi"),
    [([1.0], [0.0]), ([np.nan], [1.0]), ([0.0], [np.inf]), ([0.0], [1.0, 2.0]), ([[0.0]], [[1.0]])],
)
def test_bad_ranges(lo, hi):
    with pytest.raises(DataError, match="low"):
        code_scale(lo, hi)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_encode_agrees_with_naive_twin(rng, dtype):
    values = rng.standard_normal((5, 60)).astype(dtype)
    values[2] = 7.0
    low, high = np.array([-1.0, -0.5, 7.0, -9.0, 0.0]), np.array([1.0, 3.0, 7.0, 9.0, 0.1])
    codes = encode(values, low, high)
    assert codes.dtype == np.uint8
    for j, i in np.ndindex(values.shape):
        assert codes[j, i] == naive_code(float(values[j, i]), low[j], high[j])


def test_encode_spans_the_range_and_clamps():
    codes = encode(np.array([[-5.0, 0.0, 1.0, 2.0, 99.0]]), np.array([0.0]), np.array([2.0]))
    assert codes.tolist() == [[0, 0, 128, 255, 255]]


def test_encode_takes_any_memory_order(rng):
    values = rng.standard_normal((30, 4))
    low, high = values.min(axis=0), values.max(axis=0)
    np.testing.assert_array_equal(encode(values.T, low, high), encode(values.T.copy(), low, high))


def test_encode_of_many_values_gives_the_same_codes(rng):
    """From a size on the features are shared among threads."""
    values = rng.standard_normal((3, 50_000))
    low, high = values.min(axis=1), values.max(axis=1)
    whole = encode(values, low, high)
    parts = [encode(part, low, high) for part in np.array_split(values, 5, axis=1)]
    np.testing.assert_array_equal(whole, np.concatenate(parts, axis=1))


@pytest.mark.parametrize("size", [1e-320, 1e-160, 1e160, 1.7e308])
def test_encode_of_tiny_and_huge_ranges(size):
    codes = encode(np.array([[-size, 0, size]]), np.array([-size]), np.array([size]))
    assert codes.tolist() in ([[0, 128, 255]], [[0, 0, 0]])


def test_encode_clamps_infinite_values_and_takes_nan_for_the_lowest():
    values = np.array([[-np.inf, np.inf, np.nan]])
    assert encode(values, np.array([0.0]), np.array([1.0])).tolist() == [[0, 255, 0]]
