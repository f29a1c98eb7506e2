"""What point trackers write."""

import numpy as np
import pytest

from annealed.datasets.tracks.track_inputs import read_tracks
from annealed.features.errors import DataError


@pytest.fixture
def points(rng):
    """Nine points in six frames, (N, T, 2), far apart and slow."""
    return rng.uniform(0, 600, (9, 1, 2)) + rng.normal(0, 2, (9, 6, 2)).cumsum(axis=1)


def test_cotracker_has_frames_first(points, tmp_path):
    visible = np.ones((1, 6, 9), bool)
    visible[0, 2, 4] = False
    path = tmp_path / "a.npz"
    np.savez(path, pred_tracks=points.transpose(1, 0, 2)[None].astype(np.float32), pred_visibility=visible)
    tracks = read_tracks(path)
    assert tracks.positions.shape == (9, 6, 2)
    np.testing.assert_array_equal(np.argwhere(~tracks.visible), [[4, 2]])
    np.testing.assert_allclose(tracks.positions[0], points[0], rtol=1e-6)


def test_tapir_says_what_is_hidden(points, tmp_path):
    occluded = np.zeros((9, 6), bool)
    occluded[3, 1:] = True
    np.savez(tmp_path / "a.npz", tracks=points, occluded=occluded)
    tracks = read_tracks(tmp_path / "a.npz")
    np.testing.assert_array_equal(tracks.visible, ~occluded)


@pytest.mark.parametrize("frames_first", [False, True])
def test_the_axes_of_a_plain_array_are_told_by_its_steps(points, tmp_path, frames_first):
    np.save(tmp_path / "a.npy", points.transpose(1, 0, 2) if frames_first else points)
    np.testing.assert_array_equal(read_tracks(tmp_path / "a.npy").positions, points)


def test_confidence_and_what_is_not_finite_make_gaps(points, tmp_path):
    confidence = np.full((9, 6), 0.9)
    confidence[0, 0], confidence[1, 1] = 0.2, np.nan
    points[2, 3] = np.nan
    np.savez(tmp_path / "a.npz", tracks=points, confidence=confidence)
    tracks = read_tracks(tmp_path / "a.npz")
    np.testing.assert_array_equal(np.argwhere(~tracks.visible), [[0, 0], [1, 1], [2, 3]])


def test_axes_that_cannot_be_told_are_said(rng, tmp_path):
    np.save(tmp_path / "a.npy", rng.normal(0, 100, (8, 7, 2)))
    with pytest.raises(DataError, match="expected N x T x 2 or T x N x 2"):
        read_tracks(tmp_path / "a.npy")


@pytest.mark.parametrize("shape", [(5, 6), (2, 5, 6), (5, 6, 4), (0, 4, 2)])
def test_other_shapes_are_refused_with_the_axes_expected(tmp_path, shape):
    np.save(tmp_path / "a.npy", np.zeros(shape))
    with pytest.raises(DataError, match="expected N x T x 2"):
        read_tracks(tmp_path / "a.npy")


def test_a_mask_with_its_axes_the_other_way_round_is_said(points, tmp_path):
    np.savez(tmp_path / "a.npz", tracks=points, visibles=np.ones((6, 9), bool))
    with pytest.raises(DataError, match="the other way round"):
        read_tracks(tmp_path / "a.npz")


def test_objects_are_not_read(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="not a readable"):
        read_tracks(tmp_path / "a.npy")
