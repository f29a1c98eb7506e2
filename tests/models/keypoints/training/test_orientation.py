from types import SimpleNamespace

import numpy as np
import pytest

from annealed.models.keypoints.angles import ALL_AROUND, UPRIGHT
from annealed.models.keypoints.training.orientation import mirror_turn, orientations

SHAPE = np.array([-1.0 + 0j, -0.6 - 0.3j, -0.6 + 0.3j, 1.0 + 0j])  # nose, left ear, right ear, tail


def photos_of(degrees, rng, noise=0.02, size=40.0):
    """One object a photo, turned clockwise."""
    photos = []
    for angle in degrees:
        seen = (
            size * SHAPE * np.exp(1j * np.deg2rad(angle)) + rng.uniform(50, 300) + 1j * rng.uniform(50, 300)
        )
        points = np.stack([seen.real, seen.imag], axis=1) + rng.normal(0, noise * size, (4, 2))
        photos.append(SimpleNamespace(points=points[None], sizes=np.array([7.0])))
    return photos


def test_objects_that_turn_every_way(rng):
    degrees = rng.uniform(-180, 180, 60)
    found = orientations(photos_of(degrees, rng))
    assert found.rigid
    assert found.angles == ALL_AROUND
    # the zero is a matter of choice; from one object to the next it is the same
    off = np.deg2rad(np.concatenate(found.degrees) - degrees)
    np.testing.assert_allclose(np.abs(np.mean(np.exp(1j * off))), 1.0, atol=0.01)
    np.testing.assert_allclose(np.concatenate(found.sizes), 7.0, rtol=0.1)


def test_upright_objects_are_scanned_upright(rng):
    assert orientations(photos_of(rng.normal(0, 15, 60), rng)).angles == UPRIGHT


def test_objects_that_turn_some_way_are_scanned_there(rng):
    found = orientations(photos_of(rng.uniform(-58, 58, 80), rng))
    assert found.angles == (-45.0, 0.0, 45.0)


def test_points_that_form_no_object_have_no_orientation(rng):
    photos = photos_of(np.zeros(60), rng)
    for photo in photos:
        photo.points[:] = rng.uniform(0, 300, photo.points.shape)
    found = orientations(photos)
    assert not found.rigid
    assert found.angles == UPRIGHT


def test_objects_with_gaps(rng):
    degrees = rng.uniform(-180, 180, 60)
    photos = photos_of(degrees, rng)
    for photo in photos[:40]:
        photo.points[0, rng.integers(4)] = np.nan
    photos[50].points[0, 1:] = np.nan
    found = orientations(photos)
    every = np.concatenate(found.degrees)
    assert np.isnan(every[50])
    off = np.deg2rad(np.delete(every - degrees, 50))
    assert np.abs(np.mean(np.exp(1j * off))) > 0.99


@pytest.mark.parametrize("n", [0, 9])
def test_too_few_objects_are_upright(rng, n):
    assert orientations(photos_of(rng.uniform(-180, 180, n), rng)).angles == UPRIGHT


@pytest.mark.parametrize("degrees", [0.0, 30.0, -100.0])
def test_mirror_turn(degrees):
    """What is seen in a mirror, left and right of the picture swapped, is the shape turned."""
    shape = SHAPE * np.exp(1j * np.deg2rad(degrees))
    order = [0, 2, 1, 3]
    turn = mirror_turn(shape, order)
    seen = -np.conj(shape[order] - shape.mean())
    np.testing.assert_allclose(seen, (shape - shape.mean()) * np.exp(1j * np.deg2rad(turn)), atol=1e-9)
