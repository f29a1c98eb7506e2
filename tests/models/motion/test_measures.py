"""Features that mean the same for any tracks."""

import numpy as np
import pytest

from annealed.models.motion.cues import MotionCues
from annealed.models.motion.measures import measure_kinds, measure_names, segmentation_measures


@pytest.fixture
def scene(rng, rigid_motions):
    positions, labels = rigid_motions(rng, 2)
    worse = labels.copy()
    worse[:6] = 1
    return positions, [labels, worse, np.zeros_like(labels)]


def test_every_feature_has_a_name_a_kind_and_a_finite_value(scene):
    positions, labelings = scene
    table = segmentation_measures(MotionCues(positions, np.ones(positions.shape[:2], bool)), labelings)
    assert table.shape == (3, len(measure_names()))
    assert len(measure_kinds()) == len(measure_names()) == len(set(measure_names()))
    assert np.isfinite(table).all()


def test_low_values_speak_for_the_truth(scene):
    positions, labelings = scene
    table = segmentation_measures(MotionCues(positions, np.ones(positions.shape[:2], bool)), labelings)
    better = np.mean(table[0] <= table[1])
    assert better > 0.9


def test_agreement_and_graphs_do_not_depend_on_the_size_of_the_image(scene):
    positions, labelings = scene
    visible = np.ones(positions.shape[:2], bool)
    one = segmentation_measures(MotionCues(positions, visible), labelings)
    eight = segmentation_measures(MotionCues(8 * positions, visible), labelings)
    kernels = np.array(["agreement" in name for name in measure_names()])
    # One edge of a hundred may change sides: eliminations round differently, and ties are near.
    np.testing.assert_allclose(one[:, kernels], eight[:, kernels], atol=0.1)
    assert np.abs(one - eight)[:, kernels].mean() < 0.005
