import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.models.keypoints.parts.arrays import pack_parts, unpack_parts
from annealed.models.model_files import ModelFile


def read(arrays, n=2):
    return unpack_parts(ModelFile("any", arrays, {}), n)


def test_parts_come_back(part_model):
    model = part_model(parent=[1, -1])
    again = read(pack_parts(model))
    for name in ("box", "weights", "seen", "error", "whole"):
        np.testing.assert_array_equal(getattr(model, name), getattr(again, name))
    for name in ("mean", "parent", "slope", "covariance"):
        np.testing.assert_array_equal(getattr(model.relations, name), getattr(again.relations, name))
    assert (again.px, again.scene_px, again.n_zooms) == (model.px, None, 2)
    patches = np.random.default_rng(0).integers(0, 256, (5, 26, 26, 3), dtype=np.uint8)
    for one, other in zip(model.parts, again.parts, strict=True):
        np.testing.assert_array_equal(one.offset.respond(patches), other.offset.respond(patches))
        np.testing.assert_array_equal(one.zooms[1].respond(patches), other.zooms[1].respond(patches))


def test_no_parts_are_no_arrays():
    assert pack_parts(None) == {}
    assert read({}) is None


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("part_zones", np.zeros((1, 4)), "part_zones"),
        ("part_parent", np.array([1, 0]), "no tree"),
        ("part_frame", np.array([0, 0, 1, 1, -5.0, 0]), "canvas"),
        ("part_frame", np.array([0, 0, 1e6, 1, 64.0, 0]), "canvas"),
        ("part_whole", np.array([np.nan, 1]), "part_whole"),
        ("part_zones", np.array([[1.0, 0, 0, 1]] * 2), "zone"),
    ],
)
def test_a_broken_file_is_refused(part_model, name, value, message):
    arrays = pack_parts(part_model()) | {name: value}
    with pytest.raises(DataError, match=message):
        read(arrays)


def test_zooms_must_be_as_many_for_all_keypoints(part_model):
    with pytest.raises(DataError, match="different numbers of zooms"):
        read(pack_parts(part_model(3, 1)), 2)
