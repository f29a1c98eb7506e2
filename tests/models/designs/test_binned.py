import numpy as np
import pytest

from annealed.models.designs import BinnedDesign, knot_means
from annealed.models.knots import response_tables


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
