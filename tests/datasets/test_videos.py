import cv2
import numpy as np
import pytest

from annealed.datasets.videos import frame_rate, opened_video, stated_length, video_frames
from annealed.features.errors import DataError


@pytest.fixture
def video(tmp_path):
    path = tmp_path / "a.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 10, (64, 48))
    for i in range(5):
        frame = np.zeros((48, 64, 3), np.uint8)
        frame[:, :, 2] = 40 * (i + 1)  # OpenCV writes BGR: this is red
        writer.write(frame)
    writer.release()
    return path


def test_frames_come_in_order_as_rgb(video):
    frames = list(video_frames(video))
    assert [frame.shape for frame in frames] == [(48, 64, 3)] * 5
    np.testing.assert_allclose([frame[20, 20, 0] for frame in frames], [40, 80, 120, 160, 200], atol=6)
    assert max(frame[20, 20, 2] for frame in frames) < 10
    assert stated_length(video) == 5
    assert frame_rate(video) == pytest.approx(10)


def test_frames_may_be_passed_over(video):
    assert len(list(video_frames(video, first=3))) == 2
    with pytest.raises(DataError, match="5 frames in the video, expected more than 5"):
        list(video_frames(video, first=5))


def test_each_nth_frame_may_be_taken(video):
    assert [round(frame[20, 20, 0] / 40) for frame in video_frames(video, step=2)] == [1, 3, 5]
    assert [round(frame[20, 20, 0] / 40) for frame in video_frames(video, first=1, step=3)] == [2, 5]
    assert len(list(video_frames(video, step=100))) == 1


@pytest.mark.parametrize(("stated", "rate"), [(np.nan, 0), (-1.0, 0), (90000.0, 0), (24.0, 24)])
def test_frame_rates_that_cannot_be_are_none(video, monkeypatch, stated, rate):
    class Capture:
        def __init__(self, path, backend):
            self.get = {cv2.CAP_PROP_FPS: stated}.get
            self.isOpened = self.release = lambda: True

    monkeypatch.setattr(cv2, "VideoCapture", Capture)
    assert frame_rate(video) == rate


def test_a_frame_that_cannot_be_decoded_ends_the_video(video):
    *whole, fourth, _ = video.read_bytes().split(b"00dc", 5)  # each frame begins with this
    video.write_bytes(b"00dc".join([*whole, fourth[:3]]))
    assert stated_length(video) == 5
    reds = [frame[20, 20, 0] for frame in video_frames(video)]
    assert 2 <= len(reds) <= 3  # some decoders want to see what follows the third
    np.testing.assert_allclose(reds, [40, 80, 120][: len(reds)], atol=6)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no video at all",
        b"\x00\x00\x00\x20ftypisom\x00\x00\x02\x00isom",
        b"RIFF\x10\x00\x00\x00AVI LIST",
    ],
)
def test_files_that_are_no_video_are_refused(tmp_path, content, capfd):
    (tmp_path / "a.mp4").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.mp4: not a video"), opened_video(tmp_path / "a.mp4"):
        pass
    assert capfd.readouterr().err == ""


def test_missing_videos_are_named(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        list(video_frames(tmp_path / "a.avi"))
