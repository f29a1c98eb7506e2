"""Sparse subspace clustering on generated rigid motions."""

import numpy as np

from annealed.models.motion import disagreement
from annealed.models.motion.ssc import affine_sparse_representation, sparse_subspace_clustering, strongest


def test_sparse_subspace_clustering_recovers_rigid_motions(rng, rigid_motions):
    positions, truth = rigid_motions(rng, 2)
    labels = sparse_subspace_clustering(positions.reshape(len(positions), -1), 2)
    assert disagreement(labels, truth) <= 0.02


def test_affine_representations_sum_to_one_without_the_track_itself(rng, rigid_motions):
    positions, _ = rigid_motions(rng, 2, n_points=10)
    vectors = positions.reshape(20, -1)
    coefficients = affine_sparse_representation(vectors - vectors.mean(axis=0), 800.0)
    np.testing.assert_allclose(coefficients.sum(axis=0), 1, atol=0.02)
    assert not np.diag(coefficients).any()


def test_strongest_keeps_the_least_number_of_entries_that_carry_the_share():
    column = np.array([[0.5], [-0.3], [0.15], [0.05]])
    np.testing.assert_array_equal(strongest(column, 0.7), [[0.5], [-0.3], [0], [0]])
    np.testing.assert_array_equal(strongest(column, 0.9), [[0.5], [-0.3], [0.15], [0]])
