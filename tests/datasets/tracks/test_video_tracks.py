"""Tracking on generated videos whose motion is known."""

import cv2
import numpy as np
import pytest

from annealed.datasets.tracks import video_tracks
from annealed.datasets.tracks.video_tracks import track_video
from annealed.features.errors import DataError, ParameterError

SPEEDS = np.array([[2.0, 1.0], [-3.0, 0.0]])  # x and y, pixels a frame
CORNERS = np.array([[20, 20], [150, 70]])  # x and y of the patches' corner in frame 0
SIDE = 50


def write_video(path, frames):
    height, width = frames[0].shape[:2]
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 10, (width, height))
    for frame in frames:
        writer.write(frame if frame.ndim == 3 else cv2.cvtColor(frame, cv2.COLOR_GRAY2BGR))
    writer.release()
    return path


def patch_frames(rng, n_frames=10):
    """Two textured squares on grey, each moving on its own by whole pixels."""
    patches = [
        cv2.GaussianBlur(rng.integers(0, 256, (SIDE, SIDE)).astype(np.float32), (0, 0), 1.5) * 4 - 384
        for _ in SPEEDS
    ]
    frames = []
    for f in range(n_frames):
        frame = np.full((160, 240), 128, np.uint8)
        for patch, corner, speed in zip(patches, CORNERS, SPEEDS, strict=True):
            x, y = (corner + f * speed).astype(int)
            frame[y : y + SIDE, x : x + SIDE] = np.clip(patch, 0, 255)
        frames.append(frame)
    return frames


def owners(points):
    """Which patch each point of frame 0 lies well inside; -1 for none."""
    inside = [((points > corner + 4) & (points < corner + SIDE - 4)).all(axis=1) for corner in CORNERS]
    return np.where(inside[0], 0, np.where(inside[1], 1, -1))


def test_points_move_with_their_patches(rng, tmp_path):
    tracks, n_lost, n_dropped = track_video(write_video(tmp_path / "a.avi", patch_frames(rng)), n_points=300)
    complete = tracks.positions[tracks.complete]
    owner = owners(complete[:, 0])
    assert min(np.sum(owner == 0), np.sum(owner == 1)) >= 10
    moved = complete[owner >= 0, -1] - complete[owner >= 0, 0]
    np.testing.assert_allclose(moved, 9 * SPEEDS[owner[owner >= 0]], atol=0.5)
    assert (tracks.name, tracks.width, tracks.height, tracks.n_frames) == ("a", 240, 160, 10)
    assert not tracks.y_up
    assert n_lost == np.sum(~tracks.visible[:, -1])
    assert n_dropped >= 0


def test_lost_points_end_and_new_ones_are_found(rng, tmp_path):
    before, after = patch_frames(rng, 5), patch_frames(np.random.default_rng(9), 10)[5:]
    tracks, n_lost, n_dropped = track_video(write_video(tmp_path / "a.avi", before + after), n_points=250)
    assert n_lost > 20
    assert np.sum(~tracks.visible[:, 0] & tracks.visible[:, -1]) > 20
    lengths = tracks.visible.sum(axis=1)
    assert lengths.min() >= video_tracks.MIN_FRAMES
    # one stretch each: a point that is lost does not come back under the same number
    assert (np.abs(np.diff(tracks.visible.astype(int), axis=1)).sum(axis=1) <= 2).all()
    assert n_dropped >= 0


def test_part_of_a_video(rng, tmp_path):
    path = write_video(tmp_path / "a.avi", patch_frames(rng))
    steps = []
    tracks = track_video(
        path, first_frame=2, n_frames=4, report=lambda phase, done, total: steps.append((done, total))
    ).tracks
    assert (tracks.n_frames, tracks.frame_offset) == (4, 2)
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_tracking_repeats(rng, tmp_path):
    path = write_video(tmp_path / "a.avi", patch_frames(rng))
    first, second = track_video(path).tracks, track_video(path).tracks
    np.testing.assert_array_equal(first.positions, second.positions)


def test_short_and_blank_videos_are_refused(tmp_path, rng):
    path = write_video(tmp_path / "short.avi", patch_frames(rng, 2))
    with pytest.raises(DataError, match=r"short\.avi: 2 frames, expected at least 3"):
        track_video(path)
    with pytest.raises(DataError, match="expected more than 2"):
        track_video(path, first_frame=2)
    blank = write_video(tmp_path / "blank.avi", [np.full((64, 64), 100, np.uint8)] * 5)
    with pytest.raises(DataError, match="nothing in the video can be tracked"):
        track_video(blank)


def test_videos_too_long_for_memory_are_refused(tmp_path, rng, monkeypatch):
    monkeypatch.setattr(video_tracks, "MAX_CELLS", 100)
    path = write_video(tmp_path / "a.avi", patch_frames(rng, 5))
    with pytest.raises(DataError, match="take fewer frames or points"):
        track_video(path)


@pytest.mark.parametrize("content", [b"", b"no video"])
def test_unreadable_videos_are_refused(tmp_path, content):
    (tmp_path / "a.avi").write_bytes(content)
    with pytest.raises(DataError, match="not a video"):
        track_video(tmp_path / "a.avi")


@pytest.mark.parametrize("options", [{"n_points": 0}, {"first_frame": -1}, {"n_frames": 2}])
def test_numbers_out_of_range_are_refused(tmp_path, options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        track_video(tmp_path / "a.avi", **options)
