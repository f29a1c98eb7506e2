"""Models computed from what their JSON says."""

import json

import numpy as np
import pandas as pd
import pytest
from table_models import CURVES, fitted_models, holding

from annealed.models import FSAClassifier, Piecewise
from annealed.models.curves import CurveModel


def test_a_linear_model_can_be_computed_from_its_description(rng):
    X = pd.DataFrame(rng.standard_normal((80, 5)), columns=["a", "b", "c", "d", "e"])
    y = np.where(X["b"] + X["e"] > 0, "yes", "no")
    model = FSAClassifier(k=2, n_iter=40).fit(X, y)
    document = json.loads(model.to_json())
    parts = [term["coef"][0] * X[term["columns"][0]] for term in document["terms"]]
    np.testing.assert_allclose(document["intercept"][0] + sum(parts), model.decision_function(X), rtol=1e-9)
    assert (document["classes"], document["outputs"]) == (["no", "yes"], ["yes"])


def rounded(column, knots, steps):
    """The values that a quantised model looks up."""
    width = (knots[-1] - knots[0]) / steps
    return knots[0] + np.floor((np.clip(column, knots[0], knots[-1]) - knots[0]) / width + 0.5) * width


@pytest.mark.parametrize("response", ["piecewise", Piecewise(ranges="trimmed")])
def test_curves_can_be_computed_from_their_description(rng, response):
    X = rng.standard_normal((100, 8))
    model = fitted_models(X, response)["two targets"]
    document = json.loads(model.to_json())
    for o in range(2):
        total = np.full(100, document["intercept"][o])
        for term in document["terms"]:
            knots, column = np.array(term["knots"][0]), X[:, int(term["columns"][0][1:])]
            column = rounded(column, knots, term["steps"]) if "steps" in term else column
            total += np.interp(column, knots, term["values"][o])
        np.testing.assert_allclose(total, model.predict(X)[:, o], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("curves", CURVES)
def test_all_terms_are_told(curves):
    document = json.loads(holding(CurveModel(curves, np.zeros(2)), "abcd").to_json())
    for told, term in zip(document["terms"], curves, strict=True):
        assert told["kind"] == ("curve" if len(term.axes) == 1 else "pair")
        assert told["columns"] == ["abcd"[axis.feature] for axis in term.axes]
        assert told["categories"] == [axis.is_category for axis in term.axes]
        assert [len(knots) for knots in told["knots"]] == [len(axis.knots) for axis in term.axes]
