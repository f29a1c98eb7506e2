from types import SimpleNamespace

import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.models.keypoints.objects.poses import ANGLES, LOG_SIZE, AnglePrior, fit_poses, project
from annealed.models.keypoints.objects.shape import RigidShape, estimate_shape, shape_of_points

# two corners of a roof, a nose in front of it, two feet and a base: x right, y down, z away
TRUE = np.array([[-0.5, -0.6, 0.15], [0.5, -0.6, 0.15], [0, 0, -0.35], [-0.4, 0.4, 0.05], [0.4, 0.4, 0.05]])
TRUE = TRUE - TRUE.mean(axis=0)


def seen_from(rng, n, noise=0.01, missing=0.0):
    """Poses, their points with noise (in parts of the size) and gaps, and the sizes."""
    poses = np.zeros((n, 6))
    poses[:, :2] = rng.uniform(100, 500, size=(n, 2))
    poses[:, LOG_SIZE] = np.log(rng.uniform(20, 90, size=n))
    poses[:, ANGLES] = rng.normal(0, [0.35, 0.2, 0.15], size=(n, 3))
    sizes = np.exp(poses[:, LOG_SIZE])
    points = project(poses, TRUE) + noise * sizes[:, None, None] * rng.normal(size=(n, 5, 2))
    gaps = rng.random((n, 5)) < missing
    gaps[gaps.sum(axis=1) > 2] = False
    points[gaps] = np.nan
    return poses, points, sizes


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_shape_of_points_recovers_the_shape(rng, missing):
    _, points, sizes = seen_from(rng, 400, missing=missing)
    shape = shape_of_points(points, sizes)
    np.testing.assert_allclose(shape.points[:, :2], TRUE[:, :2], atol=0.04)
    # depth shrinks a little: the prior draws angles to none
    np.testing.assert_allclose(shape.points[:, 2], TRUE[:, 2], atol=0.1)
    assert shape.points[2, 2] < shape.points[0, 2] - 0.35  # the nose stands out
    assert (shape.spread < 0.03).all()
    np.testing.assert_allclose(np.sqrt(np.diag(shape.prior.covariance)), [0.37, 0.23, 0.18], atol=0.08)


def test_poses_of_a_recovered_shape_are_right_within_degrees(rng):
    _, points, sizes = seen_from(rng, 400)
    shape = shape_of_points(points, sizes)
    poses, points, _ = seen_from(rng, 100)
    start = poses * [1, 1, 1, 0, 0, 0]
    found = fit_poses(start, shape.points, points, np.ones((100, 5)), shape.spread, shape.prior, n_steps=10)
    wrong = np.rad2deg(np.abs(found - poses)[:, ANGLES])
    assert np.median(wrong, axis=0).max() < 4
    assert wrong[:, 2].max() < 6
    assert np.abs(found - poses)[:, LOG_SIZE].max() < 0.15


def test_shape_of_points_resists_wrong_annotations(rng):
    _, points, sizes = seen_from(rng, 300)
    wrong = rng.choice(300, 15, replace=False)
    points[wrong, 1] += 3 * sizes[wrong, None]
    shape = shape_of_points(points, sizes)
    np.testing.assert_allclose(shape.points[:, :2], TRUE[:, :2], atol=0.06)


def test_shape_is_in_parts_of_the_stated_size(rng):
    _, points, sizes = seen_from(rng, 200)
    half = shape_of_points(points, 2 * sizes)
    np.testing.assert_allclose(half.points, shape_of_points(points, sizes).points / 2, atol=0.01)


def test_a_flat_object_has_a_shape_too(rng):
    poses, _, sizes = seen_from(rng, 200)
    flat = TRUE * [1, 1, 0]
    points = project(poses, flat) + 0.005 * sizes[:, None, None] * rng.normal(size=(200, 5, 2))
    shape = shape_of_points(points, sizes)
    np.testing.assert_allclose(shape.points[:, :2], flat[:, :2], atol=0.06)


def photos_of(points, sizes):
    """Photos of one object each."""
    return [SimpleNamespace(points=p[None], sizes=np.array([s])) for p, s in zip(points, sizes, strict=True)]


def test_estimate_shape_reads_photos(rng):
    _, points, sizes = seen_from(rng, 60)
    expected = shape_of_points(points[:, [1, 3, 2]], sizes)
    sizes_and_unknown = np.append(sizes, np.nan)
    photos = photos_of(np.concatenate([points, points[:1]]), sizes_and_unknown)
    shape = estimate_shape(photos, [1, 3, 2])
    np.testing.assert_allclose(shape.points, expected.points)


@pytest.mark.parametrize(
    ("n_photos", "columns"), [(60, [0, 1]), (9, [0, 1, 2]), (0, [0, 1, 2]), (60, [0, 1, 4])]
)
def test_estimate_shape_of_too_little_is_none(rng, n_photos, columns):
    _, points, sizes = seen_from(rng, n_photos)
    points[:, 4] = np.nan  # a keypoint that nobody annotated
    assert estimate_shape(photos_of(points, sizes), columns) is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"points": TRUE[:, :2]}, "points must be finite numbers of shape"),
        ({"points": TRUE * np.nan}, "points must be finite"),
        ({"points": TRUE[:2], "spread": np.ones(2)}, "needs 3 keypoints, got 2"),
        ({"spread": np.zeros(5)}, "spread must be above 0"),
        ({"spread": np.ones(4)}, "spread must be finite numbers of shape"),
        ({"prior": AnglePrior(np.zeros(2), np.eye(3))}, "mean rotation"),
        ({"prior": AnglePrior(np.zeros(3), -np.eye(3))}, "not symmetric and positive"),
        ({"prior": AnglePrior(np.zeros(3), np.triu(np.ones((3, 3))) + np.eye(3))}, "not symmetric"),
    ],
)
def test_rigid_shape_refuses(changes, message):
    good = {"points": TRUE, "spread": np.full(5, 0.1), "prior": AnglePrior(np.zeros(3), np.eye(3))}
    with pytest.raises(DataError, match=message):
        RigidShape(**{**good, **changes})
