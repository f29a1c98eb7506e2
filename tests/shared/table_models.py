"""Fitted estimators of every kind, and terms of curves of every kind."""

import numpy as np

from annealed.models import FSAClassifier, FSAClassifierCV, FSARanker, FSARegressor
from annealed.models.curves import Axis, Term


def fitted_models(X, response):
    """One of each kind: two and three classes, one and two targets, ranks; X has eight columns."""
    options = {"k": 3, "n_iter": 40, "response": response, "random_state": 0}
    two = np.where(X[:, 1] + X[:, 4] > 0, "yes", "no")
    three = np.argmax(X[:, [1, 4, 6]], axis=1) * 10
    values = X[:, 1] - 2 * X[:, 4]
    return {
        "two classes": FSAClassifier(loss="logistic", **options).fit(X, two),
        "three classes": FSAClassifier(**options).fit(X, three),
        "truth": FSAClassifier(**options).fit(X, two == "yes"),
        "one target": FSARegressor(**options).fit(X, values),
        "two targets": FSARegressor(**options).fit(X, np.column_stack([values, X[:, 6]])),
        "ranks": FSARanker(k=3, n_iter=40, response=response).fit(X, values, qid=np.arange(len(X)) // 10),
        "chosen": FSAClassifierCV(k=[1, 3], cv=2, n_iter=30, response=response).fit(X, two),
    }


def _term(axes, seed):
    shape = tuple(len(axis) for axis in axes)
    return Term(
        axes, np.random.default_rng(seed).standard_normal((2, *shape)), np.full(shape, 1 / np.prod(shape))
    )


LINE = Axis(1, np.array([-2.0, -0.5, 0.0, 3.0]))
CATEGORY = Axis(3, np.array([-1.0, 0.0, 2.0]), is_category=True)
POINT = Axis(0, np.array([0.5]))
CURVES = [
    (_term((LINE,), 0),),
    (_term((CATEGORY,), 1), _term((POINT,), 2)),
    (_term((POINT,), 3), _term((LINE, CATEGORY), 4), _term((LINE, Axis(2, np.array([-1.0, 1.0]))), 5)),
]
"""Terms of a model of four columns and two outputs."""


def holding(model, names):
    """A regressor of a model made by hand, for a table with columns of these names."""
    estimator = FSARegressor()
    estimator.n_features_in_, estimator.support_ = len(names), np.ones(len(names), dtype=bool)
    estimator.feature_names_in_ = np.array(list(names), dtype=object)
    estimator.model_ = model
    return estimator
