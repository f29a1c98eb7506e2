import numpy as np
import pytest

from annealed.models.designs import knot_means
from annealed.models.knots import centred, code_positions, response_tables, sum_responses


@pytest.mark.parametrize("n_bins", [1, 2, 3, 10, 17, 51, 254, 255])
def test_code_positions_follow_section_2_5_1(n_bins):
    """Bin j(x) = floor(x B) and position alpha(x) in it, for x = code / 255; x = 1 ends the last bin."""
    first_codes, position = code_positions(n_bins)
    assert first_codes[0] == 0
    assert first_codes[-1] == 256
    for code in range(256):
        k = min(code * n_bins // 255, n_bins - 1)
        assert first_codes[k] <= code < first_codes[k + 1]
        assert position[code] == pytest.approx(code * n_bins / 255 - k, abs=1e-12)


@pytest.mark.parametrize("n_bins", [1, 3, 10, 255])
def test_tables_interpolate_between_knots(rng, n_bins):
    values = rng.standard_normal((4, n_bins + 1))
    tables = response_tables(values)
    expected = [np.interp(np.arange(256) / 255, np.linspace(0, 1, n_bins + 1), v) for v in values]
    np.testing.assert_allclose(tables, expected, rtol=1e-9, atol=1e-12)


def test_centred_responses_have_mean_zero(rng):
    codes = rng.integers(0, 256, size=(3, 50), dtype=np.uint8)
    knots = rng.normal(size=(2, 3, 5))
    shifted = centred(knots, knot_means(codes, 4))
    for output in shifted:
        for table, row in zip(response_tables(output), codes, strict=True):
            assert table[row].mean() == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(np.diff(shifted, axis=2), np.diff(knots, axis=2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_add_one_entry_a_feature_in_order(rng, dtype):
    tables = rng.standard_normal((6, 256)).astype(dtype)
    codes = rng.integers(0, 256, (6, 40), dtype=np.uint8)
    for row, total in enumerate(sum_responses(tables, codes, 0.3)):
        expected = dtype(0.3)
        for table, code in zip(tables, codes[:, row], strict=True):
            expected += table[code]
        assert total == expected
        assert total.dtype == dtype
