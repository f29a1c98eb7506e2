"""Neighbour graphs and their cuts against loops."""

import numpy as np
import pytest

from annealed.features.graphs import cut_proportions, nearest_neighbours


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


@pytest.mark.parametrize("n_neighbours", [1, 5, 24, 99])
def test_of_equally_near_tracks_the_first_come_first(rng, n_neighbours):
    points = rng.integers(0, 3, (25, 2)).astype(float)
    near = nearest_neighbours(points, n_neighbours, angular=False)
    for i in range(25):
        distance = np.sum((points - points[i]) ** 2, axis=1)
        distance[i] = np.inf
        np.testing.assert_array_equal(near[i], np.argsort(distance, kind="stable")[: min(n_neighbours, 24)])
