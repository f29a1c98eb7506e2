"""Wrappers: sets of features are judged by a model's cross-validated score on them."""

from collections.abc import Callable
from itertools import combinations, islice
from math import comb

import numpy as np
from sklearn import config_context
from sklearn.feature_selection import RFE, SequentialFeatureSelector
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.utils import check_random_state

from ...features.errors import DataError, ParameterError
from .ranked import RankedSelector, standardized

MAX_SUBSETS = 100_000
SEARCHES = ("forward", "backward", "exhaustive", "simulated-annealing")
Judge = Callable[[np.ndarray], float]


class WrapperSelector(RankedSelector):
    """Select the k features on which a ridge model does best.

    Parameters
    ----------
    k : int
    search : {"forward", "backward", "exhaustive", "simulated-annealing"}
        Adding the best feature one at a time (scikit-learn's `SequentialFeatureSelector`), dropping a
        tenth of the features with the smallest coefficients at a time (`RFE`), all sets of k features (at
        most 100,000), or simulated annealing that exchanges one feature at a time.
    task : {"auto", "classification", "regression"}
    n_iter : int
        Sets that simulated annealing looks at.
    cv : int
        Folds.
    random_state : int, RandomState or None

    Attributes
    ----------
    support_, ranking_, order_, n_features_in_, feature_names_in_
        See `RankedSelector`. Selected features are in the order of the table except with "backward".
    """

    def __init__(self, k=10, *, search="backward", task="auto", n_iter=200, cv=3, random_state=0):
        self.k = k
        self.search = search
        self.task = task
        self.n_iter = n_iter
        self.cv = cv
        self.random_state = random_state

    def _takes_weights(self):
        return self.search == "backward"

    def _order(self, X, y, classes, k, weight):
        if self.search not in SEARCHES:
            raise ParameterError(f"search must be one of {SEARCHES}, got {self.search!r}")
        X = standardized(X, weight)
        model = RidgeClassifier() if classes else Ridge()
        if k == X.shape[1]:
            return np.arange(k)
        if self.search == "backward":
            search = RFE(model, n_features_to_select=k, step=0.1)
            with config_context(enable_metadata_routing=False):  # the weights are the model's
                search.fit(X, y, **({} if weight is None else {"sample_weight": weight}))
            return np.argsort(search.ranking_, kind="stable")
        folds = self._folds(y, classes)
        if self.search == "forward":
            chosen = SequentialFeatureSelector(model, n_features_to_select=k, cv=folds).fit(X, y)
            return chosen.get_support(indices=True)

        def judge(features: np.ndarray) -> float:
            return float(cross_val_score(model, X[:, features], y, cv=folds).mean())

        if self.search == "exhaustive":
            return _best_subset(judge, X.shape[1], k)
        return anneal_subset(judge, X.shape[1], k, self.n_iter, check_random_state(self.random_state))

    def _folds(self, y: np.ndarray, classes: bool):
        smallest = int(np.bincount(y).min()) if classes else len(y)
        n_folds = min(self.cv, smallest)
        if n_folds < 2:
            raise DataError(
                f"{self.cv} folds need two samples of each class, the smallest class has {smallest}"
            )
        return (StratifiedKFold if classes else KFold)(n_folds, shuffle=True, random_state=0)


def _best_subset(judge: Judge, n_features: int, k: int) -> np.ndarray:
    """Return the best of all sets of k features; ties by order."""
    count = comb(n_features, k)
    if count > MAX_SUBSETS:
        raise ParameterError(
            f"an exhaustive search of k = {k} among {n_features} features has {count} sets; "
            f"at most {MAX_SUBSETS} are accepted"
        )
    subsets = (np.array(subset) for subset in islice(combinations(range(n_features), k), MAX_SUBSETS))
    return max(subsets, key=judge)


def anneal_subset(
    judge: Judge, n_features: int, k: int, n_iter: int, rng: np.random.RandomState
) -> np.ndarray:
    """Exchange features; a worse set is accepted with probability exp(change / temperature).

    The temperature falls from 0.05 (in units of the score) to a hundredth of that. The best set seen
    is returned.
    """
    current = rng.permutation(n_features)
    score = judge(current[:k])
    best, best_score = np.sort(current[:k]), score
    for temperature in np.geomspace(0.05, 0.0005, max(n_iter, 1)):
        inside, outside = rng.randint(k), rng.randint(k, n_features)
        proposal = current.copy()
        proposal[[inside, outside]] = proposal[[outside, inside]]
        found = judge(proposal[:k])
        if found >= score or rng.rand() < np.exp((found - score) / temperature):
            current, score = proposal, found
        if score > best_score:
            best, best_score = np.sort(current[:k]), score
    return best
