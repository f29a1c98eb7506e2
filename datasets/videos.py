"""Videos as streams of frames."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import cv2
import numpy as np

from ..features.errors import DataError

EXTENSIONS = (".avi", ".mp4", ".mov", ".mkv", ".webm", ".m4v", ".mpg", ".mpeg", ".wmv", ".ogv")
MAX_FRAME_RATE = 1000.0  # a header that states more is wrong: it gives the ticks of a clock

# FFmpeg writes of damaged files to stderr, past Python; what matters is raised. Read when first used.
os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")

# The other backends would try a damaged video as a series of pictures, and print why it is none.
_BACKEND = cv2.CAP_FFMPEG if cv2.CAP_FFMPEG in cv2.videoio_registry.getStreamBackends() else cv2.CAP_ANY


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
    capture = _open_quietly(path)
    try:
        if not capture.isOpened():
            raise DataError(f"{path}: not a video that OpenCV can read")
        yield capture
    finally:
        capture.release()


def _open_quietly(path: Path) -> cv2.VideoCapture:
    """Open a video without OpenCV's own words on stderr if it fails."""
    level = cv2.utils.logging.getLogLevel()
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    try:
        return cv2.VideoCapture(str(path), _BACKEND)
    finally:
        cv2.utils.logging.setLogLevel(level)


def video_frames(path: str | os.PathLike, *, first: int = 0, step: int = 1) -> Iterator[np.ndarray]:
    """Yield the frames of a video one by one, (H, W, 3) uint8 RGB.

    A frame that cannot be decoded ends the video.

    Parameters
    ----------
    path : path-like
    first : int
        Frames that are passed over.
    step : int
        From there on, yield each `step`-th frame.

    Raises
    ------
    DataError
        If the video cannot be read, or has no frame after those passed over.
    """
    with opened_video(path) as capture:
        n = 0
        while capture.grab():
            if n >= first and (n - first) % step == 0:
                read, frame = capture.retrieve()
                if not read:
                    break
                yield np.ascontiguousarray(frame[:, :, ::-1])
            n += 1
    if n <= first:
        raise DataError(f"{path}: {n} frames in the video, expected more than {first}")


def stated_length(path: str | os.PathLike) -> int:
    """Return the number of frames that a video's header states; 0 if it does not, and it may be wrong."""
    with opened_video(path) as capture:
        return max(0, int(capture.get(cv2.CAP_PROP_FRAME_COUNT)))


def frame_rate(path: str | os.PathLike) -> float:
    """Return the frames per second that a video's header states; 0 if it does not."""
    with opened_video(path) as capture:
        rate = capture.get(cv2.CAP_PROP_FPS)
    return rate if 0 < rate <= MAX_FRAME_RATE else 0.0
