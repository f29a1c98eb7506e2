import numpy as np
import pytest

from annealed.datasets.photos.photo_set import Photo
from annealed.features.errors import DataError
from annealed.models.keypoints.objects.poses import LOG_SIZE, YAW, project
from annealed.models.keypoints.objects.shape_sizes import fitted_sizes

SHAPE = np.array([[-0.5, -0.4, 0.1], [0.5, -0.4, 0.1], [-0.15, 0.1, -0.3], [0.15, 0.1, -0.3], [0, 0.6, 0.4]])


def turned_faces(rng, n):
    """Objects of size 20 to 60 that are turned by up to 50 degrees; their eye distance is annotated."""
    poses = np.zeros((n, 6))
    poses[:, :2] = rng.uniform(100, 200, (n, 2))
    poses[:, LOG_SIZE] = np.log(rng.uniform(20, 60, n))
    poses[:, YAW] = rng.uniform(-0.9, 0.9, n)
    points = project(poses, SHAPE) + rng.normal(0, 0.2, (n, 5, 2))
    eyes = np.linalg.norm(points[:, 0] - points[:, 1], axis=1)
    return points, eyes, np.exp(poses[:, LOG_SIZE])


def photo_of(points, sizes):
    n = len(points)
    return Photo(
        "photo", np.zeros((9, 9, 3), np.uint8), tuple(map(str, range(n))), points,
        np.isfinite(points).all(axis=2), sizes, np.full((n, 4), np.nan),
    )  # fmt: skip


def test_sizes_do_not_shrink_as_faces_turn(rng):
    points, eyes, true = turned_faces(rng, 80)
    (sizes,) = fitted_sizes([photo_of(points, eyes)])
    ratio = sizes / true
    assert np.std(ratio / np.median(ratio)) < 0.4 * np.std(eyes / true / np.median(eyes / true))
    assert np.median(sizes / eyes) == pytest.approx(1, abs=0.05)


def test_a_hidden_eye_changes_little(rng):
    points, eyes, _ = turned_faces(rng, 80)
    (full,) = fitted_sizes([photo_of(points, eyes)])
    hidden = points.copy()
    hidden[:10, 0] = np.nan
    (sizes,) = fitted_sizes([photo_of(hidden, eyes)])
    np.testing.assert_allclose(sizes[:10], full[:10], rtol=0.1)


def test_objects_that_say_too_little_keep_their_size(rng):
    points, eyes, _ = turned_faces(rng, 30)
    points[0, 2:], eyes[1] = np.nan, np.nan
    sizes, nothing = fitted_sizes([photo_of(points, eyes), photo_of(points[:0], eyes[:0])])
    assert sizes[0] == eyes[0]
    assert np.isnan(sizes[1])
    assert np.isfinite(sizes[2:]).all()
    assert nothing.shape == (0,)


def test_too_few_objects_for_a_shape(rng):
    points, eyes, _ = turned_faces(rng, 9)
    with pytest.raises(DataError, match="takes 10 objects with 3 keypoints each"):
        fitted_sizes([photo_of(points, eyes)])
    with pytest.raises(DataError, match="takes 10 objects"):
        fitted_sizes([])
