import numpy as np
import pytest

from annealed.features.errors import ParameterError
from annealed.models.keypoints.cascade import rejection_thresholds, spread_order


@pytest.fixture
def classifier():
    """Tables of 40 features and the codes of 500 examples."""
    rng = np.random.default_rng(0)
    tables = rng.normal(size=(40, 256)).astype(np.float32)
    return tables, rng.integers(0, 256, size=(40, 500), dtype=np.uint8)


def partial_sums(tables, codes, intercept):
    """All partial sums, added one feature at a time, shape (k, n)."""
    sums = np.empty(codes.shape, dtype=np.float32)
    total = np.full(codes.shape[1], intercept, dtype=np.float32)
    for t in range(len(tables)):
        total = total + tables[t][codes[t]]
        sums[t] = total
    return sums


def test_spread_order_largest_first():
    tables = np.zeros((3, 256), dtype=np.float32)
    tables[0, 1], tables[1, 1], tables[2, 1] = 1, -5, 2
    codes = np.tile(np.array([0, 1], dtype=np.uint8), (3, 1))
    assert spread_order(tables, codes).tolist() == [1, 2, 0]


def test_spread_order_counts_only_codes_that_occur():
    tables = np.zeros((2, 256), dtype=np.float32)
    tables[0, 200], tables[1, 1] = 100, 1
    codes = np.tile(np.array([0, 1], dtype=np.uint8), (2, 1))
    assert spread_order(tables, codes).tolist() == [1, 0]


def test_rejection_thresholds_without_loss_are_the_lowest_partial_sums(classifier):
    tables, codes = classifier
    found = rejection_thresholds(tables, codes, 0.25, 0.0)
    np.testing.assert_array_equal(found, partial_sums(tables, codes, 0.25).min(axis=1))


@pytest.mark.parametrize("loss", [0.01, 0.1, 0.5])
def test_rejection_thresholds_keep_to_the_loss_at_every_stage(classifier, loss):
    tables, codes = classifier
    thresholds = rejection_thresholds(tables, codes, -1.0, loss)
    passed = np.cumprod(partial_sums(tables, codes, -1.0) >= thresholds[:, None], axis=0)
    lost = 1 - passed.mean(axis=1)
    assert (lost <= loss * np.arange(1, 41) / 40 + 1e-12).all()
    assert lost[-1] >= loss - 1 / 500


def test_rejection_thresholds_with_ties_lose_nobody_more():
    tables = np.ones((2, 256), dtype=np.float32)
    codes = np.zeros((2, 10), dtype=np.uint8)
    assert rejection_thresholds(tables, codes, 0.0, 0.9).tolist() == [1.0, 2.0]


def test_rejection_thresholds_without_positives_reject_nothing(classifier):
    assert np.isneginf(rejection_thresholds(classifier[0], np.empty((40, 0), np.uint8), 0.0, 0.1)).all()


@pytest.mark.parametrize("loss", [-0.1, 1.0, np.nan])
def test_rejection_thresholds_bad_loss(classifier, loss):
    with pytest.raises(ParameterError, match="cascade_loss must be"):
        rejection_thresholds(*classifier, 0.0, loss)
