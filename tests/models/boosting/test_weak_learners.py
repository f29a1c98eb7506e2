import naive
import numpy as np
import pytest
from scipy import sparse

from annealed.models.boosting.weak_learners import ConstantLearners, LinearLearners


def weighted_error(w, z, f):
    return w @ (z - f) ** 2


@pytest.fixture
def problem(rng):
    """Rows beyond one block of the kernels, columns beyond one chunk."""
    X = rng.standard_normal((2100, 70)) * rng.uniform(0.1, 10, 70) + rng.uniform(-5, 5, 70)
    X[:, 3] = 2.5
    return X, rng.uniform(0.01, 1, 2100), rng.standard_normal(2100)


def test_linear_gains_are_drops_of_the_error_of_the_best_line(problem):
    X, w, z = problem
    constant = weighted_error(w, z, w @ z / w.sum())
    features = np.array([0, 3, 5, 69])
    gains = LinearLearners(X, 1).gains(w, w * z, features)
    for gain, j in zip(gains, features, strict=True):
        a, b = naive.weighted_line(X[:, j], w, z)
        # Values are kept as float32.
        assert gain == pytest.approx(constant - weighted_error(w, z, a + b * X[:, j]), rel=1e-4, abs=1e-6)
    assert gains[1] == 0


def test_linear_fit_is_the_weighted_line(problem):
    X, w, z = problem
    learners = LinearLearners(X, 2)
    parameters = learners.fit(7, w, w * z)
    learners.add(1, 7, parameters)
    expected = naive.weighted_line(X[:, 7], w, z)
    np.testing.assert_allclose([learners.intercept[1], learners.coef[1, 7]], expected, rtol=1e-4)
    np.testing.assert_allclose(
        learners.response(7, parameters), expected[0] + expected[1] * X[:, 7], rtol=1e-3, atol=1e-5
    )
    assert learners.coef[0].sum() == 0


def test_line_on_a_constant_variable_is_the_mean(problem):
    X, w, z = problem
    learners = LinearLearners(X, 1)
    np.testing.assert_allclose(learners.response(3, learners.fit(3, w, w * z)), w @ z / w.sum())


def test_constant_gains_are_drops_of_the_error_of_the_bin_means(problem):
    X, w, z = problem
    learners = ConstantLearners(X, 1, 8)
    features = np.array([0, 3, 5, 69])
    gains = learners.gains(w, w * z, features)
    constant = weighted_error(w, z, w @ z / w.sum())
    for gain, j in zip(gains, features, strict=True):
        bins = np.sum(X[:, j, None] > learners.thresholds[j], axis=1)
        means = np.array([np.average(z[bins == b], weights=w[bins == b]) for b in bins])
        assert gain == pytest.approx(constant - weighted_error(w, z, means), abs=1e-9)
        np.testing.assert_allclose(learners.response(j, learners.fit(j, w, w * z)), means)


def test_empty_bins_answer_zero():
    learners = ConstantLearners(np.array([[0.0], [1.0], [8.0]]), 1, 8)
    table = learners.fit(0, np.ones(3), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(table, [1.5, 0, 0, 0, 0, 0, 0, 3.0])


def test_added_tables_sum_up(rng):
    learners = ConstantLearners(rng.standard_normal((20, 3)), 2, 4)
    learners.add(0, 1, np.arange(4.0))
    learners.add(0, 1, np.ones(4))
    assert list(learners.tables) == [1]
    np.testing.assert_array_equal(learners.tables[1], [[1, 2, 3, 4], [0, 0, 0, 0]])


@pytest.mark.parametrize("make", [lambda X: LinearLearners(X, 1), lambda X: ConstantLearners(X, 1, 5)])
def test_sparse_equals_dense(rng, make):
    X = rng.standard_normal((50, 300)) * (rng.random((50, 300)) < 0.1)
    w, wz, features = rng.random(50), rng.standard_normal(50), np.arange(300)
    dense, packed = (make(kind).gains(w, wz, features) for kind in (X, sparse.csr_array(X)))
    np.testing.assert_array_equal(dense, packed)
