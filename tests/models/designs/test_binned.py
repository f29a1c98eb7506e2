import numpy as np
import pytest

from annealed.models.designs import BinnedDesign, centred, encode, knot_means, response_tables
from annealed.models.designs.binned import code_positions


def naive_code(value, low, high):
    """The nearest of 256 equally spaced positions in [low, high]."""
    if high == low:
        return 0
    share = min(max((value - low) / (high - low), 0), 1)
    return int(share * 255 + 0.5)


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


@pytest.mark.parametrize("n_bins", [1, 2, 10, 255])
def test_responses_have_mean_zero_and_differ_as_the_function_does(rng, n_bins):
    """Centring moves a response function up or down, nothing else."""
    codes = rng.integers(0, 256, (7, 90)).astype(np.uint8)
    beta = rng.standard_normal((1, 7, n_bins + 1))
    response = BinnedDesign(codes, n_bins).response(beta, np.zeros(1), 0, 90)[0]
    tables = response_tables(beta[0])
    uncentred = sum(tables[j, codes[j]] for j in range(7))
    assert response.mean() == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(response, uncentred - uncentred.mean(), atol=1e-12)


def test_knot_means_are_the_basis_functions_means(rng):
    codes = rng.integers(0, 256, (3, 50)).astype(np.uint8)
    weight = rng.uniform(0, 1, 50)
    weight *= 50 / weight.sum()
    position = codes / 255 * 4
    for w, means in ((np.ones(50), knot_means(codes, 4)), (weight, knot_means(codes, 4, weight))):
        hats = np.maximum(0, 1 - np.abs(position[:, :, None] - np.arange(5)))  # u_k(x)
        np.testing.assert_allclose(means, np.average(hats, axis=1, weights=w), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(knot_means(codes, 4).sum(axis=1), 1)


def test_block_of_a_larger_design_takes_its_means(rng):
    codes = rng.integers(0, 256, (3, 50)).astype(np.uint8)
    whole = BinnedDesign(codes, 4)
    part = BinnedDesign(codes[:, 10:30].copy(), 4, whole.means)
    beta, residual = rng.standard_normal((1, 3, 5)), rng.standard_normal((1, 20))
    np.testing.assert_allclose(
        part.response(beta, np.zeros(1), 0, 20), whole.response(beta, np.zeros(1), 10, 30)
    )
    np.testing.assert_allclose(part.gradient(residual, 0, 20), whole.gradient(residual, 10, 30))


def test_constant_feature_responds_nothing(rng):
    codes = rng.integers(0, 256, (2, 30)).astype(np.uint8)
    codes[1] = 0
    design = BinnedDesign(codes, 4)
    beta = rng.standard_normal((1, 2, 5))
    beta[0, 0] = 0
    np.testing.assert_allclose(design.response(beta, np.zeros(1), 0, 30), 0, atol=1e-12)
    np.testing.assert_allclose(design.gradient(rng.standard_normal((1, 30)), 0, 30)[0, 1], 0, atol=1e-12)


def test_centred_responses_have_mean_zero(rng):
    codes = rng.integers(0, 256, size=(3, 50), dtype=np.uint8)
    knots = rng.normal(size=(2, 3, 5))
    shifted = centred(knots, knot_means(codes, 4))
    for output in shifted:
        for table, row in zip(response_tables(output), codes, strict=True):
            assert table[row].mean() == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(np.diff(shifted, axis=2), np.diff(knots, axis=2))
