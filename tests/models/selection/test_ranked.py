"""What the selectors with an order share."""

import numpy as np
import pytest
from scipy import sparse

from annealed.features.errors import DataError
from annealed.models.columns import varying_columns
from annealed.models.selection.ranked import descending, one_hot, standardized


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_varying_columns(make):
    X = np.array([[1.0, 0, 5], [1, 2, 5], [1, 0, 6]])
    assert varying_columns(make(X[:2])).tolist() == [1]
    assert varying_columns(make(X)).tolist() == [1, 2]
    with pytest.raises(DataError, match="every feature is constant"):
        varying_columns(make(X[:1]))


def test_descending_breaks_ties_by_index_and_puts_nan_last():
    assert descending(np.array([1.0, np.nan, 3, 1, -np.inf])).tolist() == [2, 0, 3, 1, 4]


def test_standardized_columns():
    Z = standardized(np.array([[1.0, 0.1], [3.0, 0.1], [5.0, 0.1]]))
    np.testing.assert_allclose(Z[:, 0], [-np.sqrt(1.5), 0, np.sqrt(1.5)])
    np.testing.assert_array_equal(Z[:, 1], 0)


def test_one_hot_of_two_and_three_classes():
    assert one_hot(np.array([0, 1, 0]), True).tolist() == [[-1], [1], [-1]]
    assert one_hot(np.array([0, 2, 1]), True).tolist() == [[1, -1, -1], [-1, -1, 1], [-1, 1, -1]]
