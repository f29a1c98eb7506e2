"""Velocities, subspace residuals and neighbour graphs against slow twins."""

import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.features.graphs import cut_proportions, nearest_neighbours
from annealed.features.subspaces import subspace_residuals
from annealed.features.velocities import principal_coordinates, raw_trajectories, velocities


def test_velocity_vector_of_equation_26():
    track = np.array([[[1.0, 10], [3, 10], [4, 7]]])
    np.testing.assert_array_equal(velocities(track), [[-2, 0, -1, 3, 4, 7]])
    np.testing.assert_array_equal(raw_trajectories(track), [[1, 10, 3, 10, 4, 7]])


def test_gaps_are_refused():
    with pytest.raises(DataError, match="complete"):
        velocities(np.full((2, 3, 2), np.nan))


def test_principal_coordinates_are_orthonormal_with_fixed_signs(rng):
    vectors = rng.standard_normal((20, 9))
    coordinates = principal_coordinates(vectors, 4)
    np.testing.assert_allclose(coordinates.T @ coordinates, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(coordinates, principal_coordinates(-vectors, 4), atol=1e-12)


def naive_distance(points, i, members):
    """Distance of a point to the least-squares 3-D affine subspace of some points."""
    mean = points[members].mean(axis=0)
    directions = np.linalg.svd(points[members] - mean)[2][:3]
    gap = points[i] - mean
    return np.linalg.norm(gap - directions.T @ (directions @ gap))


def test_residuals_are_distances_to_the_label_s_own_subspace(rng):
    points = rng.standard_normal((30, 8))
    labels = rng.integers(0, 2, 30)
    residuals = subspace_residuals(points, labels)
    for i in range(30):
        members = np.flatnonzero(labels == labels[i])
        assert residuals.plain[i] == pytest.approx(naive_distance(points, i, members), abs=1e-9)
        assert residuals.free[i] == pytest.approx(
            residuals.plain[i] * np.sqrt(len(members) / (len(members) - 4))
        )
    assert (residuals.left_out >= residuals.plain).all()


def test_a_rigid_motion_leaves_no_residual(rng):
    points = rng.standard_normal((12, 3)) @ rng.standard_normal((3, 10)) + 5
    np.testing.assert_allclose(subspace_residuals(points, np.zeros(12, int)).plain, 0, atol=1e-6)


def test_few_tracks_gain_nothing_by_degrees_of_freedom(rng):
    points = rng.standard_normal((5, 8))
    residuals = subspace_residuals(points, np.zeros(5, int))
    assert (residuals.free > 2 * residuals.plain).all()


def test_neighbours_and_cuts_against_loops(rng):
    points = rng.standard_normal((15, 3))
    labels = rng.integers(0, 2, 15)
    near = nearest_neighbours(points, 6, angular=False)
    for i in range(15):
        distance = np.linalg.norm(points - points[i], axis=1)
        distance[i] = np.inf
        np.testing.assert_array_equal(near[i], np.argsort(distance, kind="stable")[:6])
    expected = [np.mean([labels[j] != labels[i] for i in range(15) for j in near[i, :k]]) for k in (1, 4, 6)]
    np.testing.assert_allclose(cut_proportions(near, labels, np.array([1, 4, 99])), expected)


def test_angular_neighbours_do_not_look_at_length_or_sign(rng):
    points = rng.standard_normal((10, 3))
    scaled = points * rng.choice([-3.0, 0.5], (10, 1))
    np.testing.assert_array_equal(
        nearest_neighbours(points, 4, angular=True), nearest_neighbours(scaled, 4, angular=True)
    )


def test_equally_near_tracks_come_in_order():
    np.testing.assert_array_equal(
        nearest_neighbours(np.zeros((4, 2)), 2, angular=False)[:2], [[1, 2], [0, 2]]
    )


def test_a_single_track_has_no_edges():
    near = nearest_neighbours(np.ones((1, 2)), 3, angular=False)
    np.testing.assert_array_equal(cut_proportions(near, np.array([0]), np.array([1, 2])), [0, 0])
