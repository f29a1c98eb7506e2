"""The track type and the Hopkins 155 reader, on files made here."""

import numpy as np
import pytest
from scipy.io import savemat

from annealed.datasets.hopkins import category_of, load_hopkins155, read_hopkins, video_of
from annealed.datasets.tracks import Tracks
from annealed.features.errors import DataError


def write_sequence(folder, name, rng, **changes):
    positions = rng.uniform(0, 100, (6, 4, 2))
    y = np.concatenate([np.moveaxis(positions, 2, 0), np.ones((1, 6, 4))])
    content = {"y": y, "s": np.array([[1], [1], [2], [2], [3], [3]]), "width": 640, "height": 480} | changes
    path = folder / name / f"{name}_truth.mat"
    path.parent.mkdir(parents=True)
    savemat(path, content)
    return path, positions


def test_a_sequence_is_read_in_pixels(tmp_path, rng):
    path, positions = write_sequence(tmp_path, "cars3_g12", rng)
    tracks = read_hopkins(path)
    np.testing.assert_array_equal(tracks.positions, positions)
    np.testing.assert_array_equal(tracks.labels, [0, 0, 1, 1, 2, 2])
    assert (tracks.name, tracks.n_motions, tracks.width, tracks.height) == ("cars3_g12", 3, 640, 480)
    assert tracks.y_up
    assert tracks.frame_offset == 0
    np.testing.assert_allclose(tracks.image_positions()[:, :, 1], 480 - positions[:, :, 1])


def test_videos_that_begin_one_frame_early(tmp_path, rng):
    tracks = read_hopkins(write_sequence(tmp_path, "cars2_06_g23", rng)[0])
    assert tracks.frame_offset == 1
    assert not tracks.y_up
    np.testing.assert_array_equal(tracks.image_positions(), tracks.positions)


def test_dancing_is_not_one_of_the_155(tmp_path, rng):
    for name in ("dancing", "arm", "1R2RC_g12"):
        write_sequence(tmp_path, name, rng)
    assert [tracks.name for tracks in load_hopkins155(tmp_path)] == ["1R2RC_g12", "arm"]


@pytest.mark.parametrize(
    ("name", "video", "category"),
    [
        ("1R2RC_g12", "1R2RC", "checkerboard"),
        ("three-cars_g13", "three-cars", "checkerboard"),
        ("cars10_g23", "cars10", "traffic"),
        ("kanatani2", "kanatani2", "traffic"),
        ("kanatani3", "kanatani3", "articulated"),
        ("two_cranes_g12", "two_cranes", "articulated"),
    ],
)
def test_names_tell_video_and_category(name, video, category):
    assert video_of(name) == video
    assert category_of(name) == category


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"s": np.ones((4, 1))}, "4 labels for 6 points"),
        ({"y": np.ones((6, 4))}, "expected \\(3, points, frames\\)"),
        ({"y": np.full((3, 6, 4), np.nan)}, "not finite"),
    ],
)
def test_wrong_contents_are_named(tmp_path, rng, changes, message):
    path, _ = write_sequence(tmp_path, "arm", rng, **changes)
    with pytest.raises(DataError, match=message):
        read_hopkins(path)


@pytest.mark.parametrize("content", [b"", b"no matlab file", b"MATLAB 5.0 MAT-file" + b"\0" * 150])
def test_files_of_another_kind_are_refused(tmp_path, content):
    path = tmp_path / "x_truth.mat"
    path.write_bytes(content)
    with pytest.raises(DataError, match="x_truth"):
        read_hopkins(path)


def test_missing_files_and_folders_are_named(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_hopkins(tmp_path / "a_truth.mat")
    with pytest.raises(DataError, match="no such folder"):
        load_hopkins155(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"_truth\.mat below"):
        load_hopkins155(tmp_path)


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
