"""Velocities and principal coordinates."""

import numpy as np
import pytest

from annealed.features.errors import DataError
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
