"""The selectors that the reproduction scripts compare, each one entry of a table.

A method is a function ``fit(X, y, k, seed) -> Fitted``. `X` comes standardised, `y` is 0 or 1 (or 0, 1, 2,
... for methods marked as taking more classes) or real. What is named as in the library's registry of methods
is made by it (`ours`); the others are of other packages, or in the setting that the paper compared with, and
have names that the registry does not. To add one, write the function and give it an entry in `CLASSIFIERS` or
`REGRESSORS`; `paper` names its column in the paper's tables.
"""

import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.feature_selection import RFE
from sklearn.linear_model import (
    ElasticNet,
    LinearRegression,
    LogisticRegression,
    Ridge,
    SGDClassifier,
    lars_path,
)
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC, l1_min_c

from annealed.models.boosting import LogitBoost
from annealed.models.selection.registry import make_selector
from annealed.models.selection.thresholding import quantile_tisp
from annealed.models.target_kinds import CLASSIFICATION, REGRESSION
from common.set_search import anneal_ols, anneal_svm

MAX_BISECTIONS = 20
UNPENALISED = 1e6
"""Inverse penalty of the refits; finite, because separable classes have no unpenalised optimum."""


class Fitted(NamedTuple):
    """What a method leaves: which variables it uses (None: all), and its score of new rows."""

    support: np.ndarray | None
    score: Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Method:
    """An entry: how to fit, the module it needs beyond ours, its column in the paper, what it accepts.

    Slow ones run only where they are named.
    """

    fit: Callable[..., Fitted]
    requires: str = "sklearn"
    paper: str | None = None
    multiclass: bool = False
    takes_sparse: bool = False
    slow: bool = False

    @property
    def available(self):
        return importlib.util.find_spec(self.requires) is not None


# What several methods share.


def bisect_to_size(fit, low, high, k):
    """Search a penalty, on a logarithmic scale, whose model has k nonzero variables.

    Parameters
    ----------
    fit : callable
        ``fit(strength)`` returns the mask of nonzero variables; more of them for a greater strength.
    low, high : float
        Strengths with at most k and, if possible, at least k variables.

    Returns
    -------
    support : ndarray of bool
        With exactly k variables, or else the largest support met that has fewer.
    """
    best = np.zeros_like(fit(low))
    for _ in range(MAX_BISECTIONS):
        middle = np.sqrt(low * high)
        support = fit(middle)
        size = support.sum()
        if size <= k and size > best.sum():
            best = support
        if size == k:
            break
        low, high = (middle, high) if size < k else (low, middle)
    return best


def on_support(support, model, X, y):
    """Fit a model on the supported columns; without any, every row has the same score."""
    if not support.any():
        constant = (
            np.mean(y) if y.dtype.kind == "f" else np.bincount(y)[None] if y.max() > 1 else y.mean() - 0.5
        )
        return Fitted(support, lambda X: np.repeat(np.atleast_1d(constant), X.shape[0], axis=0))
    model.fit(X[:, support], y)
    score = model.decision_function if hasattr(model, "decision_function") else model.predict
    return Fitted(support, lambda X: score(X[:, support]))


def used(coef):
    """Return the variables with a nonzero coefficient for any class."""
    return np.any(np.atleast_2d(coef) != 0, axis=0)


def linear(coef, intercept):
    """Score new rows by the coefficients themselves."""
    return Fitted(coef != 0, lambda X: X @ coef + intercept)


def largest_within(sizes, k):
    """Return the index of the largest model of a path that has at most k variables, the last of a tie."""
    within = np.where(sizes <= k, sizes, -1)
    return len(within) - 1 - int(np.argmax(within[::-1]))


# Ours.


def ours(name, task):
    """A method of the registry, with the model that it trains itself."""

    def fit(X, y, k, seed):
        model = make_selector(name, k, task=task, random_state=seed).fit(X, y)
        score = model.decision_function if task == CLASSIFICATION else model.predict
        return Fitted(model.get_support(), score)

    return fit


def our_classifiers(papers):
    """Annealed classifiers by their names in the registry, with their columns in the paper."""
    return {
        name: Method(ours(name, CLASSIFICATION), paper=paper, multiclass=True, takes_sparse=True)
        for name, paper in papers.items()
    }


def logitboost(learner_fraction):
    """k rounds, as in the paper: with them its LB has the paper's detection rates.

    With more than two classes a round adds a learner to each; k variables is then the limit.
    """

    def fit(X, y, k, seed):
        model = LogitBoost(k, max_features=k, learner_fraction=learner_fraction, random_state=seed).fit(X, y)
        return Fitted(model.support_, model.decision_function)

    return fit


# Classification: scikit-learn.


def _l1_logistic(C):
    defaults = LogisticRegression().get_params()
    # Older versions name the penalty; newer ones know it by the share of L1.
    kind = {"penalty": "l1"} if defaults["penalty"] == "l2" else {"l1_ratio": 1.0}
    return LogisticRegression(C=C, solver="liblinear", tol=1e-3, max_iter=200, **kind)


def l1_logistic(X, y, k, seed):
    """L1 by bisection for k variables, then a fit without penalty on them (the paper's L1).

    With more than two classes the variables of all one-against-rest models count together.
    """

    def support_at(C):
        codes = [y == c for c in np.unique(y)] if y.max() > 1 else [y]
        return np.any([used(_l1_logistic(C).fit(X, code).coef_) for code in codes], axis=0)

    C = min(l1_min_c(X, y == c, loss="log") for c in np.unique(y))
    support = bisect_to_size(support_at, C, C * 1e4, k)
    return on_support(support, LogisticRegression(C=UNPENALISED, max_iter=2000), X, y)


def elastic_net_sgd(X, y, k, seed):
    """Stochastic gradient descent with L1 and L2, by bisection; refit with L2 alone (the paper's EL).

    The paper does not state the share of L1; of 0.15, 0.5 and 0.85 the last one comes to its figures.
    """
    sgd = partial(SGDClassifier, "log_loss", max_iter=200, random_state=seed)

    def support_at(inverse_alpha):
        model = sgd(penalty="elasticnet", l1_ratio=0.85, alpha=1 / inverse_alpha)
        return used(model.fit(X, y).coef_)

    support = bisect_to_size(support_at, 0.1, 1e5, k)
    refit = sgd(penalty="l2", alpha=0.001)
    return on_support(support, refit, X, y)


def l2_sgd(X, y, k, seed):
    """A linear SVM on all variables; the penalty is chosen on a quarter of the training rows."""
    X_fit, X_held, y_fit, y_held = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)

    def svm(alpha):
        return SGDClassifier("hinge", alpha=alpha, max_iter=1000, random_state=seed)

    alphas = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]
    best = max(alphas, key=lambda alpha: svm(alpha).fit(X_fit, y_fit).score(X_held, y_held))
    return Fitted(None, svm(best).fit(X, y).decision_function)


def rfe_logistic(X, y, k, seed):
    """Recursive elimination of a tenth of the variables at a time."""
    model = RFE(LogisticRegression(max_iter=500), n_features_to_select=k, step=0.1).fit(X, y)
    return Fitted(model.support_, model.decision_function)


# Classification: other packages.


def abess_logistic(X, y, k, seed):
    """Best subset selection by splicing, at support size k."""
    import abess

    if y.max() > 1:
        model = abess.MultinomialRegression(support_size=[k]).fit(X, y)
        return Fitted(np.any(model.coef_ != 0, axis=1), lambda X: X @ model.coef_ + model.intercept_)
    model = abess.LogisticRegression(support_size=[k]).fit(X, y)
    return linear(np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]))


def fastsparsegams_logistic(swaps):
    def fit(X, y, k, seed):
        return _fastsparsegams(X, 2.0 * y - 1, k, "Logistic", swaps)

    return fit


def fastsparsegams_squared(swaps):
    def fit(X, y, k, seed):
        return _fastsparsegams(X, y.astype(np.float64), k, "SquaredError", swaps)

    return fit


def _fastsparsegams(X, y, k, loss, swaps):
    """The L0Learn algorithms: the largest model of at most k variables on their path.

    Plain coordinate descent on L0 is the package's default. Its local swaps find more, together with a
    little L2 (0.001 was the best of six strengths tried on rows of Tables 2 and 3), and take longer.
    """
    import fastsparsegams

    options = {"penalty": "L0", "algorithm": "CD"}
    if swaps:
        gamma = {"num_gamma": 1, "gamma_min": 1e-3, "gamma_max": 1e-3}
        options = {"penalty": "L0L2", "algorithm": "CDPSI"} | gamma
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it remarks on a single gamma
        # A support as large as the number of rows ends the process (version 0.2.0).
        most = min(k, min(X.shape) - 1)
        path = fastsparsegams.fit(np.asfortranarray(X), y, loss=loss, max_support_size=most, **options)
    best = largest_within(np.array(path.support_size[0]), k)
    coef = path.coeff(path.lambda_0[0][best], path.gamma[0], include_intercept=True)
    coef = np.ravel(coef.toarray())
    return linear(coef[1:], coef[0])


def pycasso_path(family, penalty):
    """MCP or SCAD by coordinate descent: the largest model of at most k variables on the path.

    Where the path steps over k, the step is walked once more in small steps.
    """

    def fit(X, y, k, seed):
        coarse = _pycasso(X, y, (100, 0.01), family, penalty, k)
        sizes = (coarse["beta"] != 0).sum(axis=1)
        best, path = largest_within(sizes, k), coarse
        if sizes[best] < k and best + 1 < len(sizes):
            steps = np.linspace(coarse["lambdas"][best], coarse["lambdas"][best + 1], 12)
            lambdas = np.concatenate([coarse["lambdas"][: best + 1], steps[1:]])
            path = _pycasso(X, y, lambdas, family, penalty, k)
            best = largest_within((path["beta"] != 0).sum(axis=1), k)
        return linear(path["beta"][best], path["intercept"][best])

    return fit


def _pycasso(X, y, lambdas, family, penalty, k):
    import pycasso

    solver = pycasso.Solver(X, y, lambdas=lambdas, family=family, penalty=penalty, dfmax=k)
    with warnings.catch_warnings():
        # On separable classes it stops early and says so; the models before that are kept.
        warnings.simplefilter("ignore", RuntimeWarning)
        solver.train()
    beta = np.asarray(solver.result["beta"])
    return {
        "beta": beta,
        "intercept": np.ravel(solver.result["intercept"]),
        "lambdas": np.asarray(solver.lambdas)[: len(beta)],
    }


# Regression.


def lasso(X, y, k, seed):
    """The lasso's exact path to k variables, then least squares on them (the paper's L1)."""
    centred = X - X.mean(axis=0)
    _, _, coefs = lars_path(centred, y - y.mean(), method="lasso", max_iter=20 * k)
    best = largest_within((coefs != 0).sum(axis=0), k)
    support = coefs[:, best] != 0
    return on_support(support, LinearRegression(), X, y)


def elastic_net(X, y, k, seed):
    """Elastic net with a share of 0.99 of L1, by bisection; refit with a slight ridge (the paper's EL)."""
    most = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)

    def support_at(strength):
        return used(ElasticNet(alpha=most / strength, l1_ratio=0.99, tol=1e-5).fit(X, y).coef_)

    support = bisect_to_size(support_at, 0.9, 1e4, k)
    return on_support(support, Ridge(0.01), X, y)


def tisp(family):
    """Quantile TISP (the paper's QTP): 10 steps with thresholding, 500 on the variables that are left."""

    def fit(X, y, k, seed):
        W, intercept = quantile_tisp(X, y[:, None].astype(np.float64), k, family=family)
        return linear(W[:, 0], float(intercept[0]))

    return fit


def annealed_wrapper(search, model):
    """Simulated annealing over sets of k variables, then a fit on the best (the paper's SA)."""

    def fit(X, y, k, seed):
        return on_support(search(X, y, k, seed), model(), X, y)

    return fit


def ridge(X, y, k, seed):
    """Least squares with L2 on all variables; the penalty is chosen on a quarter of the training rows."""
    X_fit, X_held, y_fit, y_held = train_test_split(X, y, test_size=0.25, random_state=seed)
    alphas = [1, 0.1, 0.01, 1e-3, 1e-4, 1e-5]
    errors = [
        root_mean_squared_error(y_held, Ridge(len(y_fit) * alpha).fit(X_fit, y_fit).predict(X_held))
        for alpha in alphas
    ]
    return Fitted(None, Ridge(len(y) * alphas[int(np.argmin(errors))]).fit(X, y).predict)


def rfe_ridge(X, y, k, seed):
    """Recursive elimination of a tenth of the variables at a time."""
    model = RFE(Ridge(1e-3), n_features_to_select=k, step=0.1).fit(X, y)
    return Fitted(model.support_, model.predict)


def abess_squared(X, y, k, seed):
    """Best subset selection by splicing, at support size k."""
    import abess

    model = abess.LinearRegression(support_size=[k]).fit(X, y)
    return linear(np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]))


CLASSIFIERS = {
    **our_classifiers({"fsa": "FSL", "fsa-lorenz": None, "fsa-logistic": "FSA", "fsa-huber": "FSV"}),
    **our_classifiers({"fsa-printed": None}),
    "l1-logistic": Method(l1_logistic, paper="L1", multiclass=True, takes_sparse=True),
    "elastic-net-sgd": Method(elastic_net_sgd, paper="EL", multiclass=True, takes_sparse=True),
    "l2-svm": Method(l2_sgd, paper="L2", multiclass=True, takes_sparse=True),
    "rfe-logistic": Method(rfe_logistic, multiclass=True, takes_sparse=True),
    "abess": Method(abess_logistic, requires="abess", multiclass=True),
    "fastsparsegams": Method(fastsparsegams_logistic(swaps=False), requires="fastsparsegams"),
    "fastsparsegams-swaps": Method(fastsparsegams_logistic(swaps=True), requires="fastsparsegams"),
    "mcp-logistic": Method(pycasso_path("binomial", "mcp"), requires="pycasso", paper="MCP"),
    "scad-logistic": Method(pycasso_path("binomial", "scad"), requires="pycasso", paper="SCD"),
    "tisp-logistic": Method(tisp("logistic"), paper="QTP"),
    "simulated-annealing-svm": Method(annealed_wrapper(anneal_svm, LinearSVC), slow=True),
    "logitboost": Method(logitboost(1.0), paper="LB", multiclass=True, takes_sparse=True),
    "logitboost-tenth": Method(logitboost(0.1), paper="LB1", multiclass=True, takes_sparse=True),
}

REGRESSORS = {
    "fsa": Method(ours("fsa", REGRESSION), paper="FSA"),
    "lasso": Method(lasso, paper="L1"),
    "elastic-net-refit": Method(elastic_net, paper="EL"),
    "ridge": Method(ridge, paper="L2"),
    "rfe-ridge": Method(rfe_ridge),
    "abess": Method(abess_squared, requires="abess"),
    "fastsparsegams": Method(fastsparsegams_squared(swaps=False), requires="fastsparsegams"),
    "fastsparsegams-swaps": Method(fastsparsegams_squared(swaps=True), requires="fastsparsegams"),
    "mcp-path": Method(pycasso_path("gaussian", "mcp"), requires="pycasso", paper="MCP"),
    "scad-path": Method(pycasso_path("gaussian", "scad"), requires="pycasso", paper="SCD"),
    "tisp-refit": Method(tisp("squared"), paper="QTP"),
    "simulated-annealing-ols": Method(annealed_wrapper(anneal_ols, LinearRegression), paper="SA", slow=True),
}
