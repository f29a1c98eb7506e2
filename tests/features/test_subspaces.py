"""Distances to subspaces against a slow twin."""

import numpy as np
import pytest

from annealed.features.subspaces import subspace_residuals


def naive_distance(points, i, members):
    """Distance of a point to the least-squares 3-D affine subspace of some points."""
    mean = points[members].mean(axis=0)
    directions = np.linalg.svd(points[members] - mean)[2][:3]
    gap = points[i] - mean
    return np.linalg.norm(gap - directions.T @ (directions @ gap))


@pytest.mark.parametrize("n_dimensions", [8, 40])  # fewer and more than the tracks of a label
def test_residuals_are_distances_to_the_label_s_own_subspace(rng, n_dimensions):
    points = rng.standard_normal((30, n_dimensions))
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


@pytest.mark.parametrize(("n_tracks", "n_dimensions"), [(1, 6), (2, 6), (4, 6), (9, 2), (9, 3)])
def test_subspaces_that_hold_every_track_leave_no_residual(rng, n_tracks, n_dimensions):
    points = rng.standard_normal((n_tracks, n_dimensions))
    residuals = subspace_residuals(points, np.zeros(n_tracks, int))
    np.testing.assert_allclose(residuals.plain, 0, atol=1e-6)
    assert np.isfinite(residuals.left_out).all()


def test_identical_tracks_leave_finite_residuals():
    residuals = subspace_residuals(np.ones((5, 7)), np.zeros(5, int))
    np.testing.assert_array_equal(residuals, np.zeros((3, 5)))
