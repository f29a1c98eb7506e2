"""The track type."""

import numpy as np
import pytest

from annealed.datasets.tracks.tracks import Tracks
from annealed.features.errors import DataError


def test_hidden_points_are_nan_and_incomplete():
    visible = np.array([[True, True], [True, False]])
    tracks = Tracks(np.ones((2, 2, 2)), visible=visible)
    np.testing.assert_array_equal(tracks.complete, [True, False])
    assert np.isnan(tracks.positions[1, 1]).all()
    assert len(tracks) == tracks.n_frames == 2


@pytest.mark.parametrize(
    ("positions", "options", "message"),
    [
        (np.ones((2, 2)), {}, "shape \\(P, F, 2\\)"),
        (np.ones((0, 3, 2)), {}, "no tracks"),
        (np.full((2, 2, 2), np.inf), {}, "not finite"),
        (np.ones((2, 2, 2)), {"visible": np.ones((2, 3), bool)}, "visibility"),
        (np.ones((2, 2, 2)), {"labels": np.array([1])}, "2 integers"),
        (np.full((2, 2, 2), np.nan), {"visible": np.ones((2, 2), bool)}, "visible point"),
    ],
)
def test_bad_tracks_are_refused(positions, options, message):
    with pytest.raises(DataError, match=message):
        Tracks(positions, **options)


def test_y_that_points_up_is_turned_over_for_pictures():
    tracks = Tracks(np.full((1, 2, 2), 10.0), y_up=True, height=480)
    np.testing.assert_array_equal(tracks.image_positions()[0, 0], [10, 470])
    with pytest.raises(DataError, match="height is not known"):
        Tracks(np.ones((1, 2, 2)), y_up=True).image_positions()


def test_outliers_are_no_motion():
    assert Tracks(np.ones((3, 2, 2)), labels=np.array([0, 1, -1])).n_motions == 2
    with pytest.raises(DataError, match="no labels"):
        _ = Tracks(np.ones((3, 2, 2))).n_motions
