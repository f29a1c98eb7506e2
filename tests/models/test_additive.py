import numpy as np
import pytest
from scipy import sparse

from annealed.models.additive import LinearModel, PiecewiseModel, is_sparse


@pytest.fixture
def linear(rng):
    return LinearModel(np.array([1, 4]), rng.standard_normal((3, 2)), rng.standard_normal(3))


@pytest.fixture
def piecewise(rng):
    low, high = np.array([-1.0, 2.0]), np.array([1.0, 6.0])
    return PiecewiseModel(np.array([0, 3]), low, high, rng.standard_normal((3, 2, 5)), rng.standard_normal(3))


def test_linear_model_is_the_weighted_sum(rng, linear):
    X = rng.standard_normal((6, 5))
    for i, o in np.ndindex(6, 3):
        expected = linear.intercept[o] + linear.coef[o, 0] * X[i, 1] + linear.coef[o, 1] * X[i, 4]
        assert linear(X)[i, o] == pytest.approx(expected)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix])
def test_linear_model_takes_sparse_tables(rng, linear, form):
    X = rng.standard_normal((6, 5)) * (rng.random((6, 5)) < 0.4)
    response = linear(form(X))
    assert type(response) is np.ndarray
    np.testing.assert_allclose(response, linear(X))


def test_piecewise_model_interpolates_between_knots(rng, piecewise):
    """NumPy's interpolation is the twin: linear between knots, constant beyond the ends."""
    X = rng.uniform(-4, 9, (200, 4))
    for o in range(3):
        expected = np.full(200, piecewise.intercept[o])
        for j, feature in enumerate(piecewise.features):
            expected += np.interp(X[:, feature], piecewise.knots()[j], piecewise.values[o, j])
        np.testing.assert_allclose(piecewise(X)[:, o], expected, rtol=1e-12)


def test_piecewise_model_takes_the_knots_values_at_the_knots(piecewise):
    X = np.zeros((5, 4))
    X[:, [0, 3]] = piecewise.knots().T
    np.testing.assert_allclose(piecewise.terms(X).transpose(0, 2, 1), piecewise.values, rtol=1e-12)


def test_knots_are_equally_spaced_over_the_range(piecewise):
    np.testing.assert_allclose(piecewise.knots(), [[-1, -0.5, 0, 0.5, 1], [2, 3, 4, 5, 6]])


@pytest.mark.parametrize("value", [-1e300, -2.0, 3.0, 3.5, 1e300])
def test_piecewise_model_of_a_constant_feature_is_finite(value):
    """Its range has no length; whatever comes lies at one of its ends."""
    model = PiecewiseModel(
        np.array([0]), np.array([3.0]), np.array([3.0]), np.array([[[1.0, 2.0, 4.0]]]), np.zeros(1)
    )
    assert 1.0 <= model(np.array([[value]]))[0, 0] <= 4.0


def test_terms_sum_to_the_response(rng, piecewise):
    X = rng.uniform(-4, 9, (7, 4))
    np.testing.assert_allclose(piecewise.terms(X).sum(axis=2).T + piecewise.intercept, piecewise(X))


@pytest.mark.parametrize("name", ["linear", "piecewise"])
def test_rescaled_scales_and_shifts_each_output(rng, request, name):
    model = request.getfixturevalue(name)
    X = rng.standard_normal((6, 5))
    scale, shift = np.array([2.0, -1.0, 0.5]), np.array([0.0, 3.0, 1.0])
    np.testing.assert_allclose(model.rescaled(scale, shift)(X), scale * model(X) + shift)


def test_importance_is_the_norm_over_outputs_and_knots(linear, piecewise):
    np.testing.assert_allclose(linear.importance(), np.linalg.norm(linear.coef, axis=0))
    expected = [np.linalg.norm(piecewise.values[:, j]) for j in range(2)]
    np.testing.assert_allclose(piecewise.importance(), expected)


def test_sparse_tables_are_recognised():
    assert is_sparse(sparse.csr_matrix((2, 2)))
    assert is_sparse(sparse.coo_array((2, 2)))
    assert not is_sparse(np.zeros((2, 2)))
