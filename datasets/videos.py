"""Videos as streams of frames.

FFmpeg's libraries load with the first video, as much of the program never opens one.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..features.errors import DataError
from .limits import check_memory

if TYPE_CHECKING:
    import av
    from av.container import InputContainer
    from av.video.stream import VideoStream

EXTENSIONS = (".avi", ".mp4", ".mov", ".mkv", ".webm", ".m4v", ".mpg", ".mpeg", ".wmv", ".ogv")
MAX_FRAME_RATE = 1000.0  # a header that states more is wrong: it gives the ticks of a clock
BYTES_PER_PIXEL = 10
"""About what a frame takes while it is read, against the budget of `limits`."""

# A file is opened by its content, and a playlist or a list of parts would lead on to other files or into the
# network: only containers that hold their pictures themselves are opened, and only from the disk.
_OPTIONS = {
    "format_whitelist": "avi,mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpeg,mpegts,mpegvideo,asf,ogg",
    "protocol_whitelist": "file",
}


@contextmanager
def opened_video(path: str | os.PathLike) -> Iterator[tuple[InputContainer, VideoStream]]:
    """Open a video and its first stream of pictures for the length of a `with` block.

    Raises
    ------
    DataError
        If the file is missing, FFmpeg cannot read it, or its frames are larger than their budget of memory.
    """
    import av

    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    try:
        container = av.open(f"file:{path}", options=_OPTIONS, metadata_errors="replace")
    # FFmpeg's errors are of many kinds, among them those of the operating system.
    except Exception as error:
        raise DataError(f"{path}: not a video that can be read ({_reason(error)})") from None
    with container:
        streams = [stream for stream in container.streams.video if stream.codec_context is not None]
        if not streams:
            raise DataError(f"{path}: not a video that can be read (it holds no pictures of a known kind)")
        stream = streams[0]
        width, height = stream.width or 0, stream.height or 0
        check_memory(path, BYTES_PER_PIXEL * width * height, f"a frame of {width} x {height} pixels")
        yield container, stream


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def video_frames(path: str | os.PathLike, *, first: int = 0, step: int = 1) -> Iterator[np.ndarray]:
    """Yield the frames of a video one by one, (H, W, 3) uint8 RGB, as a player shows them.

    A frame that cannot be decoded, or that has another size than the first, ends the video.

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
    n = 0
    with opened_video(path) as (container, stream):
        for frame in _decoded(container, stream):
            if n >= first and (n - first) % step == 0:
                yield _upright(frame)
            n += 1
    if n <= first:
        raise DataError(f"{path}: {n} frames in the video, expected more than {first}")


def _decoded(container: InputContainer, stream: VideoStream) -> Iterator[av.VideoFrame]:
    """Yield frames up to the first that cannot be decoded."""
    size = None
    frames = container.decode(stream)
    while True:
        try:
            frame = next(frames)
        except StopIteration:
            return
        except Exception:  # whatever FFmpeg makes of the damage
            return
        size = size or (frame.width, frame.height)
        if (frame.width, frame.height) != size:
            return
        yield frame


def _upright(frame: av.VideoFrame) -> np.ndarray:
    """The pixels, turned as the file says that a player must turn them."""
    return np.ascontiguousarray(np.rot90(frame.to_ndarray(format="rgb24"), round(frame.rotation / 90)))


def stated_length(path: str | os.PathLike) -> int:
    """Return the number of frames that a video's header states; 0 if it does not, and it may be wrong."""
    with opened_video(path) as (_, stream):
        if stream.frames > 0:
            return int(stream.frames)
        rate, duration, tick = stream.guessed_rate, stream.duration, stream.time_base
        stated = float(duration * tick * rate) if rate and duration and tick else 0.0
        return round(stated) if 0 < stated < 2**31 else 0


def frame_rate(path: str | os.PathLike) -> float:
    """Return the frames per second that a video's header states; 0 if it does not."""
    with opened_video(path) as (_, stream):
        rate = float(stream.guessed_rate or 0)
    return rate if math.isfinite(rate) and 0 < rate <= MAX_FRAME_RATE else 0.0
