"""Labels by the nearest annotated point, and the errors from them."""

import numpy as np
import pytest

from annealed.datasets.tracks.tracks import Tracks


def test_labels_come_from_the_nearest_point_in_the_frames_of_both():
    from reproduce_videos import nearest_labels

    theirs = np.zeros((2, 3, 2))
    theirs[:, :, 0] = [[10, 20, 30], [12, 12, 12]]
    truth = Tracks(theirs, labels=np.array([1, 0]), frame_offset=1, y_up=True, height=50)
    mine = np.full((4, 4, 2), 50.0)  # y = 0 that points up is y = 50 in the picture
    mine[0, :, 0] = [99, 11, 21, 31]  # moves with the first; frame 0 is not annotated
    mine[1, :, 0] = 13
    mine[2, :, 0] = 80  # near nobody
    mine[3, :, 0] = [10, np.nan, np.nan, np.nan]  # visible only where nothing is annotated
    tracks = Tracks(mine, visible=np.isfinite(mine[:, :, 0]))
    np.testing.assert_array_equal(nearest_labels(tracks, truth), [1, 0, -1, -1])


def test_errors_leave_out_what_cannot_be_compared():
    from reproduce_videos import error_of

    labels, truth = np.array([0, 0, 1, 1, -1]), np.array([1, 1, 0, -1, 0])
    everything = np.ones(5, dtype=bool)
    assert error_of(labels, truth, everything) == 0
    assert error_of(np.array([0, 1, 1, 1, 1]), truth, everything) == pytest.approx(1 / 4)
    assert np.isnan(error_of(labels, truth, ~everything))


def test_folders_without_videos_end_in_one_line(tmp_path, monkeypatch):
    import reproduce_videos

    monkeypatch.setattr(reproduce_videos, "load_model", lambda name: None)
    with pytest.raises(SystemExit, match="no <sequence>/<sequence>"):
        reproduce_videos.main([str(tmp_path), "--out", str(tmp_path / "out")])
