"""Tracks drawn on pictures: where, in which colour, and on what."""

import cv2
import numpy as np
import pytest

from annealed.app.output.motion_overlay import (
    UNLABELLED_COLOUR,
    TrackCanvas,
    colour_of,
    contact_sheet,
    draw_tracks,
    save_overlays,
)
from annealed.datasets.photos.images import read_image
from annealed.datasets.tracks.tracks import Tracks
from annealed.datasets.videos import video_frames
from annealed.features.errors import DataError


def one_track(y=300.0, n_frames=4):
    positions = np.zeros((1, n_frames, 2))
    positions[0, :, 0] = 200 + 40 * np.arange(n_frames)
    positions[0, :, 1] = y
    return positions


def test_a_dot_lies_on_its_track_with_a_fading_trail():
    positions = one_track()
    image = np.zeros((480, 640, 3), np.uint8)
    picture = draw_tracks(image, positions, np.ones((1, 4), bool), np.array([1]), 3)
    assert not image.any()
    np.testing.assert_allclose(picture[300, 320], colour_of(1), atol=8)
    trail = [int(picture[300, x].sum()) for x in (300, 260, 220)]
    assert trail[0] > trail[1] > trail[2] > 0
    assert not picture[300, 340:].any()


def test_small_pictures_are_enlarged_and_pixel_centres_kept():
    picture = draw_tracks(
        np.zeros((100, 160, 3), np.uint8), np.full((1, 1, 2), 50.0), np.ones((1, 1), bool), np.array([0]), 0
    )
    assert picture.shape == (400, 640, 3)
    np.testing.assert_allclose(picture[202, 202], colour_of(0), atol=8)  # (50 + 0.5) * 4 - 0.5


def test_hidden_points_are_not_drawn_and_unlabelled_ones_are_grey():
    visible = np.array([[True, False]])
    blank = np.zeros((480, 640, 3), np.uint8)
    positions = np.where(visible[..., None], one_track(n_frames=2), np.nan)
    assert not draw_tracks(blank, positions, visible, np.array([0]), 1)[250:].any()
    picture = draw_tracks(blank, one_track(n_frames=2), ~visible, np.array([-1]), 1)
    np.testing.assert_allclose(picture[300, 240], UNLABELLED_COLOUR, atol=8)


def write_numbered(path, n_frames):
    """A video whose frame f has brightness 40 f."""
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 10, (640, 480))
    for f in range(n_frames):
        writer.write(np.full((480, 640, 3), 40 * f, np.uint8))
    writer.release()
    return path


def test_frames_of_the_video_begin_at_the_offset(tmp_path):
    tracks = Tracks(one_track(n_frames=3), frame_offset=1, width=640, height=480)
    canvas = TrackCanvas(tracks, write_numbered(tmp_path / "a.avi", 5))
    np.testing.assert_allclose([frame[0, 0, 0] for frame in canvas.frames()], [40, 80, 120], atol=4)


def test_y_that_points_up_is_drawn_turned_over():
    tracks = Tracks(one_track(y=100.0), y_up=True, width=640, height=480)
    *_, (f, picture) = TrackCanvas(tracks, None).draw(np.array([0]))
    assert f == 3
    np.testing.assert_allclose(picture[380, 320], colour_of(0), atol=8)


def test_without_a_frame_size_the_canvas_fits_the_tracks():
    positions = one_track() * 20 - 3000
    canvas = TrackCanvas(Tracks(positions), None)
    height, width = canvas.size
    assert max(height, width) <= 2000
    inside = canvas.positions >= 0
    assert inside.all()
    assert (canvas.positions < [width, height]).all()


def test_sheet_and_video_are_written_whole(tmp_path):
    tracks = Tracks(one_track(n_frames=8), width=640, height=480)
    steps = []
    save_overlays(
        TrackCanvas(tracks, None),
        np.array([0]),
        video=tmp_path / "o.mp4",
        sheet=tmp_path / "s.png",
        report=lambda done, total: steps.append((done, total)),
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["o.mp4", "s.png"]
    assert len(list(video_frames(tmp_path / "o.mp4"))) == 8
    assert read_image(tmp_path / "s.png").shape == (2 * 420 + 4, 3 * 560 + 8, 3)
    assert steps[-1] == (8, 8)


def test_a_failure_leaves_no_files(tmp_path):
    (tmp_path / "bad.avi").write_bytes(b"x")
    tracks = Tracks(one_track(), width=640, height=480)
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(DataError, match="not a video"):
        save_overlays(
            TrackCanvas(tracks, tmp_path / "bad.avi"),
            np.array([0]),
            video=out / "o.mp4",
            sheet=out / "s.png",
        )
    assert list(out.iterdir()) == []


def test_contact_sheets_read_like_text():
    pictures = [np.full((10, 20, 3), value, np.uint8) for value in (10, 20, 30, 40)]
    sheet = contact_sheet(pictures)
    assert sheet.shape == (24, 68, 3)
    assert [int(sheet[5, x, 0]) for x in (5, 30, 50)] == [10, 20, 30]
    assert sheet[20, 5, 0] == 40
    assert sheet[20, 40, 0] == 255
