import struct
from contextlib import contextmanager
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from annealed.app.output.video_file import VideoFile
from annealed.datasets import videos
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


@pytest.mark.parametrize(("stated", "rate"), [(None, 0), (-1.0, 0), (90000.0, 0), (24.0, 24)])
def test_frame_rates_that_cannot_be_are_none(video, monkeypatch, stated, rate):
    @contextmanager
    def opened(path):
        yield None, SimpleNamespace(guessed_rate=stated)

    monkeypatch.setattr(videos, "opened_video", opened)
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
        b"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nhttp://127.0.0.1:9/a.ts\n#EXT-X-ENDLIST\n",
        b"ffconcat version 1.0\nfile a.avi\n",
        b"v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=video 9 RTP/AVP 96\na=rtpmap:96 H264/90000\n",
    ],
)
def test_files_that_are_no_video_are_refused(tmp_path, content, capfd):
    (tmp_path / "a.mp4").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.mp4: not a video"), opened_video(tmp_path / "a.mp4"):
        pass
    assert capfd.readouterr().err == ""


def test_a_playlist_does_not_lead_to_other_files(video):
    playlist = video.with_name("b.avi")
    playlist.write_text(f"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile://{video}\n#EXT-X-ENDLIST\n")
    with pytest.raises(DataError, match=r"b\.avi: not a video"):
        list(video_frames(playlist))


def turned(content, a, b):
    """An MP4 whose header asks a player to turn it: the rotation matrix (a, b; -b, a)."""
    at = content.find(b"tkhd") + 4 + 40  # version 0: what follows the header's times and sizes
    fixed = struct.pack(">9i", a << 16, b << 16, 0, -b << 16, a << 16, 0, 0, 0, 1 << 30)
    return content[:at] + fixed + content[at + 36 :]


@pytest.mark.parametrize(("a", "b"), [(0, 1), (-1, 0), (0, -1)])
def test_frames_are_turned_as_a_player_shows_them(tmp_path, rng, a, b):
    path = tmp_path / "a.mp4"
    with VideoFile(path, 10) as written:
        written.write(np.kron(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8), np.ones((8, 8, 1), np.uint8)))
    path.write_bytes(turned(path.read_bytes(), a, b))
    (frame,) = video_frames(path)
    capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG)  # OpenCV turns them, too
    np.testing.assert_array_equal(frame, capture.read()[1][:, :, ::-1])
    capture.release()


def test_frames_larger_than_the_budget_are_refused(video, monkeypatch):
    monkeypatch.setenv("ANNEALED_INPUT_MEMORY", "1000")
    with pytest.raises(DataError, match="a frame of 64 x 48 pixels would take"):
        next(video_frames(video))


def test_missing_videos_are_named(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        list(video_frames(tmp_path / "a.avi"))
