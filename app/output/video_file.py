"""Videos written picture by picture."""

from pathlib import Path
from types import TracebackType

import cv2
import numpy as np

from ...features.errors import DataError


class VideoFile:
    """A video that is written: Motion-JPEG in AVI, which every OpenCV can write.

    A context manager. The file appears with the first picture, whose size is that of the video.

    Parameters
    ----------
    path : Path
        Ends in .avi.
    frames_per_second : float
    """

    def __init__(self, path: Path, frames_per_second: float) -> None:
        self.path = path
        self.frames_per_second = frames_per_second
        self._writer: cv2.VideoWriter | None = None
        self._size = 0, 0

    def __enter__(self) -> "VideoFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.release()

    def write(self, picture: np.ndarray) -> None:
        """Append a picture, (H, W, 3) uint8 RGB; one of another size than the first is stretched to that.

        Raises
        ------
        DataError
            If OpenCV cannot write a video there.
        """
        if self._writer is None:
            self._size = picture.shape[1], picture.shape[0]
            self._writer = self._opened()
        if (picture.shape[1], picture.shape[0]) != self._size:  # OpenCV would leave it out without a word
            picture = cv2.resize(picture, self._size, interpolation=cv2.INTER_AREA)
        self._writer.write(picture[:, :, ::-1])

    def _opened(self) -> cv2.VideoWriter:
        code = cv2.VideoWriter.fourcc(*"MJPG")
        writer = cv2.VideoWriter(str(self.path), code, self.frames_per_second, self._size)
        if not writer.isOpened():
            raise DataError(f"{self.path}: OpenCV cannot write a video here")
        return writer
