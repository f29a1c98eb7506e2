import numpy as np
import pytest
from scipy import sparse

from annealed.models.designs import SparseDesign


def test_unsorted_and_repeated_entries_are_summed():
    matrix = sparse.csr_array(([1.0, 2.0, 4.0, 8.0], [2, 0, 2, 1], [0, 3, 4]), shape=(2, 3))
    beta = np.array([[[1.0], [10.0], [100.0]]])
    response = SparseDesign(matrix).response(beta, np.zeros(1), 0, 2)
    assert response.tolist() == [[2 + 500, 80]]
    assert matrix.nnz == 4  # the input is left alone


def test_rows_and_columns_without_entries(rng):
    X = np.zeros((5, 4))
    X[1, 2] = 3.0
    design = SparseDesign(sparse.csr_array(X))
    beta = rng.standard_normal((1, 4, 1))
    np.testing.assert_array_equal(
        design.response(beta, np.ones(1), 0, 5), [[1, 1 + 3 * beta[0, 2, 0], 1, 1, 1]]
    )
    gradient = design.gradient(np.ones((1, 5)), 0, 5)
    np.testing.assert_array_equal(gradient[0, :, 0], [0, 0, 3, 0])


def test_entries_of_dropped_features_are_removed_once_they_are_half(rng):
    X = rng.uniform(1, 2, (6, 8))
    design = SparseDesign(sparse.csr_array(X))
    design.keep(np.arange(5))
    assert len(design._values) == 48
    design.keep(np.arange(4))
    assert len(design._values) == 24
    np.testing.assert_allclose(design.gradient(np.ones((1, 6)), 0, 6)[0, :, 0], X[:, :4].sum(axis=0))


def test_never_dense():
    """A million by a million: only its three entries are held."""
    matrix = sparse.coo_array(([1.0, 2.0, 3.0], ([0, 5, 999_999], [7, 999_999, 0])), shape=(10**6, 10**6))
    design = SparseDesign(matrix)
    gradient = design.gradient(np.ones((1, 10**6)), 0, 10**6)
    assert gradient[0, [7, 999_999, 0], 0].tolist() == [1.0, 2.0, 3.0]
    assert np.count_nonzero(gradient) == 3


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_index_types(index_type):
    matrix = sparse.csr_array(np.eye(3))
    matrix.indices, matrix.indptr = matrix.indices.astype(index_type), matrix.indptr.astype(index_type)
    response = SparseDesign(matrix).response(np.array([[[1.0], [2.0], [3.0]]]), np.zeros(1), 0, 3)
    assert response.tolist() == [[1, 2, 3]]
