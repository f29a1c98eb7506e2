"""Embedded methods: the penalty of a linear model sets coefficients to zero until k features are left."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import MultiTaskElasticNet
from sklearn.svm import LinearSVC

from ...features.errors import ParameterError
from .ranked import RankedSelector, descending, one_hot, standardized
from .thresholding import quantile_tisp

PENALTIES = ("l1", "elastic-net", "mcp", "scad", "tisp")
N_STRENGTHS = 40
MAX_ITER = 1000
N_THRESHOLDED = 100
SMALLEST = 1e-3  # of the largest strength


class EmbeddedSelector(RankedSelector):
    """Select k features by a penalised linear model.

    Along a path of falling strengths, the first model with at least k features is taken; its k features
    with the largest coefficients (of standardised features) stay.

    Parameters
    ----------
    k : int
    penalty : {"l1", "elastic-net", "mcp", "scad", "tisp"}
        "l1": for classes a linear SVM with squared hinge loss (liblinear), else the lasso. "elastic-net":
        half l1, half squares; classes are regressed on. "mcp", "scad": `pycasso`, one path for each class.
        "tisp": quantile thresholding keeps the k largest after each gradient step of the squared error
        (see `quantile_tisp`).
    task : {"auto", "classification", "regression"}

    Attributes
    ----------
    support_, ranking_, order_, n_features_in_, feature_names_in_
        See `RankedSelector`.
    """

    def __init__(
        self,
        k=10,
        *,
        penalty="l1",
        task="auto",
    ):
        self.k = k
        self.penalty = penalty
        self.task = task

    def _takes_weights(self):
        return self.penalty != "tisp"

    def _order(self, X, y, classes, k, weight):
        if self.penalty not in PENALTIES:
            raise ParameterError(f"penalty must be one of {PENALTIES}, got {self.penalty!r}")
        Z, Y = standardized(X, weight), one_hot(y, classes, weight)
        if self.penalty == "l1" and classes:
            return descending(_path(lambda share: _hinge(Z, y, share, weight), k))
        if weight is None:
            Y = Y - Y.mean(axis=0)
        else:  # a row of the squared error times the root of its weight counts as often as it weighs
            Y = Y - weight @ Y / weight.sum()
            root = np.sqrt(weight * (len(weight) / weight.sum()))[:, None]
            Z, Y = Z * root, Y * root
        if self.penalty == "tisp":
            W, _ = quantile_tisp(Z, Y, k, n_thresholded=N_THRESHOLDED, n_converging=0)
            return descending(np.linalg.norm(W, axis=1))
        if self.penalty in ("mcp", "scad"):
            return descending(_concave(Z, Y, k, self.penalty))
        ratio = 1.0 if self.penalty == "l1" else 0.5
        return descending(_path(lambda share: _net(Z, Y, share, ratio), k))


def _path(solve, k: int) -> np.ndarray:
    """Return the sizes of the coefficients of the first model with k features, or of the last."""
    for share in np.geomspace(1, SMALLEST, N_STRENGTHS)[1:]:
        with warnings.catch_warnings():
            # a model in between need not be exact: it only gives an order
            warnings.simplefilter("ignore", ConvergenceWarning)
            sizes = solve(share)
        if np.count_nonzero(sizes) >= k:
            break
    return sizes


def _hinge(Z: np.ndarray, y: np.ndarray, share: float, weight: np.ndarray | None) -> np.ndarray:
    # at C = 1 / (2 max |Z' y|) every coefficient is zero, with y in -1, +1
    wanted = one_hot(y, True)
    largest = np.abs(Z.T @ (wanted if weight is None else wanted * weight[:, None])).max()
    if largest == 0:
        return np.zeros(Z.shape[1])
    model = LinearSVC(
        penalty="l1", dual=False, C=1 / (2 * largest * share), max_iter=MAX_ITER, random_state=0
    )
    return np.abs(model.fit(Z, y, sample_weight=weight).coef_).max(axis=0)


def _net(Z: np.ndarray, Y: np.ndarray, share: float, ratio: float) -> np.ndarray:
    largest = np.linalg.norm(Z.T @ Y, axis=1).max() / (len(Z) * ratio)
    if largest == 0:
        return np.zeros(Z.shape[1])
    model = MultiTaskElasticNet(
        alpha=largest * share, l1_ratio=ratio, fit_intercept=False, max_iter=MAX_ITER, tol=1e-3
    )
    return np.abs(model.fit(Z, Y).coef_).max(axis=0)


def _concave(Z: np.ndarray, Y: np.ndarray, k: int, penalty: str) -> np.ndarray:
    """Return each feature's largest coefficient over the outputs, at the first strength with k features."""
    try:
        from pycasso import Solver
    except ImportError:
        raise ParameterError(f"penalty {penalty!r} needs the package pycasso; it is not installed") from None
    # one scale for all outputs, so that the class that is easiest to tell comes first
    strengths = np.geomspace(1, SMALLEST, N_STRENGTHS) * np.abs(Z.T @ Y).max() / len(Z)
    if strengths[0] == 0:
        return np.zeros(Z.shape[1])
    paths = []
    for target in Y.T:
        solver = Solver(Z, target, lambdas=strengths, penalty=penalty, family="gaussian")
        with warnings.catch_warnings():
            # where a model fits exactly, the path ends early and says so
            warnings.simplefilter("ignore", RuntimeWarning)
            solver.train()
        paths.append(np.abs(np.asarray(solver.result["beta"]).reshape(-1, Z.shape[1])))
    length = min(len(path) for path in paths)
    sizes = np.max([path[:length] for path in paths], axis=0)
    counts = np.count_nonzero(sizes, axis=1)
    return sizes[int(np.argmax(counts >= k)) if (counts >= k).any() else int(np.argmax(counts))]
