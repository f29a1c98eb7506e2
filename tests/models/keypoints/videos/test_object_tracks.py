import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.models.keypoints.videos.object_tracks import ObjectTracks


def make(n_frames=4, n_objects=2):
    points = np.zeros((n_frames, n_objects, 2, 2))
    points[:, 0] = (np.arange(n_frames)[:, None] * [3.0, 4.0])[:, None]
    points[1, 1] = np.nan
    there = np.isfinite(points).all(axis=(2, 3))
    likelihood = np.where(there[..., None], [0.9, 0.2], np.nan)
    number = np.where(there, 1.0, np.nan)
    return ObjectTracks(
        ("a", "b"), np.arange(n_frames) * 2, points, likelihood, number, number, np.zeros_like(there)
    )


def test_speeds_are_pixels_a_frame_of_the_video():
    speeds = make().speeds()
    np.testing.assert_allclose(speeds[:, 0], [np.nan, 2.5, 2.5, 2.5])
    np.testing.assert_array_equal(np.isnan(speeds[:, 1]), [True, True, True, False])


def test_seen_share_counts_all_frames():
    np.testing.assert_allclose(make().seen_share(), [[1.0, 0.0], [0.75, 0.0]])


def test_objects_can_be_chosen():
    chosen = make().of_objects(np.array([1]))
    assert chosen.n_objects == 1
    assert np.isnan(chosen.points[1]).all()


def test_shapes_are_checked():
    tracks = make()
    arrays = tracks.points, tracks.likelihood[:1], tracks.scores, tracks.sizes, tracks.filled
    with pytest.raises(DataError, match="likelihood has shape"):
        ObjectTracks(tracks.names, tracks.frames, *arrays)
