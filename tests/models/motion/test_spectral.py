"""Spectral clustering and k-means."""

import numpy as np

from annealed.models.motion import disagreement
from annealed.models.motion.spectral import angular_affinity, kmeans, spectral_clustering


def test_kmeans_finds_separated_clusters(rng):
    centres = np.array([[0, 0], [10, 0], [0, 10]])
    truth = np.repeat(np.arange(3), 20)
    labels = kmeans(centres[truth] + rng.standard_normal((60, 2)), 3)
    assert disagreement(labels, truth) == 0


def test_spectral_clustering_ignores_the_diagonal(rng):
    affinity = angular_affinity(rng.standard_normal((30, 3)), 2.0)
    np.testing.assert_array_equal(
        spectral_clustering(affinity, 2), spectral_clustering(affinity + 5 * np.eye(30), 2)
    )


def test_affinity_is_a_power_of_the_cosine():
    affinity = angular_affinity(np.array([[1.0, 0], [1, 1], [0, 0]]), 2.0)
    np.testing.assert_allclose(affinity, [[1, 0.25, 0], [0.25, 1, 0], [0, 0, 0]])
