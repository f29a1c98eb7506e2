"""Expressions as a database evaluates them."""

import sqlite3
from dataclasses import replace

import numpy as np
import pytest
from table_models import CURVES, fitted_models, holding

from annealed.features.errors import ParameterError
from annealed.models import FSARegressor, Piecewise
from annealed.models.additive import PiecewiseModel
from annealed.models.curves import CurveModel


def evaluate(expressions, names, X):
    """Responses of each row by SQLite; NaN is NULL."""
    database = sqlite3.connect(":memory:")
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    database.execute(f"create table t ({', '.join(name + ' real' for name in quoted)})")
    rows = [[None if np.isnan(x) else x for x in row] for row in X.tolist()]
    database.executemany(f"insert into t values ({', '.join('?' * len(names))})", rows)
    expressions = [expressions] if isinstance(expressions, str) else expressions
    return np.array(database.execute(f"select {', '.join(expressions)} from t").fetchall())


@pytest.mark.parametrize("response", ["linear", "piecewise", Piecewise(ranges="trimmed")])
def test_fitted_estimators_of_every_kind(rng, response):
    X, new = rng.standard_normal((100, 8)), 2 * rng.standard_normal((300, 8))
    for model in fitted_models(X, response).values():
        expected = model.model_
        if isinstance(expected, PiecewiseModel):
            expected = replace(expected, quantised=False)
        found = evaluate(model.to_sql(), [f"x{j}" for j in range(8)], new)
        np.testing.assert_allclose(found, expected.respond(new), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("curves", CURVES[:2])
def test_categories_missing_values_and_names_to_quote(rng, curves):
    X = np.round(3 * rng.standard_normal((500, 4)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = CurveModel(curves, np.array([0.5, -1.0]))
    names = ["a b", 'say "x"', "select", "d"]
    found = evaluate(holding(model, names).to_sql(), names, X)
    np.testing.assert_allclose(found, model.respond(X), rtol=1e-12, atol=1e-12)


def test_what_has_no_expression_is_refused(rng):
    pairs = holding(CurveModel(CURVES[2], np.zeros(2)), "abcd")
    with pytest.raises(ParameterError, match='pairs of features, "b" and "d" here, have no SQL expression'):
        pairs.to_sql()
    X = rng.standard_normal((50, 120))
    with pytest.raises(ParameterError, match="at most 100 features; this one has 101"):
        FSARegressor(k=101, n_iter=5, max_swaps=0).fit(X, X[:, 0]).to_sql()
