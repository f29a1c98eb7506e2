"""K subspaces, on tracks with gaps."""

import numpy as np

from annealed.features.completion import filled_tracks
from annealed.models.motion import disagreement
from annealed.models.motion.subspace_refinement import refine


def test_wrong_labels_are_put_right(rng, rigid_motions):
    positions, labels = rigid_motions(rng, 2, n_points=40)
    visible = rng.random(positions.shape[:2]) < 0.8
    positions = np.where(visible[..., None], positions, 0.0)
    start = np.where(rng.random(80) < 0.1, 1 - labels, labels)
    found = refine(positions, visible, filled_tracks(positions, visible), start)
    assert disagreement(found, labels) == 0


def test_a_motion_does_not_die_out(rng, rigid_motions):
    positions, _ = rigid_motions(rng, 1, n_points=40)
    visible = np.ones(positions.shape[:2], dtype=bool)
    start = (np.arange(40) < 5).astype(int)
    assert len(np.unique(refine(positions, visible, positions, start))) == 2
