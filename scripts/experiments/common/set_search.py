"""A baseline of the paper that no package has: simulated annealing over sets of variables."""

from collections.abc import Callable

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import LinearSVC

from annealed.models.selection.wrappers import anneal_subset

N_SETS, N_RESTARTS = 200, 10
"""Of simulated annealing (section 3.1.4)."""


def anneal_ols(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Return the support with the best two-fold R2 of least squares that annealing met."""
    order = np.random.default_rng(seed).permutation(len(X))
    centred, target = X - X.mean(axis=0), y - y.mean()
    # sums over each half: a set is judged by small systems, however many rows there are
    halves = [
        (centred[part].T @ centred[part], centred[part].T @ target[part]) for part in np.array_split(order, 2)
    ]
    total = float(target @ target)

    def judge(features: np.ndarray) -> float:
        gain = 0.0
        for (gram, moment), (other_gram, other_moment) in (halves, halves[::-1]):
            square = np.ix_(features, features)
            w = np.linalg.lstsq(gram[square], moment[features], rcond=None)[0]
            gain += 2 * w @ other_moment[features] - w @ other_gram[square] @ w
        return gain / total

    return _search(judge, X.shape[1], k, seed)


def anneal_svm(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Return the support with the best two-fold accuracy of a linear SVM that annealing met."""
    folds = StratifiedKFold(2, shuffle=True, random_state=seed)

    def judge(features: np.ndarray) -> float:
        model = LinearSVC(dual=False, tol=1e-2, random_state=0)
        return float(cross_val_score(model, X[:, features], y, cv=folds).mean())

    return _search(judge, X.shape[1], k, seed)


def _search(judge: Callable[[np.ndarray], float], n_features: int, k: int, seed: int) -> np.ndarray:
    support = np.zeros(n_features, dtype=bool)
    if k >= n_features:
        return ~support
    rng = np.random.RandomState(seed)
    found = [anneal_subset(judge, n_features, k, N_SETS, rng) for _ in range(N_RESTARTS)]
    support[max(found, key=judge)] = True
    return support
