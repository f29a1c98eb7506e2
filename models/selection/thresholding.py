"""Quantile TISP: gradient steps, each followed by setting all but the k largest coefficients to zero.

References
----------
Y. She. An Iterative Algorithm for Fitting Nonconvex Penalized Generalized Linear Models with Grouped
Predictors. Computational Statistics and Data Analysis 56, 2012. doi:10.1016/j.csda.2011.11.013

T. Blumensath, M. Davies. Normalized Iterative Hard Thresholding: Guaranteed Stability and Performance. IEEE
Journal of Selected Topics in Signal Processing 4(2), 2010 (the length of the steps).
doi:10.1109/JSTSP.2010.2042411
"""

import numpy as np
from scipy.special import expit

from ...features.errors import ParameterError
from .ranked import descending

FAMILIES = ("squared", "logistic")
MAX_HALVINGS = 30


def quantile_tisp(
    X: np.ndarray,
    Y: np.ndarray,
    k: int,
    *,
    family: str = "squared",
    n_thresholded: int = 10,
    n_converging: int = 500,
) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients with at most k rows that are not zero, and the intercepts.

    A step is as long as is best along the gradient of the k features kept so far, and is halved until the
    loss falls after thresholding, too. Steps that fit the curvature of all features, the usual choice, are
    so short where features are correlated that ten of them exchange none.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float64
        Standardised: thresholding compares coefficients.
    Y : ndarray of shape (n_samples, n_outputs), float64
        0 or 1 ("logistic"), or numbers ("squared").
    k : int
    family : {"squared", "logistic"}
    n_thresholded : int
        Steps with thresholding at most; they end before where none lowers the loss.
    n_converging : int
        Steps at most that then fit the model on the features kept.

    Returns
    -------
    W : ndarray of shape (n_features, n_outputs), float64
        Rows are thresholded by their norm.
    intercept : ndarray of shape (n_outputs,), float64
        Never thresholded.
    """
    if family not in FAMILIES:
        raise ParameterError(f"family must be one of {FAMILIES}, got {family!r}")
    n_outputs = Y.shape[1]
    nothing = np.zeros((X.shape[1], n_outputs))
    likely = _largest(X.T @ (Y - Y.mean(axis=0)), k)
    W, intercept = _descend(X, Y, nothing, np.zeros(n_outputs), likely, k, family, n_thresholded)
    kept = np.flatnonzero(W.any(axis=1))
    every = np.arange(len(kept))
    W[kept], intercept = _descend(X[:, kept], Y, W[kept], intercept, every, k, family, n_converging)
    return W, intercept


def _descend(X, Y, W, intercept, kept, k: int, family: str, n_steps: int):
    """Take gradient steps with thresholding from a model whose rows outside of `kept` are zero."""
    response = X[:, kept] @ W[kept] + intercept
    for _ in range(n_steps):
        residual, curvature = _residual(response, Y, family)
        gradient, shift = X.T @ residual, residual.sum(axis=0)
        direction = X[:, kept] @ gradient[kept] + shift
        bend = float(np.sum(curvature * direction**2))
        if bend <= 0:
            break
        step = float(np.sum(gradient[kept] ** 2) + np.sum(shift**2)) / bend
        loss = _loss(response, Y, family)
        for _ in range(MAX_HALVINGS):
            moved = W + step * gradient
            chosen = _largest(moved, k)
            found = X[:, chosen] @ moved[chosen] + intercept + step * shift
            if _loss(found, Y, family) < loss:
                break
            step /= 2
        else:
            break
        W = np.zeros_like(W)
        W[chosen], intercept, kept, response = moved[chosen], intercept + step * shift, chosen, found
    return W, intercept


def _largest(W: np.ndarray, k: int) -> np.ndarray:
    """Return the k rows with the largest norms; ties by index."""
    return descending((W**2).sum(axis=1))[:k]


def _residual(response, Y, family: str) -> tuple[np.ndarray, np.ndarray | float]:
    """Return minus the loss's derivative, and its second derivative, for each response."""
    if family == "squared":
        return Y - response, 1.0
    mean = expit(response)
    return Y - mean, mean * (1 - mean)


def _loss(response, Y, family: str) -> float:
    if family == "squared":
        return 0.5 * float(np.sum((Y - response) ** 2))
    return float(np.sum(np.logaddexp(0.0, response) - Y * response))
