import numpy as np
import pytest

from annealed.features.codes import code_of, code_scale, quantise
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
    with pytest.raises(DataError, match="lo"):
        code_scale(lo, hi)
