"""NPZ and CSV of tracks: round trips and bad files."""

import numpy as np
import pytest

from annealed.datasets.tracks import track_files
from annealed.datasets.tracks.track_files import encode_csv, encode_npz, read_csv_tracks, read_npz_tracks
from annealed.datasets.tracks.tracks import Tracks
from annealed.features.errors import DataError


@pytest.fixture
def tracks(rng):
    visible = rng.random((7, 5)) < 0.7
    visible[0], visible[1], visible[2, 0] = True, False, True
    return Tracks(
        rng.uniform(0, 640, (7, 5, 2)),
        visible=visible,
        labels=np.array([0, 1, -1, 2, 2, 0, 1]),
        y_up=True,
        frame_offset=1,
        width=640,
        height=480,
        name="cars",
    )


def test_npz_keeps_everything(tracks, tmp_path):
    (tmp_path / "a.npz").write_bytes(encode_npz(tracks))
    back = read_npz_tracks(tmp_path / "a.npz")
    for name in ("positions", "visible", "labels"):
        np.testing.assert_array_equal(getattr(back, name), getattr(tracks, name))
    for name in ("y_up", "frame_offset", "width", "height", "name"):
        assert getattr(back, name) == getattr(tracks, name)


def test_csv_keeps_positions_labels_and_the_first_frame(tracks, tmp_path):
    (tmp_path / "cars.csv").write_bytes(encode_csv(tracks))
    back = read_csv_tracks(tmp_path / "cars.csv")
    for name in ("positions", "visible", "labels", "frame_offset", "name"):
        np.testing.assert_array_equal(getattr(back, name), getattr(tracks, name))


def test_tracks_without_labels_come_back_without(rng, tmp_path):
    tracks = Tracks(rng.random((2, 3, 2)))
    (tmp_path / "a.npz").write_bytes(encode_npz(tracks))
    (tmp_path / "a.csv").write_bytes(encode_csv(tracks))
    assert read_npz_tracks(tmp_path / "a.npz").labels is None
    assert read_csv_tracks(tmp_path / "a.csv").labels is None


def test_csv_by_hand(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("frame,track,y,x\n3,b,1,2\n5,b,3,4\n4,a,5,6.5\n")
    tracks = read_csv_tracks(path)
    assert tracks.frame_offset == 3
    np.testing.assert_array_equal(tracks.visible, [[1, 0, 1], [0, 1, 0]])
    np.testing.assert_array_equal(tracks.positions[1, 1], [6.5, 5])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "column track, frame, x, y is missing"),
        ("track,frame,x\n", "column y is missing"),
        ("track,frame,x,y\n", "no row with a position"),
        ("track,frame,x,y\n0,0,1,nan\n", "line 2: y is 'nan', expected a finite number"),
        ("track,frame,x,y\n0,0,1,2\n0,1.5,1,2\n", "line 3: frame is '1.5'"),
        ("track,frame,x,y\n0,-1,1,2\n", "frame is '-1', expected a whole number, 0 to"),
        ("track,frame,x,y\n0,0,1,2\n0,0,3,4\n", "track 0 is there twice in frame 0"),
        ("track,frame,x,y\n,0,1,2\n", "track is empty"),
        ("track,frame,x,y\n0,0\n", "x is ''"),
        ("track,frame,x,y,label\n0,0,1,2,1\n0,1,1,2,2\n", "label 2 here and 1 before"),
        ("track,frame,x,y,label\n0,0,1,2,\n", "label is ''"),
        ("track,frame,x,y,label\n0,0,1,2,1" + "0" * 30 + "\n", "label is '10"),
        ("track,frame,x,y\n0,1" + "0" * 300 + ",1,2\n", "frame is '10"),
        ("track,frame,x,y\n0,1" + "0" * 5000 + ",1,2\n", "frame is '10"),
        ("track,frame,x,y\n0,0,1e200,2\n", "a position of 1e.200 pixels"),
        ("track,frame,x,y\n0,0,1,2\n1,999999999,1,2\n", "2 tracks from frame 0 to 999999999 would take"),
    ],
)
def test_bad_csv_files_are_named_with_the_line(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read_csv_tracks(tmp_path / "a.csv")
    assert "a.csv" in str(caught.value)


def test_csv_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(DataError, match="not UTF-8"):
        read_csv_tracks(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"places": np.ones((2, 3, 2))}, "no array 'positions'"),
        ({"positions": np.ones((2, 3))}, "shape"),
        ({"positions": np.full((2, 3, 2), np.nan)}, "not finite"),
        ({"positions": np.full((2, 3, 2), "a")}, "must hold numbers"),
        ({"positions": np.ones((2, 3, 2)), "labels": np.zeros(3, int)}, "2 integers"),
        ({"positions": np.ones((2, 3, 2)), "visible": np.ones((3, 2), bool)}, "visibility"),
        ({"positions": np.ones((2, 3, 2)), "height": np.ones(2)}, "height must be a single value"),
        ({"positions": np.array([None])}, "positions holds objects"),
        ({"positions": np.full((2, 3, 2), 1e200)}, "a position of 1e.200 pixels"),
        ({"positions": np.ones((2, 3, 2)), "width": 10**17}, "width is 1e.17"),
        ({"positions": np.ones((2, 3, 2)), "frame_offset": -1}, "frame_offset is -1"),
    ],
)
def test_bad_npz_files_are_named(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(DataError, match=message) as caught:
        read_npz_tracks(tmp_path / "a.npz")
    assert "a.npz" in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04 cut off"])
def test_files_that_are_no_npz_are_refused(tmp_path, content):
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(DataError, match="not an NPZ file"):
        read_npz_tracks(tmp_path / "a.npz")


def test_missing_files_are_named(tmp_path):
    for read in (track_files.read_npz_tracks, track_files.read_csv_tracks):
        with pytest.raises(DataError, match="no such file"):
            read(tmp_path / "a")
