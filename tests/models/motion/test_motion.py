"""Candidates and their features on generated rigid motions."""

import numpy as np
import pytest

from annealed.features.errors import DataError, ParameterError
from annealed.models.motion import candidates, disagreement, feature_names, segmentation_features
from annealed.models.motion.candidates import Candidate, distinct, renumbered
from annealed.models.motion.description import feature_kinds
from annealed.models.motion.spectral import angular_affinity, kmeans, spectral_clustering
from annealed.models.motion.ssc import affine_sparse_representation, sparse_subspace_clustering, strongest


def rigid_motions(rng, n_motions, n_points=25, n_frames=12):
    """Points of rigid bodies under an orthographic camera, each turning and moving on its own."""
    tracks, labels = [], []
    for label in range(n_motions):
        body = rng.standard_normal((n_points, 3)) * 40
        axis = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        speed, drift = rng.uniform(0.05, 0.15), rng.uniform(-8, 8, 2)
        frames = []
        for f in range(n_frames):
            c, s = np.cos(speed * f), np.sin(speed * f)
            turn = axis @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ axis.T
            frames.append((body @ turn.T)[:, :2] + 300 + drift * f)
        tracks.append(np.stack(frames, axis=1))
        labels += [label] * n_points
    return np.concatenate(tracks) + rng.normal(0, 0.05, (n_motions * n_points, n_frames, 2)), np.array(labels)


@pytest.mark.parametrize("n_motions", [2, 3])
@pytest.mark.parametrize("pool", ["paper", "large"])
def test_a_candidate_recovers_rigid_motions(rng, n_motions, pool):
    positions, truth = rigid_motions(rng, n_motions)
    found = candidates(positions, n_motions, pool=pool)
    assert min(disagreement(candidate.labels, truth) for candidate in found) <= 0.02
    assert len({candidate.labels.tobytes() for candidate in found}) == len(found)


def test_sparse_subspace_clustering_recovers_rigid_motions(rng):
    positions, truth = rigid_motions(rng, 2)
    labels = sparse_subspace_clustering(positions.reshape(len(positions), -1), 2)
    assert disagreement(labels, truth) <= 0.02


def test_affine_representations_sum_to_one_without_the_track_itself(rng):
    positions, _ = rigid_motions(rng, 2, n_points=10)
    vectors = positions.reshape(20, -1)
    coefficients = affine_sparse_representation(vectors - vectors.mean(axis=0), 800.0)
    np.testing.assert_allclose(coefficients.sum(axis=0), 1, atol=0.02)
    assert not np.diag(coefficients).any()


def test_strongest_keeps_the_least_number_of_entries_that_carry_the_share():
    column = np.array([[0.5], [-0.3], [0.15], [0.05]])
    np.testing.assert_array_equal(strongest(column, 0.7), [[0.5], [-0.3], [0], [0]])
    np.testing.assert_array_equal(strongest(column, 0.9), [[0.5], [-0.3], [0.15], [0]])


def test_the_true_segmentation_is_described_best(rng):
    positions, truth = rigid_motions(rng, 2)
    shuffled = rng.permutation(truth)
    table = segmentation_features(positions, 2, [truth, shuffled])
    assert table.shape == (2, len(feature_names()))
    assert len(feature_names()) == len(feature_kinds()) == len(set(feature_names())) > 2000
    assert table.min() == 0
    better = table[0] <= table[1]
    assert better[feature_kinds() == "likelihood"].all()
    # Bodies that overlap are no neighbours by position; in the clustered coordinates they must be.
    assert better[[": cut of" in name and name.startswith("coordinates") for name in feature_names()]].all()


def test_relative_features_are_raw_ones_above_the_best_candidate(rng):
    positions, truth = rigid_motions(rng, 2)
    labelings = [truth, rng.permutation(truth), rng.permutation(truth)]
    raw = segmentation_features(positions, 2, labelings, form="raw")
    np.testing.assert_allclose(segmentation_features(positions, 2, labelings), raw - raw.min(axis=0))


def test_features_do_not_depend_on_the_numbering_of_the_labels(rng):
    positions, truth = rigid_motions(rng, 3)
    first, second = segmentation_features(positions, 3, [truth, (truth + 1) % 3], form="raw")
    np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-12)


def test_disagreement_matches_labels_first():
    assert disagreement(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])) == 0
    assert disagreement(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])) == 0.25
    assert disagreement(np.array([0, 1, 2]), np.array([0, 0, 0])) == pytest.approx(2 / 3)
    with pytest.raises(DataError, match="same tracks"):
        disagreement(np.array([0]), np.array([0, 1]))


def test_renumbering_and_repetitions():
    np.testing.assert_array_equal(renumbered(np.array([2, 2, 0, 1, 0])), [0, 0, 1, 2, 1])
    same = [Candidate(np.array([0, 1]), "velocity", {"d": d}) for d in (4, 5)]
    (kept,) = distinct(same)
    assert kept.parameters == {"d": 4}
    assert kept.repetitions == (same[1],)


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


@pytest.mark.parametrize(
    ("shape", "n_motions", "error", "message"),
    [
        ((5, 6, 2), 1, ParameterError, "from 2 to 5"),
        ((5, 6, 2), 6, ParameterError, "from 2 to 5"),
        ((5, 2, 2), 2, DataError, "3 are needed"),
        ((5, 6, 3), 2, DataError, "shape"),
    ],
)
def test_bad_problems_are_refused(rng, shape, n_motions, error, message):
    with pytest.raises(error, match=message):
        candidates(rng.standard_normal(shape), n_motions)


def test_tracks_that_are_not_finite_or_do_not_move_are_refused(rng):
    positions, _ = rigid_motions(rng, 2)
    with pytest.raises(DataError, match="no track moves"):
        candidates(np.repeat(positions[:, :1], 5, axis=1), 2)
    positions[3, 2, 0] = np.nan
    with pytest.raises(DataError, match="not finite"):
        candidates(positions, 2)


@pytest.mark.real_data
def test_oracle_of_some_hopkins_sequences(data_folder):
    from annealed.datasets.hopkins import read_hopkins

    errors = []
    for name in ("arm", "cars1", "1R2RC", "truck2"):
        tracks = read_hopkins(data_folder / "hopkins155" / name / f"{name}_truth.mat")
        found = candidates(tracks.positions, tracks.n_motions)
        errors.append(min(disagreement(candidate.labels, tracks.labels) for candidate in found))
    assert np.mean(errors) < 0.01
