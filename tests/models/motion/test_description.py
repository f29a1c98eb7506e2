"""Features of segmentations of generated rigid motions."""

import numpy as np
import pytest

from annealed.features.errors import ParameterError
from annealed.models.motion import feature_names, segmentation_features
from annealed.models.motion.description import feature_kinds, in_form


def test_the_true_segmentation_is_described_best(rng, rigid_motions):
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


def test_relative_features_are_raw_ones_above_the_best_candidate(rng, rigid_motions):
    positions, truth = rigid_motions(rng, 2)
    labelings = [truth, rng.permutation(truth), rng.permutation(truth)]
    raw = segmentation_features(positions, 2, labelings, form="raw")
    np.testing.assert_allclose(segmentation_features(positions, 2, labelings), raw - raw.min(axis=0))


def test_features_do_not_depend_on_the_numbering_of_the_labels(rng, rigid_motions):
    positions, truth = rigid_motions(rng, 3)
    first, second = segmentation_features(positions, 3, [truth, (truth + 1) % 3], form="raw")
    np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-12)


def test_identical_tracks_have_finite_features(rng):
    positions = np.repeat(rng.uniform(0, 100, (2, 5, 2)), 6, axis=0)
    table = segmentation_features(positions, 2, [np.repeat([0, 1], 6), np.tile([0, 1], 6)])
    assert np.isfinite(table).all()


def test_an_unknown_form_is_refused():
    with pytest.raises(ParameterError, match="form must be one of"):
        in_form(np.zeros((2, 3)), "ranks")
