"""The share of a target that columns explain, on targets made with a known one."""

import numpy as np
import pytest
from scipy import sparse

from annealed.models import signal_share as module


def signal_share(X, targets, rng):
    return module.signal_share(X, targets, rng)[0]


def target(rng, X, share):
    linear = X @ rng.standard_normal(X.shape[1])
    noise = rng.standard_normal(len(X))
    return np.sqrt(share) * linear / linear.std() + np.sqrt(1 - share) * noise / noise.std()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("n_features", [40, 400])
def test_the_share_is_found(rng, share, n_features):
    found = []
    for _ in range(12):
        X = rng.standard_normal((250, n_features))
        found.append(signal_share(X, target(rng, X, share)[None], rng))
    assert np.mean(found) == pytest.approx(share, abs=0.12)


def test_signs_of_a_linear_function_have_two_parts_in_pi(rng):
    found = []
    for _ in range(12):
        X = rng.standard_normal((250, 100))
        found.append(signal_share(X, np.sign(X @ rng.standard_normal(100))[None], rng))
    assert np.mean(found) == pytest.approx(2 / np.pi, abs=0.08)


def test_rows_and_columns_beyond_the_limits_are_drawn(rng):
    X = rng.standard_normal((600, 3000))
    y = target(rng, X, 0.9)
    share = signal_share(X, y[None], np.random.default_rng(1))
    assert share == signal_share(X, y[None], np.random.default_rng(1))
    assert 0.01 <= share <= 0.99


def test_sparse_and_dense_columns_agree(rng):
    X = rng.standard_normal((80, 30)) * (rng.random((80, 30)) < 0.3)
    y = X @ rng.standard_normal(30)
    dense = signal_share(X, y[None], np.random.default_rng(0))
    assert signal_share(sparse.csr_array(X), y[None], np.random.default_rng(0)) == dense


def test_constant_columns_and_targets_do_not_count(rng):
    X = rng.standard_normal((80, 30))
    y = X @ rng.standard_normal(30)
    widened = np.hstack([X, np.full((80, 5), 3.0)])
    share = signal_share(X, y[None], rng)
    assert signal_share(widened, np.stack([y, np.ones(80)]), rng) == share
    assert signal_share(np.ones((80, 5)), y[None], rng) == 0.01
    assert signal_share(X, np.ones((1, 80)), rng) == 0.01


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_repeated_samples_count_once(rng, make):
    X = rng.standard_normal((70, 30))
    y = np.sign(target(rng, X, 0.5))
    repeated = rng.permutation(np.repeat(np.arange(70), rng.integers(1, 4, 70)))
    once = module.signal_share(make(X), y[None], np.random.default_rng(0))
    often = module.signal_share(make(X[repeated]), y[None, repeated], np.random.default_rng(0))
    assert often == once
    assert once[1] == 70


def test_huge_and_tiny_columns_are_scaled(rng):
    X = rng.standard_normal((60, 20))
    y = target(rng, X, 0.5)[None]
    scale = 10.0 ** np.linspace(-300, 300, 20)
    assert signal_share(X * scale, y, rng) == signal_share(X, y, rng)
