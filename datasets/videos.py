"""Videos as streams of frames."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import cv2
import numpy as np

from ..features.errors import DataError

EXTENSIONS = (".avi", ".mp4", ".mov", ".mkv", ".webm", ".m4v", ".mpg", ".mpeg", ".wmv", ".ogv")

# FFmpeg writes of damaged files to stderr, past Python; what matters is raised. Read when first used.
os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")


@contextmanager
def opened_video(path: str | os.PathLike) -> Iterator[cv2.VideoCapture]:
    """Open a video for the length of a `with` block.

    Raises
    ------
    DataError
        If the file is missing or OpenCV cannot decode it.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    capture = cv2.VideoCapture(str(path))
    try:
        if not capture.isOpened():
            raise DataError(f"{path}: not a video that OpenCV can read")
        yield capture
    finally:
        capture.release()


def video_frames(path: str | os.PathLike, *, first: int = 0) -> Iterator[np.ndarray]:
    """Yield the frames of a video one by one, (H, W, 3) uint8 RGB.

    Parameters
    ----------
    path : path-like
    first : int
        Frames that are passed over.

    Raises
    ------
    DataError
        If the video cannot be read, or has no frame after those passed over.
    """
    with opened_video(path) as capture:
        n = 0
        while True:
            read, frame = capture.read()
            if not read:
                break
            if n >= first:
                yield np.ascontiguousarray(frame[:, :, ::-1])
            n += 1
    if n <= first:
        raise DataError(f"{path}: {n} frames in the video, expected more than {first}")


def stated_length(path: str | os.PathLike) -> int:
    """Return the number of frames that a video's header states; 0 if it does not, and it may be wrong."""
    with opened_video(path) as capture:
        return max(0, int(capture.get(cv2.CAP_PROP_FRAME_COUNT)))
