import numpy as np
import pytest

from annealed.app.output.video_file import VideoFile
from annealed.datasets.videos import frame_rate, video_frames
from annealed.features.errors import DataError


def grey(value, height=48, width=64):
    return np.full((height, width, 3), value, np.uint8)


def test_pictures_come_back_in_order_as_rgb(tmp_path):
    red = grey(0)
    red[:, :, 0] = 200
    with VideoFile(tmp_path / "a.avi", 12.5) as video:
        for picture in (grey(40), red, grey(120)):
            video.write(picture)
    frames = list(video_frames(tmp_path / "a.avi"))
    middle = [frame[20, 20].tolist() for frame in frames]
    np.testing.assert_allclose(middle, [[40] * 3, [200, 0, 0], [120] * 3], atol=8)
    assert frame_rate(tmp_path / "a.avi") == pytest.approx(12.5)


def test_pictures_of_another_size_are_stretched_not_lost(tmp_path):
    with VideoFile(tmp_path / "a.avi", 10) as video:
        video.write(grey(40))
        video.write(grey(80, 20, 30))
    frames = list(video_frames(tmp_path / "a.avi"))
    assert [frame.shape for frame in frames] == [(48, 64, 3)] * 2
    np.testing.assert_allclose(frames[1][20, 20], 80, atol=6)


def test_without_a_picture_there_is_no_file(tmp_path):
    with VideoFile(tmp_path / "a.avi", 10):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with VideoFile(tmp_path / "gone" / "a.avi", 10) as video, pytest.raises(DataError, match=r"gone.a\.avi"):
        video.write(grey(0))
