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
from annealed.models.keypoints.window_model import WindowModel
from annealed.models.model_files import ModelFile


@pytest.fixture
def refiners(rng):
    pool = WindowPool.default()
    made = []
    for k in (3, 5):
        low = rng.normal(size=k).astype(np.float32)
        knots = rng.normal(size=(2, k, 4)).astype(np.float32)
        made.append(WindowModel.of_arrays(pool[np.arange(k) * 7], low, low + 1, knots, rng.normal(size=2)))
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
        for name in ("floors", "rejection", "tables"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        np.testing.assert_array_equal(one.pool.descriptors, other.pool.descriptors)


def test_refiners_come_back_as_they_were(refiners):
    after = unpack_refiners(ModelFile("keypoint-detector", pack_refiners(refiners), {}), 2)
    for one, other in zip(refiners, after, strict=True):
        for name in ("tables", "intercept"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        np.testing.assert_array_equal(one.pool.descriptors, other.pool.descriptors)


def test_files_have_the_y_of_a_refiner_before_its_x(refiners):
    arrays = pack_refiners(refiners)
    np.testing.assert_array_equal(arrays["offset_intercepts"][0], refiners[0].intercept[::-1])
    np.testing.assert_array_equal(arrays["offset_knots"][1, :3], refiners[0].responses.values[0])


def test_no_refiners_take_no_arrays():
    assert pack_refiners([]) == {}
    assert unpack_refiners(ModelFile("keypoint-detector", {}, {}), 2) == ()


@pytest.mark.parametrize(
    ("name", "value"), [("offset_counts", np.array([8])), ("offset_knots", np.zeros((1, 8, 4), np.float32))]
)
def test_broken_refiners_are_refused(refiners, name, value):
    """One for each keypoint, with two sums; see test_window_model.py for the rest."""
    arrays = {**pack_refiners(refiners), name: value}
    with pytest.raises(DataError, match=name):
        unpack_refiners(ModelFile("keypoint-detector", arrays, {}), 2)
