"""The same numbers in onnxruntime."""

import sys

import numpy as np
import pytest
from table_models import CURVES, fitted_models, holding

from annealed.features.errors import ParameterError
from annealed.models import FSARegressor, Piecewise
from annealed.models.additive import PiecewiseModel
from annealed.models.curves import CurveModel


def run(path, X):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(path)
    outputs = session.run(None, {"X": X})
    return dict(zip((output.name for output in session.get_outputs()), outputs, strict=True))


@pytest.mark.parametrize("response", ["linear", "piecewise", Piecewise(ranges="trimmed")])
def test_fitted_estimators_of_every_kind(tmp_path, rng, response):
    pytest.importorskip("onnx")
    X = rng.standard_normal((100, 8))
    new = 2 * rng.standard_normal((300, 8))
    for model in fitted_models(X, response).values():
        model.to_onnx(tmp_path / "model.onnx")
        found = run(tmp_path / "model.onnx", new)
        np.testing.assert_allclose(found["response"], model.model_.respond(new), rtol=1e-12, atol=1e-12)
        if hasattr(model, "classes_"):
            np.testing.assert_array_equal(found["label"], model.predict(new))
            np.testing.assert_allclose(found["probabilities"], model.predict_proba(new), rtol=1e-11)


@pytest.mark.parametrize("curves", CURVES)
def test_curves_pairs_categories_and_missing_values(tmp_path, rng, curves):
    pytest.importorskip("onnx")
    X = np.round(3 * rng.standard_normal((500, 4)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = CurveModel(curves, np.array([0.5, -1.0]))
    holding(model, "abcd").to_onnx(tmp_path / "model.onnx")
    found = run(tmp_path / "model.onnx", X)["response"]
    np.testing.assert_allclose(found, model.respond(X), rtol=1e-12, atol=1e-12)


def test_models_of_version_0_1_are_evaluated_on_the_line(tmp_path, rng):
    pytest.importorskip("onnx")
    values = rng.standard_normal((1, 2, 5))
    low, high = np.array([-1.0, 0.5]), np.array([2.0, 0.7])
    model = PiecewiseModel(np.array([1, 2]), low, high, values, np.array([0.3]), quantised=False)
    X = 2 * rng.standard_normal((200, 3))
    holding(model, "abc").to_onnx(tmp_path / "model.onnx")
    found = run(tmp_path / "model.onnx", X)["response"]
    np.testing.assert_allclose(found, model.respond(X), rtol=1e-9, atol=1e-9)


def test_without_the_package_it_is_named(tmp_path, rng, monkeypatch):
    X = rng.standard_normal((30, 8))
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ParameterError, match=r"to_onnx needs the package onnx: pip install annealed\[onnx\]"):
        FSARegressor(k=2, n_iter=10).fit(X, X[:, 0]).to_onnx(tmp_path / "model.onnx")
