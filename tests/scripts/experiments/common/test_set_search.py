"""Annealing over sets: a twin of its judge, planted variables."""

import numpy as np
import pytest


@pytest.fixture
def planted(rng):
    X = rng.standard_normal((200, 15))
    return X, 2.0 + 3 * X[:, 4] - 2 * X[:, 9]


def test_sets_are_judged_as_by_two_fold_least_squares(planted, monkeypatch):
    """Naive twin: fit on one half, predict the other."""
    from common import set_search

    X, y = planted[0], planted[1] + planted[0][:, 0] ** 2
    judges = []
    monkeypatch.setattr(set_search, "_search", lambda judge, *_: judges.append(judge))
    set_search.anneal_ols(X, y, 2, seed=3)
    order = np.random.default_rng(3).permutation(200)
    centred, target = X - X.mean(axis=0), y - y.mean()
    error = 0.0
    for fit, test in ((order[:100], order[100:]), (order[100:], order[:100])):
        w = np.linalg.lstsq(centred[fit][:, [4, 2]], target[fit], rcond=None)[0]
        error += np.sum((target[test] - centred[test][:, [4, 2]] @ w) ** 2)
    assert judges[0](np.array([4, 2])) == pytest.approx(1 - error / (target @ target))


@pytest.mark.parametrize("k", [2, 15, 20])
def test_annealing_finds_the_planted_variables(planted, k):
    from common.set_search import anneal_ols

    support = anneal_ols(*planted, k, seed=0)
    assert support.sum() == min(k, 15)
    assert support[[4, 9]].all()


def test_annealing_with_a_classifier_finds_the_planted_variables(planted, monkeypatch):
    from common import set_search

    monkeypatch.setattr(set_search, "N_RESTARTS", 1)
    X, f = planted
    assert set_search.anneal_svm(X, (f > 2).astype(int), 2, seed=0)[[4, 9]].all()
