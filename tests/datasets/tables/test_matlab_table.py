import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from annealed.datasets.tables.matlab_table import read_mat
from annealed.features.errors import DataError

X = np.arange(6, dtype=np.uint8).reshape(3, 2)


def saved(tmp_path, **variables):
    savemat(tmp_path / "a.mat", variables)
    return tmp_path / "a.mat"


def test_matrix_and_labels(tmp_path):
    table = read_mat(saved(tmp_path, X=X, Y=np.array([[1], [2], [1]])))
    np.testing.assert_array_equal(table.X, X)
    assert table.X.dtype == np.float64
    assert table.y.tolist() == [1, 2, 1]


def test_targets_that_are_not_whole_stay_as_they_are(tmp_path):
    assert read_mat(saved(tmp_path, X=X, Y=[1.5, 2, 1])).y.tolist() == [1.5, 2, 1]


def test_a_matrix_has_a_column_a_target(tmp_path):
    assert read_mat(saved(tmp_path, X=X, Y=X)).y.tolist() == X.tolist()


def test_samples_may_lie_in_columns(tmp_path):
    path = saved(tmp_path, features=X.T, Label=np.array([[1, 2, 1]]))
    table = read_mat(path, X="features", y="Label", samples_in_columns=True)
    np.testing.assert_array_equal(table.X, X)


def test_sparse_matrices_stay_sparse(tmp_path):
    table = read_mat(saved(tmp_path, X=sparse.csc_array(X.astype(float)), Y=[1, 2, 1]))
    assert sparse.issparse(table.X)
    np.testing.assert_array_equal(table.X.toarray(), X)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"X": X}, "no variable Y; it has X"),
        ({"X": "words", "Y": [1, 2, 1]}, "X must be a matrix of numbers"),
        ({"X": X, "Y": X.T}, r"Y must hold 3 numbers, .* found shape \(2, 3\) of uint8"),
        ({"X": X, "Y": "abc"}, "Y must hold 3 numbers"),
        ({"X": X, "Y": [1, 2]}, "Y must hold 3 numbers"),
    ],
)
def test_bad_content(tmp_path, variables, message):
    path = saved(tmp_path, **variables)
    with pytest.raises(DataError, match=message):
        read_mat(path)


def test_damaged_file(tmp_path):
    path = saved(tmp_path, X=np.random.default_rng(0).random((40, 40)), Y=np.ones(40))
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(DataError, match="not a MATLAB file that can be read"):
        read_mat(path)


def test_other_content(tmp_path):
    (tmp_path / "a.mat").write_text("hello")
    with pytest.raises(DataError, match="not a MATLAB file that can be read"):
        read_mat(tmp_path / "a.mat")


def test_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"absent\.mat: no such file"):
        read_mat(tmp_path / "absent.mat")
