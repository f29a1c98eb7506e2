import numpy as np
import pytest
from scipy.stats import kstest

from annealed.datasets.tables.simulated import (
    EquicorrelatedRows,
    _normal_quantiles,
    make_correlated_classification,
    make_correlated_regression,
    make_equicorrelated_classification,
    relevant_variables,
)
from annealed.features.errors import ParameterError

MASK = 2**64 - 1


def naive_mix(x):
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def naive_equicorrelated(seed, row, column, alpha):
    """One number of the data set in exact integer arithmetic."""
    golden = 0x9E3779B97F4A7C15
    quantiles = _normal_quantiles().astype(float)
    key = naive_mix(naive_mix(seed * golden + 1 & MASK) + (row + 1) * golden & MASK)

    def normal(position):
        bits = naive_mix(key + (position + 1) * golden & MASK)
        return (quantiles[bits >> 48] + quantiles[bits & 0xFFFF]) / np.sqrt(2)

    return alpha * normal(0) + normal(column + 1)


def test_relevant_variables_are_every_tenth_from_the_tenth():
    assert relevant_variables(35, 3).nonzero()[0].tolist() == [9, 19, 29]
    assert relevant_variables(30, 3).nonzero()[0].tolist() == [9, 19, 29]


@pytest.mark.parametrize("delta", [0.9, 0.0, -0.5])
def test_correlated_rows_have_the_stated_covariance(delta):
    X, _, _ = make_correlated_classification(20000, 12, k=1, delta=delta, random_state=0)
    i = np.arange(12)
    expected = np.float64(delta) ** np.abs(i[:, None] - i)
    # Standard error of a correlation or variance here is at most sqrt(2 / 20000) = 0.01.
    np.testing.assert_allclose(np.cov(X.T), expected, atol=0.045)


def test_classes_follow_the_sign_of_the_relevant_sum():
    X, y, support = make_correlated_classification(300, 50, k=4, random_state=1)
    assert X.shape == (300, 50)
    np.testing.assert_array_equal(y, X[:, [9, 19, 29, 39]].sum(axis=1) > 0)
    np.testing.assert_array_equal(support.nonzero()[0], [9, 19, 29, 39])


def test_label_noise_makes_half_of_its_share_wrong():
    X, y, support = make_correlated_classification(20000, 30, k=2, label_noise=0.1, random_state=2)
    wrong = y != (X[:, support].sum(axis=1) > 0)
    # 2000 labels are redrawn; half of them, give or take 22, change.
    assert abs(wrong.sum() - 1000) < 100


def test_label_noise_leaves_the_rows_alone():
    clean = make_correlated_classification(200, 30, k=2, random_state=2)
    noisy = make_correlated_classification(200, 30, k=2, label_noise=1.0, random_state=2)
    np.testing.assert_array_equal(clean[0], noisy[0])
    assert 40 < (clean[1] != noisy[1]).sum() < 160


def test_regression_target_is_the_relevant_sum_plus_noise():
    X, y, support = make_correlated_regression(20000, 40, k=3, noise=0.5, random_state=3)
    residual = y - X[:, support].sum(axis=1)
    assert residual.std() == pytest.approx(0.5, rel=0.03)
    assert abs(np.corrcoef(residual, X[:, 9])[0, 1]) < 0.04


@pytest.mark.parametrize(
    "make",
    [make_correlated_classification, make_correlated_regression, make_equicorrelated_classification],
)
def test_seed_determines_the_data(make):
    first, again, other = (make(50, 30, k=2, random_state=seed) for seed in (7, 7, 8))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


def test_equicorrelated_block_equals_naive():
    rows = EquicorrelatedRows(10**12, 10**7, 5, alpha=0.5, seed=2**40 + 3)
    start = 10**12 - 3
    columns = [0, 1, 77, 10**7 - 1]
    expected = [[naive_equicorrelated(rows.seed, start + i, j, 0.5) for j in columns] for i in range(3)]
    np.testing.assert_allclose(rows.block(slice(start, None), columns), expected, rtol=1e-5, atol=1e-6)


def test_equicorrelated_blocks_join_to_the_whole():
    X, y, support = make_equicorrelated_classification(57, 40, k=3, random_state=5)
    seed = int(np.random.RandomState(5).randint(np.iinfo(np.int32).max))
    rows = EquicorrelatedRows(57, 40, 3, seed=seed)
    cuts = [slice(0, 20), slice(20, 21), slice(21, 57)]
    np.testing.assert_array_equal(np.vstack([rows.block(cut) for cut in cuts]), X)
    np.testing.assert_array_equal(np.concatenate([rows.labels(cut) for cut in cuts]), y)
    np.testing.assert_array_equal(rows.block(slice(3, 9), [39, 0]), X[3:9, [39, 0]])
    np.testing.assert_array_equal(rows.support, support)
    assert len(rows) == 57


def test_equicorrelated_rows_have_the_stated_correlation():
    X = EquicorrelatedRows(20000, 20, 2, alpha=0.5, seed=1).block(slice(None))
    covariance = np.cov(X.T.astype(float))
    np.testing.assert_allclose(covariance, 0.25 + np.eye(20), atol=0.06)


def test_independent_part_is_normal():
    X = EquicorrelatedRows(300, 200, 2, alpha=0.0, seed=4).block(slice(None))
    assert kstest(X.ravel().astype(float), "norm").pvalue > 0.01


def test_equicorrelated_classes_are_balanced():
    labels = EquicorrelatedRows(4000, 100, 10, seed=9).labels(slice(None))
    assert abs(labels.mean() - 0.5) < 0.05


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_samples": 0}, "n_samples is 0"),
        ({"n_features": 29, "k": 3}, "n_features is 29; with k=3"),
        ({"k": 0}, "k is 0"),
        ({"delta": 1.0}, "delta is 1.0"),
        ({"delta": float("nan")}, "delta is nan"),
        ({"label_noise": 1.5}, "label_noise is 1.5"),
        ({"label_noise": float("nan")}, "label_noise is nan"),
    ],
)
def test_bad_classification_arguments(arguments, message):
    with pytest.raises(ParameterError, match=message):
        make_correlated_classification(**arguments)


def test_bad_regression_noise():
    with pytest.raises(ParameterError, match="noise is -1"):
        make_correlated_regression(10, 30, k=2, noise=-1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": -1}, "seed is -1"),
        ({"alpha": float("inf")}, "alpha is inf"),
        ({"k": 11}, "n_features is 100"),
    ],
)
def test_bad_equicorrelated_arguments(arguments, message):
    with pytest.raises(ParameterError, match=message):
        EquicorrelatedRows(10, 100, **({"k": 2} | arguments))


def test_bad_block_requests():
    rows = EquicorrelatedRows(10, 100, 2)
    with pytest.raises(ParameterError, match="step 2"):
        rows.block(slice(0, 10, 2))
    with pytest.raises(ParameterError, match=r"columns must lie in 0\.\.99"):
        rows.block(slice(0, 10), [3, 100])


def test_empty_blocks():
    rows = EquicorrelatedRows(10, 100, 2)
    assert rows.block(slice(4, 4)).shape == (0, 100)
    assert rows.block(slice(0, 3), []).shape == (3, 0)
