"""Filling the gaps of tracks."""

import numpy as np

from annealed.features.completion import filled_tracks


def low_rank_tracks(rng, n_tracks=60, n_frames=20):
    """Tracks of rank three about their mean."""
    shape = rng.normal(0, 30, (n_tracks, 3))
    camera = rng.normal(0, 0.5, (n_frames, 2, 3)).cumsum(axis=0)
    return np.einsum("fij,pj->pfi", camera, shape) + 200


def test_lost_observations_of_rigid_tracks_come_back(rng):
    positions = low_rank_tracks(rng)
    visible = rng.random(positions.shape[:2]) < 0.8
    filled = filled_tracks(np.where(visible[..., None], positions, np.nan), visible)
    np.testing.assert_allclose(filled[visible], positions[visible], rtol=1e-12)
    lost = np.abs(filled - positions)[~visible]
    assert np.median(lost) < 0.01 * positions.std()


def test_complete_tracks_stay_as_they_are(rng):
    positions = low_rank_tracks(rng)
    np.testing.assert_array_equal(filled_tracks(positions, np.ones((60, 20), bool)), positions)


def test_a_track_that_is_never_visible_is_finite(rng):
    positions = low_rank_tracks(rng)
    visible = np.ones((60, 20), dtype=bool)
    visible[4] = False
    visible[:, 7] = False
    assert np.isfinite(filled_tracks(np.where(visible[..., None], positions, np.nan), visible)).all()
