"""The Hopkins 155 reader, on files made here and on the data set."""

from collections import Counter

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from annealed.datasets.tracks.hopkins import category_of, load_hopkins155, read_hopkins, video_of
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
        ({"s": np.ones((4, 1))}, "4 labels in s for 6 points"),
        ({"s": np.full((6, 1), 0.5)}, "whole numbers"),
        ({"s": np.full((6, 1), np.nan)}, "whole numbers"),
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


def test_missing_variables_are_named(tmp_path):
    savemat(tmp_path / "a_truth.mat", {"y": np.ones((3, 6, 4))})
    with pytest.raises(DataError, match="no variable 's'"):
        read_hopkins(tmp_path / "a_truth.mat")


def test_three_cars_is_read_in_the_pixels_that_its_normalised_form_contradicts(tmp_path, rng):
    calibration = np.array([[300.0, 0, 160], [0, 300, 120], [0, 0, 1]])
    path, positions = write_sequence(
        tmp_path, "three-cars_g12", rng, x=rng.uniform(-1, 1, (3, 6, 4)), K=calibration
    )
    np.testing.assert_array_equal(read_hopkins(path).positions, positions)


def test_frame_sizes_that_make_no_sense_are_unknown(tmp_path, rng):
    tracks = read_hopkins(write_sequence(tmp_path, "arm", rng, width="wide", height=0)[0])
    assert tracks.width is tracks.height is None


def test_bad_sequences_are_reported_and_left_out(tmp_path, rng):
    write_sequence(tmp_path, "arm", rng)
    write_sequence(tmp_path, "cars1", rng, s=np.ones((4, 1)))
    problems = []
    assert [tracks.name for tracks in load_hopkins155(tmp_path, on_problem=problems.append)] == ["arm"]
    assert len(problems) == 1
    assert "cars1_truth.mat: 4 labels" in problems[0]
    with pytest.raises(DataError, match="4 labels"):
        load_hopkins155(tmp_path)


def test_no_readable_sequence_at_all_is_an_error(tmp_path, rng):
    write_sequence(tmp_path, "cars1", rng, s=np.ones((4, 1)))
    with pytest.raises(DataError, match="none of the 1 sequences"):
        load_hopkins155(tmp_path, on_problem=lambda problem: None)


@pytest.mark.real_data
def test_the_data_set_is_as_described(data_folder):
    if not (data_folder / "hopkins155").is_dir():
        pytest.skip("no hopkins155 there")
    sequences = load_hopkins155(data_folder / "hopkins155")
    assert (len(sequences), sum(map(len, sequences))) == (155, 45856)
    assert len({video_of(tracks.name) for tracks in sequences}) == 50
    count = Counter((category_of(tracks.name), tracks.n_motions) for tracks in sequences)
    assert count == {
        ("checkerboard", 2): 78,
        ("checkerboard", 3): 26,
        ("traffic", 2): 31,
        ("traffic", 3): 7,
        ("articulated", 2): 11,
        ("articulated", 3): 2,
    }
    assert all(tracks.complete.all() and (tracks.labels >= 0).all() for tracks in sequences)


@pytest.mark.real_data
def test_only_three_cars_contradicts_its_normalised_form(data_folder):
    files = sorted((data_folder / "hopkins155").glob("*/*_truth.mat"))
    if not files:
        pytest.skip("no hopkins155 there")
    for file in files:
        content = loadmat(file)
        gap = np.abs(np.einsum("ij,jpf->ipf", content["K"], content["x"]) - content["y"]).max()
        assert (gap > 1) == file.name.startswith("three-cars"), file
