"""Which kind of shape drawn points have is found from them alone."""

import numpy as np
import pytest

from annealed.datasets.photos.photo_set import Photo
from annealed.models.keypoints.training.shape_choice import BENDING, RIGID, SCENE, choose_shape

PICTURE = np.zeros((400, 500, 3), dtype=np.uint8)


def photos_of(points):
    return [
        Photo(
            str(i), PICTURE, ("0",), p[None], np.isfinite(p[None, :, 0]), np.array([50.0]),
            np.full((1, 4), np.nan),
        )
        for i, p in enumerate(points)
    ]  # fmt: skip


def placed(inside, rng):
    """Points of objects, turned and moved anywhere, of about one size."""
    n = len(inside)
    turn = rng.uniform(40, 60, n) * np.exp(1j * rng.uniform(-np.pi, np.pi, n))
    centre = rng.uniform(100, 400, n) + 1j * rng.uniform(100, 300, n)
    flat = turn[:, None] * (inside[..., 0] + 1j * inside[..., 1]) + centre[:, None]
    return np.stack([flat.real, flat.imag], axis=2) + rng.normal(0, 1, inside.shape)


def rigid_points(rng, n=60):
    shape = np.array([[-1, 0, 0], [1, 0, 0], [0, 1, 0.1], [0.2, 0, -1.4], [0.4, -0.7, 1.2]])
    yaw, pitch = rng.normal(0, 0.5, (2, n, 1))
    across = shape[:, 0] * np.cos(yaw) - shape[:, 2] * np.sin(yaw)
    deep = shape[:, 0] * np.sin(yaw) + shape[:, 2] * np.cos(yaw)
    return placed(np.stack([across, shape[:, 1] * np.cos(pitch) - deep * np.sin(pitch)], axis=2), rng)


def bending_points(rng, n=60):
    along = np.linspace(-1, 1, 6)
    bend = rng.normal(0, 0.5, (n, 1)) * along**2 + rng.normal(0, 0.4, (n, 1)) * along**3
    return placed(np.stack([np.tile(along, (n, 1)), bend], axis=2), rng)


def scene_points(rng, n=60):
    post = np.array([60, 300]) + rng.normal(0, 1, (n, 2))
    bar = np.array([420, 80]) + rng.normal(0, 1, (n, 2))
    paw = np.array([200, 150]) + rng.normal(0, 40, (n, 2))
    below = np.stack([paw[:, 0] + rng.normal(0, 1, n), 300 + rng.normal(0, 20, n)], axis=1)
    return np.stack([post, bar, paw, below], axis=1)


@pytest.mark.parametrize(
    ("kind", "make"), [(RIGID, rigid_points), (BENDING, bending_points), (SCENE, scene_points)]
)
def test_the_kind_of_shape_is_found(kind, make, rng):
    choice = choose_shape(photos_of(make(rng)), range(make(rng).shape[1]))
    assert choice.kind == kind, choice.log_likelihood


def test_points_may_be_missing(rng):
    points = scene_points(rng)
    points[::4, 2] = np.nan
    points[1::5, 0] = np.nan
    assert choose_shape(photos_of(points), range(4)).kind == SCENE


def test_two_objects_in_a_picture_are_no_scene(rng):
    photos = [
        Photo(
            "two", PICTURE, ("0", "1"), pair, np.ones((2, 4), bool), np.full(2, 50.0), np.full((2, 4), np.nan)
        )
        for pair in scene_points(rng).reshape(30, 2, 4, 2)
    ]
    assert SCENE not in choose_shape(photos, range(4)).log_likelihood


def test_few_photos_tell_nothing(rng):
    assert choose_shape(photos_of(scene_points(rng)[:5]), range(4)) is None
