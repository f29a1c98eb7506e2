"""A fitted estimator as plain numbers and names, for a person or another program to read.

    {"estimator": "FSAClassifier", "classes": [...], "outputs": [...], "intercept": [...], "terms": [
        {"kind": "linear", "columns": ["height"], "coef": [...]},
        {"kind": "curve", "columns": ["age"], "knots": [[...]], "values": [[...]], "missing": [...]},
        {"kind": "pair", "columns": ["age", "sex"], "knots": [[...], [...]], "values": [[[...]]]}]}

Lists of one entry per output come first everywhere. Between the knots a curve is linear, outside of them
constant; at the knots of a category it is defined, elsewhere it is missing, as what is NaN. The values of a
pair end, along each axis, with those of what is missing. With "steps", a value is rounded to one of so many
steps between its first and last knot before it is looked up.
"""

import json
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...features.codes import CODE_MAX
from ..additive import LinearModel, PiecewiseModel
from ..curves import CurveModel


def column_names(estimator) -> list[str]:
    """Return the names of a fitted estimator's input columns; x0, x1, ... where they have none."""
    check_is_fitted(estimator)
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{j}" for j in range(estimator.n_features_in_)] if names is None else [str(n) for n in names]


def output_names(estimator) -> list[str]:
    """Return what each output stands for: a class, or "response"."""
    n_outputs = len(estimator.model_.intercept)
    classes = getattr(estimator, "classes_", None)
    if classes is not None:
        return [str(c) for c in (classes if n_outputs > 1 else classes[1:])]
    return ["response"] if n_outputs == 1 else [f"response {o}" for o in range(n_outputs)]


def describe(estimator) -> dict[str, Any]:
    """Return the description of a fitted estimator, of JSON's types only."""
    names, model = column_names(estimator), estimator.model_
    document: dict[str, Any] = {
        "estimator": type(estimator).__name__,
        "columns": names,
        "outputs": output_names(estimator),
        "intercept": model.intercept.tolist(),
    }
    if hasattr(estimator, "classes_"):
        document["classes"] = estimator.classes_.tolist()
    if hasattr(estimator, "ramp_"):
        document["ramp"] = estimator.ramp_.tolist()
    return document | {"terms": _terms(model, names)}


def to_json(estimator, *, indent: int | None = 2) -> str:
    """Return the description as text."""
    return json.dumps(describe(estimator), indent=indent)


def _terms(model, names: list[str]) -> list[dict[str, Any]]:
    if isinstance(model, LinearModel):
        pairs = zip(model.features.tolist(), model.coef.T.tolist(), strict=True)
        return [{"kind": "linear", "columns": [names[j]], "coef": coef} for j, coef in pairs]
    if isinstance(model, PiecewiseModel):
        return _equally_spaced(model, names)
    assert isinstance(model, CurveModel)
    return [_curve(term, names) for term in model.curves]


def _equally_spaced(model: PiecewiseModel, names: list[str]) -> list[dict[str, Any]]:
    steps = {"steps": CODE_MAX} if model.quantised else {}
    return [
        {"kind": "curve", "columns": [names[j]], "knots": [knots], "values": values, **steps}
        for j, knots, values in zip(
            model.features.tolist(),
            model.knots().tolist(),
            np.swapaxes(model.values, 0, 1).tolist(),
            strict=True,
        )
    ]


def _curve(term, names: list[str]) -> dict[str, Any]:
    document = {
        "kind": "curve" if len(term.axes) == 1 else "pair",
        "columns": [names[axis.feature] for axis in term.axes],
        "categories": [axis.is_category for axis in term.axes],
        "knots": [axis.knots.tolist() for axis in term.axes],
    }
    if len(term.axes) == 1:
        return document | {"values": term.values[:, :-1].tolist(), "missing": term.values[:, -1].tolist()}
    return document | {"values": term.values.tolist()}
