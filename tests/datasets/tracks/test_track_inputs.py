import numpy as np
import pytest
from scipy.io import savemat

from annealed.datasets.tracks.track_files import encode_csv, encode_npz
from annealed.datasets.tracks.track_inputs import read_tracks
from annealed.datasets.tracks.tracks import Tracks
from annealed.features.errors import DataError


def test_every_kind_of_file_is_recognised(tmp_path, rng):
    positions = rng.random((4, 3, 2))
    y = np.concatenate([np.moveaxis(positions, 2, 0), np.ones((1, 4, 3))])
    labels = np.array([[1], [1], [2], [2]])
    savemat(tmp_path / "a_truth.mat", {"y": y, "s": labels})
    savemat(tmp_path / "b_Tracks.mat", {"Data": {"ySparse": y, "GtLabel": labels}})
    tracks = Tracks(positions, labels=labels.ravel() - 1)
    (tmp_path / "c.npz").write_bytes(encode_npz(tracks))
    (tmp_path / "d.CSV").write_bytes(encode_csv(tracks))
    for name in ("a_truth.mat", "b_Tracks.mat", "c.npz", "d.CSV"):
        tracks = read_tracks(tmp_path / name)
        np.testing.assert_array_equal(tracks.positions, positions)
        np.testing.assert_array_equal(tracks.labels, [0, 0, 1, 1])


def test_what_is_no_file_of_tracks_is_named(tmp_path):
    savemat(tmp_path / "a.mat", {"z": 1})
    with pytest.raises(DataError, match="neither a Hopkins 155 file"):
        read_tracks(tmp_path / "a.mat")
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(DataError, match=r"accepted: \.mat, \.npz, \.npy, \.csv"):
        read_tracks(tmp_path / "a.txt")
    with pytest.raises(DataError, match="no such file"):
        read_tracks(tmp_path / "none.mat")
