from dataclasses import replace

import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.features.pool import WindowPool
from annealed.features.pyramid import gaussian_pyramid
from annealed.models.keypoints.objects.alignment import (
    STARTS,
    AlignmentStage,
    align,
    from_photo,
    to_photo,
    upright_windows,
)
from annealed.models.keypoints.objects.poses import AnglePrior, project
from annealed.models.keypoints.objects.shape import RigidShape
from annealed.models.keypoints.window_model import WindowModel

SHAPE = np.array([[-0.5, -0.5, 0.1], [0.5, -0.5, 0.1], [0.0, 0.5, -0.2]])


@pytest.fixture
def shape():
    return RigidShape(SHAPE, np.full(3, 0.02), AnglePrior(np.zeros(3), np.eye(3) * 0.05))


@pytest.fixture
def stage():
    """Random responses to twelve features, of windows 2, 0, 1, 2, 0, 1, ..."""
    rng = np.random.default_rng(0)
    pool = WindowPool.default()[rng.choice(61803, 12, replace=False)]
    patches = rng.integers(0, 256, size=(100, 26, 26, 3), dtype=np.uint8)
    low, high = pool.ranges(patches)
    knots = rng.normal(0, 0.05, size=(6, 12, 5))
    model = WindowModel.of_arrays(pool, low, high, knots, rng.normal(0, 0.1, 6))
    return AlignmentStage(28.0, np.arange(2, 14) % 3, model)


def constant(stage, offsets):
    """The stage with these offsets whatever it sees."""
    responses = stage.model.responses
    responses = replace(responses, values=np.zeros_like(responses.values), intercept=np.array(offsets))
    return replace(stage, model=replace(stage.model, responses=responses))


def pose(x, y, size, roll=0.0):
    return np.array([[x, y, np.log(size), 0.0, 0.0, roll]])


def test_offsets_are_the_sum_of_responses(stage, rng):
    patches = rng.integers(0, 256, size=(3, 4, 26, 26, 3), dtype=np.uint8)
    expected = np.tile(stage.model.intercept, (4, 1))
    for f in range(12):
        codes = stage.model.codes(patches[stage.window[f]])[f]
        for o in range(6):
            expected[:, o] += stage.model.tables[o, f, codes]
    offsets = stage.offsets(patches)
    assert offsets.shape == (4, 3, 2)
    np.testing.assert_allclose(offsets.reshape(4, 6), expected, atol=1e-6)


def test_offsets_turn_with_the_face(rng):
    poses = pose(50, 40, 20.0, np.pi / 2)
    # right of an upright face is down in the picture of one that is turned clockwise by a quarter
    np.testing.assert_allclose(to_photo(np.array([[[0.1, 0.0]]]), poses), [[[0.0, 2.0]]], atol=1e-12)
    offsets = rng.normal(size=(1, 3, 2))
    np.testing.assert_allclose(from_photo(to_photo(offsets, poses), poses), offsets)


def test_windows_of_a_turned_face_look_like_those_of_an_upright_one():
    coarse = np.random.default_rng(1).integers(0, 256, size=(10, 10, 3), dtype=np.uint8)
    photo = np.ascontiguousarray(coarse.repeat(16, axis=0).repeat(16, axis=1))
    turned = np.ascontiguousarray(np.rot90(photo, -1))  # clockwise
    upright, tilted = pose(80, 70, 40.0), pose(159 - 70, 80, 40.0, np.pi / 2)
    one, other = (
        upright_windows(p, project(p, SHAPE), gaussian_pyramid(image), 28.0)
        for p, image in ((upright, photo), (tilted, turned))
    )
    assert one.shape == (3, 1, 26, 26, 3)
    assert np.abs(one.astype(int) - other).mean() < 2.0
    assert np.abs(one[0].astype(int) - one[1]).mean() > 20


def test_windows_show_faces_of_all_sizes_alike():
    rows, cols = np.mgrid[:200, :200]
    wave = 127 + 100 * np.sin(rows / 9) * np.cos(cols / 11)
    photo = np.repeat(wave[..., None], 3, axis=2).astype(np.uint8)
    small = photo[::2, ::2]
    face, half = pose(100, 90, 60.0), pose(49.75, 44.75, 30.0)
    one = upright_windows(face, project(face, SHAPE), gaussian_pyramid(photo), 28.0)
    other = upright_windows(half, project(half, SHAPE), gaussian_pyramid(np.ascontiguousarray(small)), 28.0)
    assert np.abs(one.astype(int) - other).mean() < 6.0


def test_align_takes_the_median_over_starts(stage, shape, photo):
    """With stages that move nothing the starts stay, and their median is the pose's projection."""
    levels = gaussian_pyramid(photo)
    still = constant(stage, np.zeros(6))
    poses = pose(36, 28, 20.0)
    fitted, points, unsure = align(poses, levels, shape, [still, still])
    np.testing.assert_allclose(points, project(poses, SHAPE), atol=1e-9)
    np.testing.assert_allclose(fitted, poses, atol=1e-6)
    starts = np.repeat(poses, len(STARTS), axis=0)
    starts[:, :3] += STARTS * [20, 20, 1]
    away = np.sum((project(starts, SHAPE) - points) ** 2, axis=2).mean(axis=0)
    np.testing.assert_allclose(unsure[0], np.sqrt(away) / 20)


def test_align_adds_up_the_stages(stage, shape, photo):
    levels = gaussian_pyramid(photo)
    moving = constant(stage, [0.1, 0.05, 0.1, 0.05, 0.1, 0.05])
    poses = pose(36, 28, 20.0)
    _, points, _ = align(poses, levels, shape, [moving, moving])
    np.testing.assert_allclose(points - project(poses, SHAPE), np.tile([4.0, 2.0], (1, 3, 1)), atol=0.02)


def test_align_of_no_faces(stage, shape, photo):
    poses, points, unsure = align(np.empty((0, 6)), gaussian_pyramid(photo), shape, [stage])
    assert poses.shape == (0, 6)
    assert points.shape == (0, 3, 2)
    assert unsure.shape == (0, 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"window": np.arange(11)}, "window has shape"),
        ({"window": np.full(12, 3)}, r"windows must lie in 0\.\.2"),
        ({"object_px": 0.0}, "object_px must be a finite number above 0"),
    ],
)
def test_stage_refuses(stage, changes, message):
    with pytest.raises(DataError, match=message):
        replace(stage, **changes)


def test_stage_has_two_sums_for_each_keypoint(stage):
    with pytest.raises(DataError, match="with two sums for each"):
        replace(stage, model=stage.model.with_outputs([0, 1, 2]), window=np.zeros(12, dtype=int))
