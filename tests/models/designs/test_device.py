"""Designs on a device, with NumPy standing in for CuPy where there is none."""

import sys

import numpy as np
import pytest

import annealed
from annealed.features.errors import DataError
from annealed.models import FSAClassifier, FSARegressor
from annealed.models.designs import BinnedDesign, DenseDesign
from annealed.models.designs import device as device_module
from annealed.models.designs.device import DeviceDesign, moved, on_device

N, M = 700, 9


def cupy():
    module = pytest.importorskip("cupy", reason="there is no CuPy here, so nothing is run on a GPU")
    try:
        n_devices = module.cuda.runtime.getDeviceCount()
    except module.cuda.runtime.CUDARuntimeError:
        n_devices = 0
    if n_devices == 0:
        pytest.skip("there is no GPU here")
    return module


@pytest.fixture(params=["numpy", "cupy"])
def xp(request, monkeypatch):
    monkeypatch.setattr(device_module, "LEAST_VISITS", 4 * N)
    return np if request.param == "numpy" else cupy()


@pytest.fixture(params=["dense", "binned"])
def pair(request, rng):
    """Return two designs of the same numbers."""
    if request.param == "dense":
        columns = rng.standard_normal((M, N)).astype(np.float32)
        return DenseDesign(columns), DenseDesign(columns)
    codes = rng.integers(0, 256, (M, N), dtype=np.uint8)
    return BinnedDesign(codes, 7), BinnedDesign(codes, 7)


def test_sums_are_those_of_the_cpu(xp, pair, rng, monkeypatch):
    monkeypatch.setattr(device_module, "CHUNK_VALUES", 1000)
    expected, design = pair[0], DeviceDesign(pair[1], xp)
    for kept in (M, 6, 3):
        if kept < M:
            for d in (expected, design):
                d.keep(np.sort(np.random.default_rng(kept).permutation(d.n_features)[:kept]))
        assert design.is_on_device == (kept > 3)
        beta = rng.standard_normal((2, kept, design.n_coefficients))
        given = beta, np.array([0.3, -2.0]), 13, 600
        np.testing.assert_allclose(design.response(*given), expected.response(*given), rtol=1e-9, atol=1e-12)
        residual = rng.standard_normal((2, 587))
        found, wanted = (d.gradient(residual, 13, 600) for d in (design, expected))
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_gradients_do_not_depend_on_the_order_of_the_rows(xp, pair, rng):
    values = pair[0].columns.values if isinstance(pair[0], DenseDesign) else pair[0].codes()
    order, residual = rng.permutation(N), rng.standard_normal((1, N))
    found = []
    for rows in (np.arange(N), order):
        columns = np.ascontiguousarray(values[:, rows])
        # Without means: the sum of the residuals, which they are multiplied by, does depend on the order.
        is_dense = columns.dtype == np.float32
        design = DenseDesign(columns) if is_dense else BinnedDesign(columns, 7, np.zeros((M, 8)))
        found.append(DeviceDesign(design, xp).gradient(np.ascontiguousarray(residual[:, rows]), 0, N))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("response", ["linear", "piecewise"])
def test_a_fit_gives_the_model_of_the_cpu_and_repeats(xp, rng, response):
    X = rng.standard_normal((N, M)).astype(np.float32)
    y = X[:, 1] - X[:, 4] + 0.1 * rng.standard_normal(N)
    expected = FSARegressor(2, response=response, n_iter=60).fit(X, y)
    with on_device(xp):
        models = [FSARegressor(2, response=response, n_iter=60).fit(X, y) for _ in range(2)]
    for model in models:
        np.testing.assert_array_equal(model.ranking_, expected.ranking_)
        np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=1e-4)
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))


def test_what_is_small_stays_where_it_is(pair, monkeypatch):
    with on_device(np):
        assert moved(pair[0]) is pair[0]
        monkeypatch.setattr(device_module, "LEAST_VISITS", 1)
        assert isinstance(moved(pair[0]), DeviceDesign)
    assert moved(pair[0]) is pair[0]


def test_a_missing_package_is_named_with_its_extra(monkeypatch, rng):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(DataError, match=r"annealed\[cuda\]"), annealed.on_device():
        FSAClassifier(2).fit(rng.standard_normal((20, 3)), np.arange(20) % 2)
