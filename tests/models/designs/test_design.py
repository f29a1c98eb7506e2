"""What every design promises: it acts as an explicit matrix, in any rows, after any keep step."""

import naive
import numpy as np
import pytest
from scipy import sparse

from annealed.models.designs import (
    BinnedDesign,
    BlockDesign,
    DenseDesign,
    SparseDesign,
    binned,
    dense,
)
from annealed.models.designs import sparse as sparse_module
from annealed.models.designs.design import KeptColumns
from annealed.models.losses import Logistic

N_ROWS, N_FEATURES, N_BINS = 40, 11, 3


def make_table(rng, n_rows, n_features):
    """Integers, a third of them zero: exact in float32, so that all designs hold the same numbers."""
    return rng.integers(-4, 5, (n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.7) / 8


def block_design(X, dtype, **options):
    return BlockDesign(lambda start, stop, columns: X[start:stop, columns], *X.shape, dtype=dtype, **options)


def make_codes(X):
    return np.ascontiguousarray((X.T * 100 + 128).clip(0, 255).astype(np.uint8))


LINEAR = {
    "float64": lambda X: DenseDesign(np.ascontiguousarray(X.T)),
    "float32": lambda X: DenseDesign(np.ascontiguousarray(X.T, dtype=np.float32)),
    "csr": lambda X: SparseDesign(sparse.csr_array(X)),
    "csc": lambda X: SparseDesign(sparse.csc_matrix(X)),
    "streamed": lambda X: block_design(X, np.float64, block_rows=7, memory_budget=0),
    "streamed, soon resident": lambda X: block_design(X, np.float64, block_rows=7),
}
DESIGNS = {**LINEAR, "binned": lambda X: BinnedDesign(make_codes(X), N_BINS)}


def explicit(name, X):
    """The matrix that a design stands for, shape (n_rows, n_features, n_coefficients)."""
    return naive.piecewise_basis(make_codes(X), N_BINS) if name == "binned" else X[:, :, None]


@pytest.fixture(params=[False, True], ids=["whole", "shared out"])
def kernels(request, monkeypatch):
    """Small arrays would not be shared out."""
    if request.param:
        for module in (dense, sparse_module, binned):
            monkeypatch.setattr(module, "TASK_VISITS", 0)


def check_against(matrix, design, rng, n_outputs, start, stop):
    n, p = design.n_features, design.n_coefficients
    beta, intercept = rng.standard_normal((n_outputs, n, p)), rng.standard_normal(n_outputs)
    residual = rng.standard_normal((n_outputs, stop - start))
    block = design.block(start, stop)
    rows = matrix[start:stop]
    response = np.einsum("ijk,ojk->oi", rows, beta) + intercept[:, None]
    np.testing.assert_allclose(block.response(beta, intercept), response, rtol=1e-12, atol=1e-12)
    gradient = np.einsum("ijk,oi->ojk", rows, residual)
    np.testing.assert_allclose(block.gradient(residual), gradient, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize(("start", "stop"), [(0, N_ROWS), (13, 21), (39, 40)])
def test_design_acts_as_its_matrix(rng, name, n_outputs, start, stop):
    X = make_table(rng, N_ROWS, N_FEATURES)
    design = DESIGNS[name](X)
    assert (design.n_rows, design.n_features) == X.shape
    check_against(explicit(name, X), design, rng, n_outputs, start, stop)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("name", DESIGNS)
def test_design_acts_as_its_kept_columns(rng, name):
    """Keep steps of all sizes, so that every compaction happens, down to a single feature."""
    X = make_table(rng, N_ROWS, 60)
    design, matrix = DESIGNS[name](X), explicit(name, X)
    for size in (59, 30, 13, 12, 3, 1):
        indices = np.sort(rng.choice(matrix.shape[1], size, replace=False))
        design.keep(indices)
        matrix = matrix[:, indices]
        assert design.n_features == size
        check_against(matrix, design, rng, 2, 0, N_ROWS)
        check_against(matrix, design, rng, 2, 5, 30)


@pytest.mark.parametrize("name", DESIGNS)
def test_single_row_and_feature(rng, name):
    X = np.array([[0.25]])
    check_against(explicit(name, X), DESIGNS[name](X), rng, 1, 0, 1)


@pytest.mark.parametrize("name", DESIGNS)
def test_input_is_not_written(rng, name):
    X = make_table(rng, N_ROWS, N_FEATURES)
    before = X.copy()
    design = DESIGNS[name](X)
    design.keep(np.array([1, 2]))
    check_against(explicit(name, X)[:, [1, 2]], design, rng, 1, 0, N_ROWS)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("name", ["float64", "float32", "csr", "binned"])
def test_threads_change_no_bit(rng, name, with_threads):
    """Large enough to be shared out, in several chunks of rows and an odd number of features."""
    X = make_table(rng, 60_001, 19)
    design = DESIGNS[name](X)
    beta, intercept = rng.standard_normal((2, 19, design.n_coefficients)), rng.standard_normal(2)
    residual = rng.standard_normal((2, 60_001))
    block = design.block(0, 60_001)
    for compute in (lambda: block.response(beta, intercept), lambda: block.gradient(residual)):
        one, two = with_threads(compute)
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("name", ["float64", "float32", "csr", "binned"])
def test_shared_out_or_not_agrees_bit_for_bit(rng, name, monkeypatch):
    X = make_table(rng, 700, N_FEATURES)
    beta = rng.standard_normal((2, N_FEATURES, N_BINS + 1 if name == "binned" else 1))
    residual = rng.standard_normal((2, 700))
    results = []
    for threshold in (0, 1 << 60):
        for module in (dense, sparse_module, binned):
            monkeypatch.setattr(module, "TASK_VISITS", threshold)
        block = DESIGNS[name](X).block(0, 700)
        results.append((block.response(beta, np.ones(2)), block.gradient(residual)))
    for serial, parallel in zip(*results, strict=True):
        np.testing.assert_array_equal(serial, parallel)


def test_columns_leave_without_copying_until_most_are_gone(rng):
    values = rng.standard_normal((16, 3))
    columns = KeptColumns(values)
    columns.keep(np.arange(1, 16, 2))
    assert columns.values is values
    np.testing.assert_array_equal(columns.values[columns.kept], values[1::2])
    columns.keep(np.array([0, 2, 3, 5]))  # 1, 5, 7 and 11: a quarter is left
    assert len(columns.values) == 4
    np.testing.assert_array_equal(columns.values[columns.kept], values[[1, 5, 7, 11]])


@pytest.mark.parametrize("name", DESIGNS)
def test_value_gradient_and_hessian_are_those_of_the_matrix(rng, name):
    X = make_table(rng, N_ROWS, N_FEATURES)
    matrix, design = explicit(name, X), DESIGNS[name](X)
    loss = Logistic(rng.choice([-1.0, 1.0], (2, N_ROWS)), rng.uniform(0.5, 2, N_ROWS))
    beta = rng.standard_normal((2, N_FEATURES, design.n_coefficients))
    intercept = rng.standard_normal(2)
    for start, stop in ((0, N_ROWS), (3, 9)):
        rows = matrix[start:stop]
        response = np.einsum("ijk,ojk->oi", rows, beta) + intercept[:, None]
        residual = loss.derivative(response, start, stop)
        value, gradient, of_intercept = design.value_and_gradient(loss, beta, intercept, start, stop)
        tolerance = {"rtol": 1e-4, "atol": 1e-5}  # of float32
        np.testing.assert_allclose(value, loss.value(response, start, stop), **tolerance)
        assert design.value(loss, beta, intercept, start, stop) == pytest.approx(value, rel=1e-9)
        np.testing.assert_allclose(gradient, np.einsum("oi,ijk->ojk", residual, rows), **tolerance)
        np.testing.assert_allclose(of_intercept, residual.sum(axis=1), **tolerance)
        bent = loss.hessian_product(response, start, stop)
        product, of_intercept = design.hessian(loss, start, stop)(beta, intercept)
        np.testing.assert_allclose(product, np.einsum("oi,ijk->ojk", bent, rows), **tolerance)
        np.testing.assert_allclose(of_intercept, bent.sum(axis=1), **tolerance)


@pytest.mark.parametrize("name", DESIGNS)
def test_models_respond_as_their_design(rng, name):
    X = make_table(rng, N_ROWS, N_FEATURES)
    design, kept = DESIGNS[name](X), np.array([1, 2, 4])
    design.keep(kept)
    beta, intercept = rng.standard_normal((2, 3, design.n_coefficients)), rng.standard_normal(2)
    model = design.to_model(kept, beta, intercept)
    table = make_codes(X).T if name == "binned" else X
    expected = design.block(0, N_ROWS).response(beta, intercept)
    np.testing.assert_allclose(model.respond(table).T, expected, rtol=1e-5, atol=1e-5)
