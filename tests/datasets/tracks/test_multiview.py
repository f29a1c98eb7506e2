"""Structs `Data`, on files made here and on the data sets."""

import numpy as np
import pytest
from scipy.io import savemat

from annealed.datasets.tracks.multiview import read_multiview
from annealed.features.errors import DataError


def write_struct(path, rng, *, hidden=(), masked=True, **changes):
    y = np.concatenate([rng.uniform(1, 100, (2, 6, 4)), np.ones((1, 6, 4))])
    visible = np.ones((6, 4), dtype=np.uint8)
    for point, frame in hidden:
        visible[point, frame] = 0
        y[:, point, frame] = 0
    data = {"ySparse": y, "GtLabel": np.array([[1], [1], [2], [2], [3], [3]], dtype=np.uint8)}
    if masked:
        data["visibleSparse"] = visible
    savemat(path, {"Data": {**data, **changes}})
    return y, visible


@pytest.mark.parametrize("masked", [True, False])
def test_hidden_points_are_zero_in_the_file_and_hidden_in_the_tracks(tmp_path, rng, masked):
    path = tmp_path / "Seq005_Clip01_Tracks.mat"
    y, visible = write_struct(path, rng, hidden=[(0, 1), (3, 2)], masked=masked)
    tracks = read_multiview(path)
    np.testing.assert_array_equal(tracks.visible, visible)
    np.testing.assert_array_equal(tracks.positions[1, :, 0], y[0, 1])
    assert np.isnan(tracks.positions[3, 2]).all()
    np.testing.assert_array_equal(tracks.labels, [0, 0, 1, 1, 2, 2])
    assert tracks.name == "Seq005_Clip01"


def test_label_zero_is_an_outlier_and_labels_may_skip(tmp_path, rng):
    write_struct(tmp_path / "a.mat", rng, GtLabel=np.array([[0], [1], [1], [4], [4], [0]]))
    tracks = read_multiview(tmp_path / "a.mat")
    np.testing.assert_array_equal(tracks.labels, [-1, 0, 0, 1, 1, -1])
    assert tracks.n_motions == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"visibleSparse": np.ones((4, 6))}, "visibleSparse has shape"),
        ({"GtLabel": np.ones((3, 1))}, "3 labels in GtLabel for 6 points"),
        ({"ySparse": np.ones((6, 4))}, "ySparse has shape"),
    ],
)
def test_wrong_fields_are_named(tmp_path, rng, changes, message):
    write_struct(tmp_path / "a.mat", rng, **changes)
    with pytest.raises(DataError, match=message):
        read_multiview(tmp_path / "a.mat")


def test_missing_struct_and_fields_are_named(tmp_path):
    savemat(tmp_path / "a.mat", {"x": 1})
    with pytest.raises(DataError, match="no struct named Data; it has x"):
        read_multiview(tmp_path / "a.mat")
    savemat(tmp_path / "a.mat", {"Data": {"GtLabel": np.ones(3)}})
    with pytest.raises(DataError, match="no field 'ySparse'"):
        read_multiview(tmp_path / "a.mat")
    savemat(tmp_path / "a.mat", {"Data": np.ones(3)})
    with pytest.raises(DataError, match="no struct named Data"):
        read_multiview(tmp_path / "a.mat")


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("folder", "n_files", "n_complete"),
    [("kt3dmoseg", 22, 3221), ("hopkins12", 12, 5019), ("mtpv12", 12, 1983)],
)
def test_the_data_sets_are_read(data_folder, folder, n_files, n_complete):
    files = sorted((data_folder / "hopkins155" / "extra" / folder).glob("*_Tracks.mat"))
    if not files:
        pytest.skip(f"no {folder} there")
    sequences = [read_multiview(file) for file in files]
    assert len(sequences) == n_files
    assert sum(int(tracks.complete.sum()) for tracks in sequences) == n_complete
    assert all(2 <= tracks.n_motions <= 5 for tracks in sequences)
    assert any((tracks.labels < 0).any() for tracks in sequences) == (folder == "mtpv12")
