"""Searches over sets: all of them against a naive twin, annealing on scores that are known."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_score

from annealed.features.errors import DataError, ParameterError
from annealed.models.selection import WrapperSelector
from annealed.models.selection.ranked import standardized
from annealed.models.selection.wrappers import anneal_subset


def test_exhaustive_search_is_as_good_as_every_set(rng):
    X = rng.standard_normal((40, 6))
    y = X[:, 1] * 0.5 + X[:, 4] + rng.standard_normal(40)
    folds = KFold(3, shuffle=True, random_state=0)
    Z = standardized(X)
    scores = {
        subset: cross_val_score(Ridge(), Z[:, subset], y, cv=folds).mean()
        for subset in combinations(range(6), 3)
    }
    selector = WrapperSelector(3, search="exhaustive", task="regression").fit(X, y)
    assert tuple(selector.get_support(indices=True).tolist()) == max(scores, key=scores.get)


def test_exhaustive_search_sees_features_that_matter_only_together(rng):
    """Neither of two features says anything alone; their difference is the target."""
    a, noise = rng.standard_normal((2, 300))
    X = np.c_[rng.standard_normal((300, 3)), a + 0.1 * noise, a]
    selector = WrapperSelector(2, search="exhaustive", task="regression").fit(X, noise)
    assert selector.get_support(indices=True).tolist() == [3, 4]


def test_exhaustive_search_refuses_too_many_sets(rng):
    X = rng.standard_normal((20, 60))
    with pytest.raises(ParameterError, match="5461512 sets; at most 100000"):
        WrapperSelector(5, search="exhaustive").fit(X, X[:, 0] > 0)


def test_annealing_leaves_a_local_optimum():
    """The best single exchange from {0, 1} is worse than it; {2, 3} is better than both."""
    scores = {(0, 1): 0.50, (2, 3): 0.60}

    def judge(features):
        return scores.get(tuple(sorted(features.tolist())), 0.49)

    found = [anneal_subset(judge, 4, 2, 200, np.random.RandomState(seed)).tolist() for seed in range(10)]
    assert found == [[2, 3]] * 10


def test_annealing_returns_the_best_set_it_saw():
    seen = {}

    def judge(features):
        key = tuple(sorted(features.tolist()))
        seen[key] = np.sin(np.sum(features * features))
        return seen[key]

    best = anneal_subset(judge, 12, 3, 40, np.random.RandomState(0))
    assert tuple(best.tolist()) == max(seen, key=seen.get)


def test_a_class_of_one_sample_cannot_be_folded(rng):
    X = rng.standard_normal((10, 4))
    with pytest.raises(DataError, match="folds need two samples of each class, the smallest class has 1"):
        WrapperSelector(2, search="forward").fit(X, np.arange(10) == 0)
