"""Disturbed copies of tracks."""

import numpy as np
import pytest

from annealed.models.motion.disturbances import (
    LabelledTracks,
    cut_to_half,
    with_losses,
    with_noise,
    with_outliers,
)


@pytest.fixture
def tracks(rng):
    positions = 100 + rng.normal(0, 5, (40, 20, 2)).cumsum(axis=1)
    return LabelledTracks(positions, np.ones((40, 20), bool), np.repeat([0, 1], 20))


def test_noise_has_the_deviation_asked_for(rng, tracks):
    moved = with_noise(tracks, rng, 2.0)
    assert np.std(moved.positions - tracks.positions) == pytest.approx(2, rel=0.05)


def test_outliers_are_labelled_and_others_stay(rng, tracks):
    changed = with_outliers(tracks, rng, 0.25)
    assert np.sum(changed.labels == -1) == 10
    kept = changed.labels >= 0
    np.testing.assert_array_equal(changed.positions[kept], tracks.positions[kept])


def test_half_of_the_frames_are_left_in_a_row(rng, tracks):
    cut = cut_to_half(tracks, rng, 0.7)
    lengths = cut.visible.sum(axis=1)
    assert np.sum(lengths == 10) == 28
    assert set(lengths) == {10, 20}
    assert np.abs(np.diff(cut.visible.astype(int), axis=1)).sum(axis=1).max() <= 2


def test_a_share_of_the_observations_is_lost(rng, tracks):
    assert with_losses(tracks, rng, 0.2).visible.mean() == pytest.approx(0.8, abs=0.05)
