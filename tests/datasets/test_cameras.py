import time

import cv2
import numpy as np
import pytest

from annealed.datasets import cameras
from annealed.datasets.cameras import Camera, is_camera
from annealed.features.errors import DataError


class FakeCapture:
    """A camera of `n` frames, one every `pace` seconds; frame i is all of grey i."""

    def __init__(self, n=20, pace=0.01, opened=True):
        self.n, self.pace, self.opened, self.i, self.released = n, pace, opened, -1, False

    def isOpened(self):  # noqa: N802 (OpenCV's name)
        return self.opened

    def read(self):
        time.sleep(self.pace)
        self.i += 1
        if self.i >= self.n:
            return False, None
        return True, np.full((8, 10, 3), self.i, dtype=np.uint8)

    def get(self, _):
        return 30.0

    def set(self, *_):
        return True

    def release(self):
        self.released = True


@pytest.fixture
def fake(monkeypatch):
    """Let the next camera that is opened be a fake one."""

    def use(capture):
        monkeypatch.setattr(cv2, "VideoCapture", lambda *_: capture)
        return capture

    return use


def test_frames_come_in_their_order_with_their_numbers(fake):
    fake(FakeCapture(n=5, pace=0.05))
    with Camera("0") as camera:
        frames = list(iter(camera.newest, None))
    assert [frame.number for frame in frames] == [0, 1, 2, 3, 4]
    assert [int(frame.image[0, 0, 0]) for frame in frames] == [0, 1, 2, 3, 4]
    times = [frame.time_s for frame in frames]
    assert times == sorted(times)


def test_frames_are_dropped_not_delayed(fake):
    fake(FakeCapture(n=40, pace=0.005))
    numbers, ages = [], []
    with Camera("0") as camera:
        while (frame := camera.newest()) is not None:
            numbers.append(frame.number)
            ages.append(time.monotonic() - frame.time_s)
            time.sleep(0.04)  # eight times as slow as the camera
    assert len(numbers) < 20
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == 39
    assert np.median(ages) < 0.03


def test_the_camera_is_released(fake):
    capture = fake(FakeCapture(n=1000))
    with Camera("0") as camera:
        camera.newest()
    assert capture.released


def test_a_camera_that_is_silent_is_given_up(fake, monkeypatch):
    monkeypatch.setattr(cameras, "LONGEST_SILENCE_S", 0.2)
    fake(FakeCapture(n=3, pace=0.5))
    with Camera("rtsp://nowhere") as camera, pytest.raises(DataError, match="no frame for"):
        camera.newest()


@pytest.mark.parametrize(("source", "message"), [("0", "camera 0: there is none"), ("http://x", "no stream")])
def test_a_camera_that_is_not_there(fake, source, message):
    fake(FakeCapture(opened=False))
    with pytest.raises(DataError, match=message):
        Camera(source)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0", True), ("12", True), ("rtsp://a/b", True), ("clip.mp4", False), ("a0", False)],
)
def test_is_camera(text, expected):
    assert is_camera(text) is expected
