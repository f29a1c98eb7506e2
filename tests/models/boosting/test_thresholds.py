import numpy as np
import pytest
from scipy import sparse

from annealed.models.boosting.thresholds import equal_thresholds, threshold_codes, value_ranges


def naive_codes(X, thresholds):
    return np.array([[np.sum(x > thresholds[j]) for x in X[:, j]] for j in range(X.shape[1])])


def table(rng, n_samples, n_features):
    """Normal columns, one of them constant, one of few values, one with an outlier."""
    X = rng.standard_normal((n_samples, n_features))
    X[:, 0] = 3.7
    X[:, 1] = rng.integers(0, 4, n_samples)
    X[0, 2] = 1e6
    return X


def test_equal_thresholds_cut_the_range_into_equal_parts():
    thresholds = equal_thresholds(np.array([0.0, -2.0]), np.array([4.0, 2.0]), 3)
    np.testing.assert_allclose(thresholds, [[1, 2, 3], [-1, 0, 1]])


@pytest.mark.parametrize("n_thresholds", [1, 2, 15, 64, 255])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_codes_equal_naive(rng, n_thresholds, dtype):
    X = table(rng, 40, 70).astype(dtype)
    thresholds = equal_thresholds(*value_ranges(X), n_thresholds)
    codes = threshold_codes(X, thresholds)
    assert codes.dtype == np.uint8
    np.testing.assert_array_equal(codes, naive_codes(X, thresholds))


def test_values_on_a_threshold_do_not_exceed_it():
    thresholds = equal_thresholds(np.zeros(1), np.full(1, 0.7), 6)
    X = thresholds.T.copy()
    np.testing.assert_array_equal(threshold_codes(X, thresholds)[0], np.arange(6))


def test_unseen_values_get_the_outermost_codes(rng):
    thresholds = equal_thresholds(np.zeros(3), np.ones(3), 4)
    X = np.array([[-5.0, 0.5, 9.0]])
    np.testing.assert_array_equal(threshold_codes(X, thresholds), [[0], [2], [4]])


def test_extreme_ranges_stay_exact():
    X = np.array([[-1.7e308], [0.0], [1.7e308], [1.0]])
    thresholds = equal_thresholds(*value_ranges(X), 9)
    assert np.isfinite(thresholds).all()
    np.testing.assert_array_equal(threshold_codes(X, thresholds), naive_codes(X, thresholds))


def test_sparse_equals_dense(rng):
    X = table(rng, 30, 300) * (rng.random((30, 300)) < 0.2)
    thresholds = equal_thresholds(*value_ranges(X), 12)
    for kind in (sparse.csr_array, sparse.csc_matrix):
        packed = kind(X)
        np.testing.assert_array_equal(value_ranges(packed), value_ranges(X))
        np.testing.assert_array_equal(threshold_codes(packed, thresholds), threshold_codes(X, thresholds))


def test_thresholds_of_a_few_units_in_the_last_place_stay_in_order():
    low = np.array([3.7, 3.7])
    high = np.array([3.7, np.nextafter(3.7, 4)])
    thresholds = equal_thresholds(low, high, 64)
    assert (np.diff(thresholds, axis=1) >= 0).all()
    np.testing.assert_array_equal(threshold_codes(low[None], thresholds), [[0], [0]])
