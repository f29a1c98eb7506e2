import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from annealed.features.errors import DataError
from annealed.models.additive import CHUNK_VALUES, LinearModel, PiecewiseModel
from annealed.models.knots import response_tables
from annealed.models.model_files import ModelFile
from annealed.models.model_kinds import model_from_arrays


@pytest.fixture
def linear(rng):
    return LinearModel(np.array([1, 4]), rng.standard_normal((3, 2)), rng.standard_normal(3))


@pytest.fixture
def piecewise(rng):
    low, high = np.array([-1.0, 2.0]), np.array([1.0, 6.0])
    return PiecewiseModel(np.array([0, 3]), low, high, rng.standard_normal((3, 2, 5)), rng.standard_normal(3))


@pytest.fixture
def line(piecewise):
    """The model as version 0.1 evaluated it."""
    return replace(piecewise, quantised=False)


def test_linear_model_is_the_weighted_sum(rng, linear):
    X = rng.standard_normal((6, 5))
    for i, o in np.ndindex(6, 3):
        expected = linear.intercept[o] + linear.coef[o, 0] * X[i, 1] + linear.coef[o, 1] * X[i, 4]
        assert linear.respond(X)[i, o] == pytest.approx(expected)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix])
def test_linear_model_takes_sparse_tables(rng, linear, form):
    X = rng.standard_normal((6, 5)) * (rng.random((6, 5)) < 0.4)
    response = linear.respond(form(X))
    assert type(response) is np.ndarray
    np.testing.assert_allclose(response, linear.respond(X))


def test_line_interpolates_between_knots(rng, line):
    """NumPy's interpolation is the twin: linear between knots, constant beyond the ends."""
    X = rng.uniform(-4, 9, (200, 4))
    for o in range(3):
        expected = np.full(200, line.intercept[o])
        for j, feature in enumerate(line.features):
            expected += np.interp(X[:, feature], line.knots()[j], line.values[o, j])
        np.testing.assert_allclose(line.respond(X)[:, o], expected, rtol=1e-12)


def test_line_takes_the_knots_values_at_the_knots(line):
    X = np.zeros((5, 4))
    X[:, [0, 3]] = line.knots().T
    np.testing.assert_allclose(line.terms(X).transpose(0, 2, 1), line.values, rtol=1e-12)


def test_knots_are_equally_spaced_over_the_range(piecewise):
    np.testing.assert_allclose(piecewise.knots(), [[-1, -0.5, 0, 0.5, 1], [2, 3, 4, 5, 6]])


@pytest.mark.parametrize("value", [-1e300, -2.0, 3.0, 3.5, 1e300])
def test_piecewise_model_of_a_constant_feature_is_finite(value):
    """Its range has no length; whatever comes lies at one of its ends."""
    model = PiecewiseModel(
        np.array([0]), np.array([3.0]), np.array([3.0]), np.array([[[1.0, 2.0, 4.0]]]), np.zeros(1)
    )
    assert 1.0 <= model.respond(np.array([[value]]))[0, 0] <= 4.0


def test_terms_sum_to_the_response(rng, piecewise):
    X = rng.uniform(-4, 9, (7, 4))
    np.testing.assert_allclose(piecewise.terms(X).sum(axis=2).T + piecewise.intercept, piecewise.respond(X))


@pytest.mark.parametrize("name", ["linear", "piecewise"])
def test_rescaled_scales_and_shifts_each_output(rng, request, name):
    model = request.getfixturevalue(name)
    X = rng.standard_normal((6, 5))
    scale, shift = np.array([2.0, -1.0, 0.5]), np.array([0.0, 3.0, 1.0])
    np.testing.assert_allclose(model.rescaled(scale, shift).respond(X), scale * model.respond(X) + shift)


def test_importance_is_the_norm_over_outputs_and_knots(linear, piecewise):
    np.testing.assert_allclose(linear.importance(), np.linalg.norm(linear.coef, axis=0))
    expected = [np.linalg.norm(piecewise.values[:, j]) for j in range(2)]
    np.testing.assert_allclose(piecewise.importance(), expected)


def test_piecewise_model_looks_codes_up_in_its_tables(rng, piecewise):
    X = rng.uniform(-4, 9, (50, 4))
    share = (X[:, piecewise.features] - piecewise.low) / (piecewise.high - piecewise.low)
    codes = np.floor(np.clip(share, 0, 1) * 255 + 0.5).astype(int)
    for o in range(3):
        terms = [response_tables(piecewise.values[o])[j, codes[:, j]] for j in range(2)]
        np.testing.assert_allclose(piecewise.respond(X)[:, o], piecewise.intercept[o] + sum(terms))


def test_codes_and_line_differ_by_half_a_code_times_the_slope(rng, piecewise, line):
    """The whole price of predicting what was trained on: half of 1/255 of the range, by feature."""
    X = rng.uniform(-4, 9, (2000, 4))
    steepest = np.abs(np.diff(piecewise.values, axis=2)).max(axis=2) * piecewise.n_bins
    bound = (steepest / 255 / 2).sum(axis=1) * (1 + 1e-9)
    gaps = np.abs(piecewise.respond(X) - line.respond(X))
    assert (gaps <= bound).all()
    assert (gaps.max(axis=0) > bound / 4).all()


@pytest.mark.parametrize("name", ["linear", "piecewise", "line"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_responds_alike_in_any_chunk(rng, request, monkeypatch, name, dtype):
    model = request.getfixturevalue(name)
    X = rng.uniform(-4, 9, (23, 5)).astype(dtype)
    whole = model.respond(X)
    monkeypatch.setattr("annealed.models.additive.CHUNK_VALUES", 30)
    np.testing.assert_allclose(model.respond(X), whole, rtol=1e-12)
    np.testing.assert_allclose(model.respond(np.asfortranarray(X)), whole, rtol=1e-12)


@pytest.mark.parametrize("kind", ["linear", "piecewise", "line"])
def test_responding_needs_little_memory_beside_the_table(rng, kind):
    """A table of 24 MB, all of whose columns are used, took 288 MB."""
    X = rng.standard_normal((100_000, 30))
    features, low, high = np.arange(30), np.full(30, -3.0), np.full(30, 3.0)
    model = LinearModel(features, np.ones((1, 30)), np.zeros(1))
    if kind != "linear":
        model = PiecewiseModel(features, low, high, np.ones((1, 30, 11)), np.zeros(1), kind == "piecewise")
    model.respond(X[:10])
    tracemalloc.start()
    response = model.respond(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - response.nbytes < 10 * 8 * CHUNK_VALUES


def test_standardised_models_come_back_in_the_inputs_units(rng, linear):
    X = rng.standard_normal((6, 5))
    mean, scale = np.array([3.0, -1.0]), np.array([2.0, 0.1])
    Z = X.copy()
    Z[:, linear.features] = X[:, linear.features] * scale + mean
    again = LinearModel.from_standardised(linear.features, linear.coef, linear.intercept, mean, scale)
    np.testing.assert_allclose(again.respond(Z), linear.respond(X))


def test_reordered_features_respond_the_same(rng, piecewise):
    X = rng.uniform(-4, 9, (7, 4))
    other = piecewise.reordered(np.array([1, 0]))
    assert other.features.tolist() == [3, 0]
    np.testing.assert_allclose(other.respond(X), piecewise.respond(X))


def test_features_of_another_table(rng, piecewise):
    X = rng.uniform(-4, 9, (7, 4))
    np.testing.assert_array_equal(
        piecewise.with_features(np.array([1, 0])).respond(X[:, [3, 0]]), piecewise.respond(X)
    )


def test_tables_have_the_values_dtype(piecewise):
    single = piecewise.astype(np.float32)
    expected = np.stack([response_tables(values) for values in single.values]).astype(np.float32)
    assert single.tables.dtype == np.float32
    np.testing.assert_array_equal(single.tables, expected)
    assert piecewise.tables.shape == (3, 2, 256)


@pytest.mark.parametrize("name", ["linear", "piecewise", "line"])
def test_arrays_bring_the_model_back(rng, request, name):
    model = request.getfixturevalue(name)
    file = ModelFile("estimator", model.to_arrays("f_"), {})
    X = rng.uniform(-4, 9, (40, 5))
    again = model_from_arrays(file, "f_", n_features=5)
    assert type(again) is type(model)
    np.testing.assert_array_equal(again.respond(X), model.respond(X))


def test_files_that_say_nothing_of_codes_hold_a_line(piecewise, line):
    arrays = piecewise.to_arrays()
    del arrays["quantised"]
    again = PiecewiseModel.from_arrays(ModelFile("estimator", arrays, {}), n_features=4)
    X = np.linspace(-1, 6, 99)[:, None].repeat(4, axis=1)
    np.testing.assert_array_equal(again.respond(X), line.respond(X))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"low": np.array([2.0, 2.0])}, "low <= high"),
        ({"high": np.array([np.nan, 6.0])}, "finite"),
        ({"high": np.zeros(3)}, "accepted are two"),
        ({"low": np.zeros(3), "high": np.ones(3)}, r"low of a model has shape \(3,\), expected \(2,\)"),
        ({"values": np.zeros((3, 2, 1))}, "needs two knots"),
        ({"values": np.zeros((3, 2, 300))}, "256 at most"),
        ({"values": np.zeros((2, 5))}, "needs two knots"),
        ({"values": np.zeros((2, 2, 5))}, "values of a model has shape"),
        ({"values": np.full((3, 2, 5), np.inf)}, "not finite"),
        ({"intercept": np.full(3, np.nan)}, "not finite"),
    ],
)
def test_models_that_cannot_be_are_refused(piecewise, changes, message):
    with pytest.raises(DataError, match=message):
        replace(piecewise, **changes)


def test_coefficients_belong_to_features_and_outputs(linear):
    with pytest.raises(DataError, match=r"coef of a model has shape \(3, 2\), expected \(3, 1\)"):
        replace(linear, features=np.array([1]))
