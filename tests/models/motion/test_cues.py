"""Graphs, cuts and eigengaps of generated rigid motions."""

import numpy as np
import pytest

from annealed.models.motion.cues import MODELS, NEAR, SUMS, MotionCues
from annealed.models.motion.disagreement import disagreement
from annealed.models.motion.spectral import least_eigenvalues


@pytest.fixture
def scene(rng, rigid_motions):
    positions, labels = rigid_motions(rng, 3)
    return MotionCues(positions, np.ones(positions.shape[:2], bool)), labels


def test_there_is_a_kernel_of_every_model(scene):
    cues, _ = scene
    assert set(cues.kernels) == {*MODELS, NEAR, "all"}
    mean = np.mean([cues.kernels[model].similarity for model in MODELS], axis=0)
    np.testing.assert_allclose(cues.kernels["all"].similarity, mean)


@pytest.mark.parametrize("name", ["affine", NEAR, *SUMS])
def test_a_graph_is_cut_into_the_motions(scene, name):
    cues, labels = scene
    assert disagreement(cues.cut(name, 5, 3), labels) < 0.1
    assert cues.cut(name, 5, 3) is cues.cut(name, 5, 3)


@pytest.mark.parametrize("name", SUMS)
def test_sums_add_graphs(scene, name):
    cues, _ = scene
    parts = [cues.graph(part, 10) for part in SUMS[name]]
    np.testing.assert_allclose(cues.graph(name, 10), np.sum(parts, axis=0))


def test_the_eigengap_is_largest_at_the_number_of_motions(scene):
    cues, _ = scene
    gaps = [cues.eigengap(NEAR, 5, k) for k in range(1, 6)]
    assert int(np.argmax(gaps)) + 1 == 3
    assert cues.eigengap(NEAR, 5, 75) == 0


def test_a_graph_of_parts_has_as_many_eigenvalues_of_zero():
    block = 1 - np.eye(4)
    values = least_eigenvalues(np.kron(np.eye(3), block), 4)
    np.testing.assert_allclose(values[:3], 0, atol=1e-12)
    assert values[3] == pytest.approx(4 / 3)


def test_random_walks_are_strays_and_others_are_not(rng, rigid_motions):
    positions, _ = rigid_motions(rng, 2, n_points=80, n_frames=20)
    walks = rng.choice(len(positions), 12, replace=False)
    positions[walks] = 300 + rng.normal(0, 10, (12, positions.shape[1], 2)).cumsum(axis=1)
    cues, kept = MotionCues(positions, np.ones(positions.shape[:2], bool)).without_strays()
    assert (~kept[walks]).mean() > 0.7
    assert np.delete(kept, walks).mean() > 0.97
    assert len(cues.positions) == kept.sum()


def test_without_strays_all_tracks_are_kept(scene):
    cues, _ = scene
    same, kept = cues.without_strays()
    assert same is cues
    assert kept.all()


def test_more_strays_than_tracks_are_not_left_out(rng):
    positions = 300 + rng.normal(0, 10, (60, 12, 2)).cumsum(axis=1)
    positions[:20] = positions[:1] + rng.uniform(-50, 50, (20, 1, 2))
    _, kept = MotionCues(positions, np.ones((60, 12), bool)).without_strays()
    assert kept.mean() >= 0.5
