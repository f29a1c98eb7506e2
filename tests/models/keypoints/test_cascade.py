import numpy as np
import pytest

from annealed.features.errors import ParameterError
from annealed.models.keypoints.cascade import calibrate, cascade_order, rejection_thresholds


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


def naive_order(positives, negatives, n):
    """The greedy choice written as the docstring says it."""
    left, order = list(range(len(positives))), []
    while left and len(order) < n:

        def merit(j):
            p, q = positives[[*order, j]].sum(axis=0), negatives[[*order, j]].sum(axis=0)
            return (p.mean() - q.mean()) / np.sqrt(p.var() + q.var())

        order.append(max(left, key=merit))
        left.remove(order[-1])
    return order


@pytest.mark.parametrize("seed", range(3))
def test_cascade_order_agrees_with_a_naive_twin(seed):
    rng = np.random.default_rng(seed)
    k = 12
    positives = (rng.normal(size=(k, 60)) + rng.normal(size=(k, 1))).astype(np.float32)
    negatives = rng.normal(size=(k, 80)).astype(np.float32)
    assert cascade_order(positives, negatives).tolist() == naive_order(positives, negatives, k)


def test_cascade_order_is_a_permutation_beyond_the_greedy_stages():
    rng = np.random.default_rng(0)
    order = cascade_order(rng.normal(size=(300, 50)), rng.normal(size=(300, 50)))
    assert sorted(order.tolist()) == list(range(300))


def test_cascade_order_of_features_without_spread():
    order = cascade_order(np.ones((3, 5), np.float32), np.zeros((3, 5), np.float32))
    assert sorted(order.tolist()) == [0, 1, 2]


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


def test_rejection_thresholds_spend_their_loss_early():
    rng = np.random.default_rng(0)
    tables = rng.normal(size=(100, 256)).astype(np.float32)
    codes = rng.integers(0, 256, size=(100, 1000), dtype=np.uint8)
    thresholds = rejection_thresholds(tables, codes, 0.0, 0.1)
    passed = np.cumprod(partial_sums(tables, codes, 0.0) >= thresholds[:, None], axis=0).mean(axis=1)
    assert passed[63] == pytest.approx(0.9)
    assert passed[-1] == passed[63]


def test_rejection_thresholds_with_ties_lose_nobody_more():
    tables = np.ones((2, 256), dtype=np.float32)
    codes = np.zeros((2, 10), dtype=np.uint8)
    assert rejection_thresholds(tables, codes, 0.0, 0.9).tolist() == [1.0, 2.0]


def test_rejection_thresholds_without_examples_reject_nothing(classifier):
    assert np.isneginf(rejection_thresholds(classifier[0], np.empty((40, 0), np.uint8), 0.0, 0.1)).all()


@pytest.mark.parametrize("loss", [-0.1, 1.0, np.nan])
def test_rejection_thresholds_bad_loss(classifier, loss):
    with pytest.raises(ParameterError, match="cascade_loss must be"):
        rejection_thresholds(*classifier, 0.0, loss)


def test_calibrate_every_row_lets_through_what_reaches_its_floor(classifier):
    tables, codes = classifier
    sums = partial_sums(tables, codes, 0.0)
    scores = sums[-1]
    floors, rejection = calibrate(tables, codes, scores, 0.0, -5.0, 0.0)
    assert floors[0] == -5
    assert floors[-1] == pytest.approx(np.median(scores))
    for floor, thresholds in zip(floors, rejection, strict=True):
        through = (sums >= thresholds[:, None]).all(axis=0)
        assert through[scores >= floor].all()
    assert (np.diff(rejection, axis=0) >= 0).all()


def test_calibrate_without_positives_rejects_nothing(classifier):
    floors, rejection = calibrate(classifier[0], np.empty((40, 0), np.uint8), np.empty(0), 0.0, -1.0, 0.0)
    assert floors.tolist() == [-1.0]
    assert np.isneginf(rejection).all()
