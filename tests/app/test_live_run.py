"""The model that ships, live on a fake camera."""

import csv
import io
import time

import cv2
import numpy as np
import pytest

from annealed.app import live_run
from annealed.app.live_run import LiveRun
from annealed.datasets.cameras import Camera
from annealed.datasets.photos.sample_photos import load_astronaut
from annealed.datasets.videos import video_frames
from annealed.models import load_model
from annealed.models.keypoints.videos.tracker import ObjectTracker

FACE = load_astronaut().read()[0:260, 100:340]


class FakeCamera:
    """A face that stands still with noise, 30 frames a second; reading costs nothing."""

    def __init__(self, n=12, pace=1 / 30):
        self.i, self.n, self.pace = -1, n, pace
        self.rng = np.random.default_rng(0)

    def isOpened(self):  # noqa: N802 (OpenCV's name)
        return True

    def read(self):
        time.sleep(self.pace)
        self.i += 1
        if self.i >= self.n:
            return False, None
        noise = self.rng.integers(-12, 13, FACE.shape)
        return True, np.clip(FACE.astype(int) + noise, 0, 255).astype(np.uint8)[:, :, ::-1]

    def get(self, _):
        return 30.0

    def set(self, *_):
        return True

    def release(self):
        pass


@pytest.fixture
def camera(monkeypatch):
    monkeypatch.setattr(cv2, "VideoCapture", lambda *_: FakeCamera())
    monkeypatch.setattr(live_run, "has_display", lambda: False)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_camera_is_written_into_a_folder(annealed, camera, tmp_path, monkeypatch):
    result = annealed("detect-keypoints", "0", "--model", "face", "--objects", 1, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    assert "latency" in result.stderr
    rows = rows_of((tmp_path / "out" / "live.csv").read_text())
    assert {row["object"] for row in rows} == {"0"}
    monkeypatch.undo()  # the video is read as ever
    (video,) = [path for path in (tmp_path / "out").iterdir() if path.suffix == ".mp4"]
    n_drawn = len(list(video_frames(video)))
    assert n_drawn == max(int(row["frame"]) for row in rows) + 1  # dropped frames are made up for


def test_without_display_and_folder_there_is_one_line(annealed, camera):
    result = annealed("detect-keypoints", "0", "--model", "face")
    assert result.exit_code == 2
    assert "--out names a folder" in result.stderr


def test_a_camera_that_is_not_there_is_one_line(annealed, tmp_path, monkeypatch):
    class Closed(FakeCamera):
        def isOpened(self):  # noqa: N802
            return False

    monkeypatch.setattr(cv2, "VideoCapture", lambda *_: Closed())
    result = annealed("detect-keypoints", "7", "--model", "face", "--out", tmp_path)
    assert result.exit_code == 2
    assert result.stderr.splitlines() == ["annealed: camera 7: there is none that OpenCV can open"]
    assert list(tmp_path.iterdir()) == []


def test_a_camera_is_followed_alone(annealed, camera):
    result = annealed("detect-keypoints", "0", "1", "--model", "face")
    assert result.exit_code == 2
    assert "followed alone" in result.stderr


def test_frames_that_come_too_fast_are_dropped(monkeypatch):
    monkeypatch.setattr(cv2, "VideoCapture", lambda *_: FakeCamera(n=40, pace=0.005))
    tracker = ObjectTracker(load_model("face"), 1)
    rows, shown = io.StringIO(), []
    run = LiveRun(tracker, rows, lambda picture: len(shown) < 8 and not shown.append(picture), None)
    with Camera("0") as source:
        run.follow(source)
    assert run.n_frames > 1
    assert shown[0].shape == FACE.shape
    chin = [row for row in rows_of(rows.getvalue()) if row["keypoint"] == "chin"]
    found = tracker.tracks().points[:, 0, tracker.detector.keypoint_names.index("chin"), 0]
    assert len(chin) == len(found) == run.n_frames
    assert run.n_dropped > 0


def test_a_time_ends_it(monkeypatch):
    monkeypatch.setattr(cv2, "VideoCapture", lambda *_: FakeCamera(n=10_000))
    tracker = ObjectTracker(load_model("face"), 1, record=False)
    run = LiveRun(tracker, io.StringIO(), None, None)
    with Camera("0") as source:
        run.follow(source, seconds=0.3)
    assert 1 <= run.n_frames < 30
    assert len(tracker.tracks()) == 0
