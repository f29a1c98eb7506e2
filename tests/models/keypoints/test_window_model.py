from dataclasses import replace

import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.features.pool import WindowPool
from annealed.models.keypoints.window_model import WindowModel, pack_window_models, unpack_window_models
from annealed.models.model_files import ModelFile

PATCHES = np.random.default_rng(1).integers(0, 256, size=(7, 26, 26, 3), dtype=np.uint8)


def make_model(k=9, n_outputs=2, seed=0):
    rng = np.random.default_rng(seed)
    pool = WindowPool.default()[rng.choice(61803, k, replace=False)]
    low, high = pool.ranges(rng.integers(0, 256, size=(100, 26, 26, 3), dtype=np.uint8))
    return WindowModel.of_arrays(
        pool, low, high, rng.normal(size=(n_outputs, k, 5)), rng.normal(size=n_outputs)
    )


def assert_same(one, other):
    np.testing.assert_array_equal(one.pool.descriptors, other.pool.descriptors)
    for name in ("features", "low", "high", "values", "intercept"):
        np.testing.assert_array_equal(getattr(one.responses, name), getattr(other.responses, name))


def test_responses_are_those_at_the_codes_added_up():
    model = make_model()
    codes = model.codes(PATCHES)
    expected = [
        [model.intercept[o] + sum(model.tables[o, j, codes[j, i]] for j in range(9)) for i in range(7)]
        for o in range(2)
    ]
    found = model.respond(PATCHES)
    assert found.dtype == model.tables.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_features_and_outputs_in_another_order():
    model = make_model()
    order = np.array([3, 0, 8, 1, 2, 7, 6, 5, 4])
    np.testing.assert_allclose(model[order].respond(PATCHES), model.respond(PATCHES), rtol=1e-5)
    assert model[order].responses.features.tolist() == list(range(9))
    np.testing.assert_array_equal(model.with_outputs([1, 0]).respond(PATCHES), model.respond(PATCHES)[::-1])
    assert len(model[order[:4]]) == 4


def test_models_come_back_from_arrays():
    before = [make_model(9), make_model(4, seed=1)]
    arrays = pack_window_models(before, "x_")
    after = unpack_window_models(ModelFile("any", arrays, {}), "x_", 2, 2)
    assert len(after) == 2
    for one, other in zip(before, after, strict=True):
        assert_same(one, other)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("counts", np.array([13, 0]), r"x_counts must lie in 1\.\.1000000"),
        ("counts", np.array([13]), "x_counts"),
        ("counts", np.array([9, 5]), "x_knots"),
        ("knots", np.zeros((1, 13, 5), np.float32), "x_knots"),
        (
            "knots",
            np.zeros((2, 13, 1), np.float32),
            "model file: a piecewise linear .* needs two knots",
        ),
        ("descriptors", np.full((13, 7), 255, np.uint8), "is no feature of a 24 x 24 window"),
        ("low", np.full(13, np.nan, np.float32), "x_low"),
        ("low", np.full(13, 1e9, np.float32), "model file: low and high must be finite, with low <= high"),
        ("intercepts", np.zeros(2), "x_intercepts"),
    ],
)
def test_broken_arrays_are_refused(name, value, message):
    arrays = pack_window_models([make_model(9), make_model(4, seed=1)], "x_")
    with pytest.raises(DataError, match=message):
        unpack_window_models(ModelFile("any", {**arrays, "x_" + name: value}, {}), "x_", 2, 2)


def test_features_and_responses_are_as_many():
    model = make_model()
    with pytest.raises(DataError, match="9 features of windows with 8 responses"):
        replace(model, responses=model.responses.reordered(np.arange(8)))
