import numpy as np
import pytest
from scipy.io import savemat

from annealed.datasets.mat_files import load_mat, track_labels, track_positions
from annealed.features.errors import DataError


def test_variables_come_back_without_the_header(tmp_path):
    savemat(tmp_path / "a.mat", {"x": np.arange(3)})
    assert list(load_mat(tmp_path / "a.mat")) == ["x"]


@pytest.mark.parametrize("content", [b"", b"no matlab file", b"MATLAB 7.3 MAT-file" + b"\0" * 200])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "a.mat").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.mat: not a MATLAB file"):
        load_mat(tmp_path / "a.mat")


def test_homogeneous_coordinates_become_x_and_y(tmp_path, rng):
    y = rng.random((3, 5, 4))
    positions = track_positions(tmp_path, "y", y)
    assert positions.shape == (5, 4, 2)
    assert positions[2, 3, 1] == y[1, 2, 3]
    with pytest.raises(DataError, match="expected"):
        track_positions(tmp_path, "y", y.astype(str))


def test_labels_are_whole_numbers_one_a_point(tmp_path):
    assert track_labels(tmp_path, "s", np.array([[2.0], [1.0]]), 2).tolist() == [2, 1]
    with pytest.raises(DataError, match="1 labels in s for 2 points"):
        track_labels(tmp_path, "s", np.ones((1, 1)), 2)
    with pytest.raises(DataError, match="whole numbers"):
        track_labels(tmp_path, "s", np.array(["a", "b"]), 2)
