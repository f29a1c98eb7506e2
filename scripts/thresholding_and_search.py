"""Two baselines of the paper that no package has: quantile TISP, and simulated annealing over sets."""

from collections.abc import Callable

import numpy as np
from scipy.special import expit
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import LinearSVC

from annealed.models.selection.ranked import descending
from annealed.models.selection.wrappers import anneal_subset

N_THRESHOLDED, N_CONVERGING = 10, 500
"""Iterations with thresholding and, on the selected variables, without (section 3.1.3)."""

N_SETS, N_RESTARTS = 200, 10
"""Of simulated annealing (section 3.1.4)."""

CURVATURE = {"logistic": 0.25, "squared": 1.0}


def quantile_tisp(X: np.ndarray, y: np.ndarray, k: int, family: str) -> tuple[np.ndarray, float]:
    """Return coefficients, at most k of which are not zero, and the intercept.

    Each iteration is a gradient step of the loss, after which all but the k largest coefficients become
    zero; the intercept is never thresholded. The step fits the curvature on the variables kept so far: one
    that fits all of them is so short where they are correlated that ten iterations exchange none.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        0 or 1 ("logistic"), or numbers ("squared").
    k : int
    family : {"logistic", "squared"}

    References
    ----------
    Y. She. An Iterative Algorithm for Fitting Nonconvex Penalized Generalized Linear Models with Grouped
    Predictors. Computational Statistics and Data Analysis 56, 2012.
    """
    mean = expit if family == "logistic" else np.asarray
    w, b = np.zeros(X.shape[1]), 0.0
    kept = descending(np.abs(X.T @ (y - y.mean())))[:k]
    for iteration in range(N_THRESHOLDED + N_CONVERGING):
        if iteration <= N_THRESHOLDED:
            Z = X[:, kept]
            # the constant column adds at most n to the largest eigenvalue
            step = 1 / (CURVATURE[family] * (largest_eigenvalue(Z) + len(X)))
        residual = y - mean(Z @ w[kept] + b)
        b += step * residual.sum()
        if iteration < N_THRESHOLDED:
            w += step * (X.T @ residual)
            w[descending(np.abs(w))[k:]] = 0.0
            kept = np.flatnonzero(w)
        else:
            w[kept] += step * (Z.T @ residual)
    return w, float(b)


def largest_eigenvalue(X: np.ndarray) -> float:
    """Return the largest eigenvalue of X'X, found from the smaller of X'X and XX'."""
    smaller = X @ X.T if len(X) < X.shape[1] else X.T @ X
    return float(np.linalg.eigvalsh(smaller)[-1])


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
