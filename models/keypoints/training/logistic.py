"""Logistic regression with signs: of few terms whose direction is known, on few examples."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

FEWEST = 5
"""Examples of either class."""

_PENALTY = 1.0
_LEAST_SCALE = 0.3  # of a term: what hardly varies in the examples must not decide about others


def fit_logistic(terms: np.ndarray, labels: np.ndarray, signs: np.ndarray) -> tuple[float, np.ndarray] | None:
    """Return the intercept and factors with these signs (0: either), None with too few examples of a class.

    Parameters
    ----------
    terms : ndarray of shape (n, n_terms), float64
    labels : ndarray of shape (n,), int
        1 and 0.
    signs : ndarray of shape (n_terms,), int
    """
    if min(np.sum(labels == 1), np.sum(labels == 0)) < FEWEST:
        return None
    mean, scale = terms.mean(axis=0), np.maximum(terms.std(axis=0), _LEAST_SCALE)
    design = np.column_stack([np.ones(len(terms)), (terms - mean) / scale])
    side = np.where(labels == 1, 1.0, -1.0)
    strength = np.r_[0.0, np.full(terms.shape[1], 1 / _PENALTY)]

    def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
        margin = side * (design @ x)
        value = np.logaddexp(0, -margin).sum() + 0.5 * strength @ x**2
        return value, design.T @ (-side * expit(-margin)) + strength * x

    bounds = [(None, None), *(((None, 0.0), (None, None), (0.0, None))[1 + int(sign)] for sign in signs)]
    found = minimize(objective, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds)
    weights = found.x[1:] / scale
    return float(found.x[0] - weights @ mean), weights
