import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.features.pool import WindowPool
from annealed.models.keypoints.packing import (
    pack_classifiers,
    pack_refiners,
    unpack_classifiers,
    unpack_refiners,
)
from annealed.models.keypoints.refinement import OffsetRegressor
from annealed.models.model_files import ModelFile


@pytest.fixture
def refiners(rng):
    pool = WindowPool.default()
    made = []
    for k in (3, 5):
        low = rng.normal(size=k).astype(np.float32)
        knots = rng.normal(size=(2, k, 4)).astype(np.float32)
        made.append(OffsetRegressor(pool[np.arange(k) * 7], low, low + 1, knots, rng.normal(size=2)))
    return made


def test_classifiers_come_back_as_they_were(make_classifier):
    before = [make_classifier("chin", k=30), make_classifier("nose", k=12, seed=1)]
    arrays, metadata = pack_classifiers(before)
    after = unpack_classifiers(ModelFile("keypoint-detector", arrays, metadata))
    for one, other in zip(before, after, strict=True):
        assert (one.keypoint, one.intercept, one.threshold) == (
            other.keypoint,
            other.intercept,
            other.threshold,
        )
        for name in ("low", "high", "knots", "floors", "rejection"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        np.testing.assert_array_equal(one.pool.descriptors, other.pool.descriptors)


def test_refiners_come_back_as_they_were(refiners):
    after = unpack_refiners(ModelFile("keypoint-detector", pack_refiners(refiners), {}), 2)
    for one, other in zip(refiners, after, strict=True):
        for name in ("low", "high", "knots", "intercept"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        np.testing.assert_array_equal(one.pool.descriptors, other.pool.descriptors)


def test_no_refiners_take_no_arrays():
    assert pack_refiners([]) == {}
    assert unpack_refiners(ModelFile("keypoint-detector", {}, {}), 2) == ()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("offset_counts", np.array([8, 0]), "offset_counts must lie in 1..1000000"),
        ("offset_counts", np.array([3]), "offset_counts"),
        ("offset_counts", np.array([4, 5]), "offset_descriptors"),
        ("offset_knots", np.zeros((2, 7, 4), np.float32), "offset_knots"),
        ("offset_low", np.full(8, np.nan, np.float32), "offset_low"),
        ("offset_low", np.full(8, 100, np.float32), "ends before it begins"),
        ("offset_intercepts", np.zeros(2), "offset_intercepts"),
    ],
)
def test_broken_refiners_are_refused(refiners, name, value, message):
    arrays = {**pack_refiners(refiners), name: value}
    with pytest.raises(DataError, match=message):
        unpack_refiners(ModelFile("keypoint-detector", arrays, {}), 2)
