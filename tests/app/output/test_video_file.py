import os
import subprocess
import sys

import numpy as np
import pytest

from annealed.app.output.video_file import VideoFile
from annealed.datasets.videos import frame_rate, video_frames


def grey(value, height=48, width=64):
    return np.full((height, width, 3), value, np.uint8)


def test_pictures_come_back_in_order_as_rgb(tmp_path):
    red = grey(0)
    red[:, :, 0] = 200
    with VideoFile(tmp_path / "a.mp4", 12.5) as video:
        for picture in (grey(40), red, grey(120)):
            video.write(picture)
    frames = list(video_frames(tmp_path / "a.mp4"))
    middle = [frame[20, 20].tolist() for frame in frames]
    np.testing.assert_allclose(middle, [[40] * 3, [200, 0, 0], [120] * 3], atol=8)
    assert frame_rate(tmp_path / "a.mp4") == pytest.approx(12.5)


def test_pictures_of_another_size_are_stretched_not_lost(tmp_path):
    with VideoFile(tmp_path / "a.mp4", 10) as video:
        video.write(grey(40))
        video.write(grey(80, 20, 30))
    frames = list(video_frames(tmp_path / "a.mp4"))
    assert [frame.shape for frame in frames] == [(48, 64, 3)] * 2
    np.testing.assert_allclose(frames[1][20, 20], 80, atol=6)


def test_without_a_picture_there_is_no_file(tmp_path):
    with VideoFile(tmp_path / "a.mp4", 10):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with VideoFile(tmp_path / "gone" / "a.mp4", 10) as video, pytest.raises(OSError, match=r"gone.a\.mp4"):
        video.write(grey(0))


def test_odd_sides_are_made_even(tmp_path):
    with VideoFile(tmp_path / "a.mp4", 10) as video:
        video.write(grey(90, 47, 63))
    (frame,) = video_frames(tmp_path / "a.mp4")
    assert frame.shape == (48, 64, 3)


def test_a_video_that_is_cut_short_is_noticed(tmp_path):
    video = VideoFile(tmp_path / "a.mp4", 10)
    video.write(grey(0))
    video._n_written += 1
    with pytest.raises(OSError, match="only 1 of 2 pictures"):
        video.__exit__(None, None, None)


LIMITED = """
import resource, sys
import numpy as np
from pathlib import Path
from annealed.app.output.video_file import VideoFile
from annealed.features.errors import DataError
from annealed.models.whole_files import whole_file

noise = np.random.default_rng(0).integers(0, 256, (240, 320, 3), dtype=np.uint8)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
try:
    with whole_file(Path(sys.argv[1])) as temporary, VideoFile(temporary, 10) as video:
        for _ in range(20):
            video.write(noise)
except DataError as error:
    sys.exit(str(error))
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of file size are POSIX's")
def test_a_video_that_does_not_fit_on_the_disk_leaves_the_old_one(tmp_path):
    (tmp_path / "a.mp4").write_bytes(b"before")
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "a.mp4")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert f"{tmp_path / 'a.mp4'}: cannot be written (File too large" in done.stderr
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"a.mp4": b"before"}
