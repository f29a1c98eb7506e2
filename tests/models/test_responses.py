import numpy as np
import pytest
from scipy import sparse

from annealed.features.errors import ParameterError
from annealed.models import FSAClassifier
from annealed.models.annealing import AnnealingResult, Trace
from annealed.models.designs import BinnedDesign, DenseDesign, SparseDesign
from annealed.models.responses import Linear, Piecewise

N_ROWS, N_FEATURES = 30, 21  # more than one tile of columns, and an odd rest


@pytest.fixture
def table(rng):
    """X with a constant column and one of large mean, weights, and a shuffled order."""
    X = rng.standard_normal((N_ROWS, N_FEATURES)) * rng.uniform(0.1, 50, N_FEATURES)
    X[:, 4] = 0.1
    X[:, 7] += 1e6
    weight = rng.uniform(0.2, 3, N_ROWS)
    return X, weight, rng.permutation(N_ROWS)


def naive_standard(X, weight):
    """Weighted mean zero and variance one; constant columns become zero."""
    mean = np.average(X, axis=0, weights=weight)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    constant = np.ptp(X, axis=0) == 0
    return np.where(constant, 0, (X - mean) / np.where(constant, 1, deviation))


def all_kept(rng, design):
    """A result that keeps two features in three, with random coefficients for two outputs."""
    kept = np.flatnonzero(np.arange(design.n_features) % 3)
    design.keep(kept)
    beta = rng.standard_normal((2, len(kept), design.n_coefficients))
    intercept = rng.standard_normal(2)
    model = design.to_model(kept, beta, intercept)
    return AnnealingResult(model, kept, beta, intercept, np.ones(design.n_features, int), Trace())


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda X: X[:, ::-1]])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dense_columns_are_standardized_in_order(table, layout, dtype):
    X, weight, order = table
    X = layout(X.astype(dtype))
    before = X.copy()
    design = Linear().prepare(X, weight, order).new_design()
    assert isinstance(design, DenseDesign)
    columns = design.gradient(np.eye(N_ROWS), 0, N_ROWS)[:, :, 0]  # row i of the design
    # A column of float32 with the mean 1e6 has six digits for its spread.
    tolerance = 1e-9 if dtype == np.float64 else 0.05
    np.testing.assert_allclose(columns, naive_standard(X, weight)[order], atol=tolerance)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_sparse_columns_are_scaled_not_centred(rng, table, form):
    X, weight, order = table
    X = X * (rng.random(X.shape) < 0.5)
    X[:, 2] = 0
    design = Linear().prepare(form(X), weight, order).new_design()
    assert isinstance(design, SparseDesign)
    mean = np.average(X, axis=0, weights=weight)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    deviation[2] = 1
    columns = design.gradient(np.eye(N_ROWS), 0, N_ROWS)[:, :, 0]
    np.testing.assert_allclose(columns, (X / deviation)[order], rtol=1e-9)


def test_binned_columns_span_each_features_range(table):
    X, weight, order = table
    design = Piecewise(n_bins=5, ranges="full").prepare(X, weight, order).new_design()
    assert isinstance(design, BinnedDesign)
    position = (X - X.min(axis=0)) / np.maximum(np.ptp(X, axis=0), 1e-300) * 5
    position[:, 4] = 0
    hats = np.maximum(0, 1 - np.abs(position[:, :, None] - np.arange(6)))
    hats -= np.average(hats, axis=0, weights=weight)
    basis = design.gradient(np.eye(N_ROWS), 0, N_ROWS)
    # A code is off by at most half of 1/255 of the range, or 5/510 of a bin.
    np.testing.assert_allclose(basis, hats[order], atol=0.011)


@pytest.mark.parametrize("response", ["linear", "sparse", "piecewise"])
@pytest.mark.filterwarnings("ignore:column 7 of X left out")
def test_models_respond_as_the_design_does(rng, table, response):
    """The way back: coefficients in the input's units give the design's responses."""
    X, weight, order = table
    if response == "piecewise":  # values on the codes, so that nothing is rounded
        X = np.round(rng.random(X.shape) * 255)
        X[0], X[1] = 0, 255
        prepared = Piecewise(n_bins=5, ranges="full").prepare(X, weight, order)
    else:
        prepared = Linear().prepare(sparse.csr_array(X) if response == "sparse" else X, weight, order)
    design = prepared.new_design()
    result = all_kept(rng, design)
    expected = design.response(result.beta, result.intercept, 0, N_ROWS)
    response = prepared.to_model(result).respond(X[order]).T
    np.testing.assert_allclose(response, expected, rtol=1e-6, atol=1e-6)


def test_piecewise_functions_have_weighted_mean_zero(rng, table):
    X, weight, order = table
    X = np.round(rng.random(X.shape) * 255)
    X[0], X[1] = 0, 255
    prepared = Piecewise(n_bins=5, ranges="full").prepare(X, weight, order)
    model = prepared.to_model(all_kept(rng, prepared.new_design()))
    np.testing.assert_allclose(np.average(model.terms(X), axis=1, weights=weight), 0, atol=1e-12)


def test_sparse_tables_have_no_piecewise_response(table):
    X, weight, order = table
    with pytest.raises(ParameterError, match='response="piecewise" needs a dense X'):
        Piecewise(n_bins=5, ranges="full").prepare(sparse.csr_array(X), weight, order)


def test_threads_change_no_bit(table, with_threads):
    X, weight, order = table

    def run():
        design = Linear().prepare(X, weight, order).new_design()
        return design.gradient(np.eye(N_ROWS), 0, N_ROWS)

    one, two = with_threads(run)
    np.testing.assert_array_equal(one, two)


def test_entries_given_twice_are_added_and_the_caller_keeps_them(rng):
    X = sparse.random_array((60, 12), density=0.4, rng=rng, format="csr")
    halves = sparse.csr_array(
        (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape
    )
    before = halves.indices.copy(), halves.data.copy()
    y = X[:, [3]].toarray()[:, 0] > 0.5
    coef = FSAClassifier(k=2).fit(X, y).coef_
    np.testing.assert_array_equal(FSAClassifier(k=2).fit(halves, y).coef_, coef)
    np.testing.assert_array_equal(halves.indices, before[0])
    np.testing.assert_array_equal(halves.data, before[1])
