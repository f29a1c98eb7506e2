import numpy as np
import pytest

from annealed.models.keypoints.objects import poses as module
from annealed.models.keypoints.objects.poses import (
    ANGLES,
    LOG_SIZE,
    AnglePrior,
    angles_of,
    fit_poses,
    project,
    rotations,
)

WIDE = AnglePrior(np.zeros(3), np.eye(3) * 100.0)
SHAPE = np.array([[-0.5, -0.7, 0.1], [0.5, -0.7, 0.0], [0, 0, -0.4], [-0.4, 0.3, 0.1], [0.1, 1.0, 0.2]])


def random_poses(rng, n, widest=0.6):
    poses = np.zeros((n, 6))
    poses[:, :2] = rng.uniform(50, 400, size=(n, 2))
    poses[:, LOG_SIZE] = np.log(rng.uniform(15, 120, size=n))
    poses[:, ANGLES] = rng.uniform(-widest, widest, size=(n, 3))
    return poses


def test_rotations_are_products_of_three_turns(rng):
    angles = rng.uniform(-1.5, 1.5, size=(20, 3))
    for (yaw, pitch, roll), matrix in zip(angles, rotations(angles), strict=True):
        c, s = np.cos, np.sin
        by_yaw = [[c(yaw), 0, -s(yaw)], [0, 1, 0], [s(yaw), 0, c(yaw)]]
        by_pitch = [[1, 0, 0], [0, c(pitch), s(pitch)], [0, -s(pitch), c(pitch)]]
        by_roll = [[c(roll), -s(roll), 0], [s(roll), c(roll), 0], [0, 0, 1]]
        np.testing.assert_allclose(matrix, np.array(by_roll) @ by_pitch @ by_yaw, atol=1e-12)


def test_angles_of_undoes_rotations(rng):
    angles = rng.uniform(-1.5, 1.5, size=(50, 3))
    np.testing.assert_allclose(angles_of(rotations(angles)), angles, atol=1e-12)


@pytest.mark.parametrize(
    ("angle", "moves_to"),
    [
        ("yaw", (1.0, 0.0)),  # a nose that looks to the right of the picture is seen on the right
        ("pitch", (0.0, -1.0)),  # up
    ],
)
def test_angles_turn_the_front_where_they_say(angle, moves_to):
    poses = np.zeros((1, 6))
    poses[0, getattr(module, angle.upper())] = np.pi / 2
    nose = np.array([[0.0, 0.0, -1.0]])
    np.testing.assert_allclose(project(poses, nose)[0, 0], moves_to, atol=1e-12)


def test_roll_is_clockwise_in_the_picture():
    poses = np.zeros((1, 6))
    poses[0, module.ROLL] = np.pi / 2
    # y points down: what was on the right is now below
    np.testing.assert_allclose(project(poses, np.array([[1.0, 0, 0]]))[0, 0], (0, 1), atol=1e-12)


def test_jacobian_against_differences(rng):
    poses = random_poses(rng, 10)
    size = np.exp(poses[:, LOG_SIZE])[:, None, None]
    jacobian = module._jacobian(poses, SHAPE)
    for p in range(6):
        step = np.zeros(6)
        step[p] = 1e-6
        difference = (project(poses + step, SHAPE) - project(poses - step, SHAPE)) / 2e-6
        expected = difference if p < 2 else difference / size
        np.testing.assert_allclose(jacobian[..., p], expected, atol=1e-7)


def test_fit_poses_recovers_them_from_points(rng):
    poses = random_poses(rng, 40)
    points = project(poses, SHAPE)
    start = poses + rng.normal(0, 1, size=poses.shape) * [5, 5, 0.2, 0.2, 0.2, 0.2]
    found = fit_poses(start, SHAPE, points, np.ones((40, 5)), np.full(5, 0.05), WIDE, n_steps=20)
    np.testing.assert_allclose(project(found, SHAPE), points, atol=0.01)
    np.testing.assert_allclose(np.rad2deg(found[:, ANGLES]), np.rad2deg(poses[:, ANGLES]), atol=1.0)


def test_fit_poses_ignores_missing_points_and_resists_outliers(rng):
    poses = random_poses(rng, 40, widest=0.3)
    points, weights = project(poses, SHAPE), np.ones((40, 5))
    points[:, 1], weights[:, 1] = -1e6, 0
    without = fit_poses(poses, SHAPE, points, weights, np.full(5, 0.05), WIDE)
    np.testing.assert_allclose(without[:, LOG_SIZE], poses[:, LOG_SIZE], atol=1e-3)
    points, weights = project(poses, SHAPE), np.ones((40, 5))
    points[:, 2] += 0.8 * np.exp(poses[:, LOG_SIZE])[:, None]
    prior = AnglePrior(np.zeros(3), np.eye(3) * 0.09)
    found = fit_poses(poses, SHAPE, points, weights, np.full(5, 0.05), prior, n_steps=10)
    assert np.abs(np.rad2deg(found[:, 5] - poses[:, 5])).max() < 5
    assert np.abs(found[:, LOG_SIZE] - poses[:, LOG_SIZE]).max() < 0.15


def test_fit_poses_without_points_gives_the_prior(rng):
    prior = AnglePrior(np.array([0.1, -0.2, 0.05]), np.eye(3) * 0.1)
    poses = random_poses(rng, 3, widest=0.2)
    told = np.log(np.array([20.0, 30, 40]))
    points, weights, spread = np.zeros((3, 5, 2)), np.zeros((3, 5)), np.full(5, 0.1)
    found = fit_poses(poses, SHAPE, points, weights, spread, prior, log_size=(told, 0.2), n_steps=12)
    np.testing.assert_allclose(found[:, ANGLES], np.tile(prior.mean, (3, 1)), atol=1e-6)
    np.testing.assert_allclose(found[:, LOG_SIZE], told, atol=1e-6)
    np.testing.assert_allclose(found[:, :2], poses[:, :2])
