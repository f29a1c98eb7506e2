"""Videos written picture by picture."""

import errno
from fractions import Fraction
from pathlib import Path
from types import TracebackType

import av
import cv2
import numpy as np
from av.container import OutputContainer
from av.video.stream import VideoStream

_CODECS = "libx264", "mpeg4"  # the first that FFmpeg has
_OPTIONS = {"libx264": {"crf": "18", "preset": "veryfast"}, "mpeg4": {"qscale": "3"}}
_BT601, _BT601_LIMITED = 6, 1  # FFmpeg's numbers of the colours that its conversion gives


class VideoFile:
    """A video that is written: H.264 in MP4, which browsers and players show.

    A context manager. The file appears with the first picture, whose size is that of the video; at the end of
    the block it is read back, so that one which the disk cut short is not taken for whole.

    Parameters
    ----------
    path : Path
        Ends in .mp4.
    frames_per_second : float
    """

    def __init__(self, path: Path, frames_per_second: float) -> None:
        self.path = path
        self.frames_per_second = frames_per_second
        self._container: OutputContainer | None = None
        self._stream: VideoStream | None = None
        self._n_written = 0
        self._size = 0, 0

    def __enter__(self) -> "VideoFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._container is None or self._stream is None:
            return
        try:
            for packet in self._stream.encode():
                self._container.mux(packet)
            self._container.close()
        except av.FFmpegError as problem:
            if error is None:
                raise self._refused(problem) from None
        if error is None:
            self._check_length()

    def write(self, picture: np.ndarray) -> None:
        """Append a picture, (H, W, 3) uint8 RGB; one of another size than the first is stretched to that.

        Raises
        ------
        OSError
            If a video cannot be written there.
        """
        try:
            if self._container is None:
                self._size = picture.shape[1], picture.shape[0]
                self._open()
            if (picture.shape[1], picture.shape[0]) != self._size:
                picture = cv2.resize(picture, self._size, interpolation=cv2.INTER_AREA)
            assert self._container is not None
            assert self._stream is not None
            for packet in self._stream.encode(av.VideoFrame.from_ndarray(_even(picture), format="rgb24")):
                self._container.mux(packet)
        except av.FFmpegError as error:
            self._container = None  # nothing more can be written
            raise self._refused(error) from None
        self._n_written += 1

    def _open(self) -> None:
        codec = next(name for name in _CODECS if name in av.codecs_available)
        self._container = av.open(f"file:{self.path}", "w", format="mp4")
        rate = Fraction(self.frames_per_second).limit_denominator(1001)
        stream = self._container.add_stream(codec, rate=rate, options=_OPTIONS[codec])
        assert isinstance(stream, VideoStream)
        stream.width, stream.height = (side + side % 2 for side in self._size)
        stream.pix_fmt = "yuv420p"
        stream.codec_context.colorspace, stream.codec_context.color_range = _BT601, _BT601_LIMITED
        self._stream = stream
        self._container.start_encoding()  # refuses a place that cannot be written now, not at the end

    def _check_length(self) -> None:
        with av.open(f"file:{self.path}") as container:
            n_read = sum(packet.size > 0 for packet in container.demux(video=0))
        if n_read != self._n_written:
            problem = f"only {n_read} of {self._n_written} pictures can be read back"
            raise OSError(errno.EIO, problem, str(self.path))

    def _refused(self, error: av.FFmpegError) -> OSError:
        return OSError(error.errno, error.strerror, str(self.path))


def _even(picture: np.ndarray) -> np.ndarray:
    """A picture with even sides, as colours are stored for 2 x 2 pixels: the last row or column twice."""
    height, width = picture.shape[:2]
    return np.pad(picture, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
