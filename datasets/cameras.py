"""Cameras and streams: always the newest frame, however long the last one took."""

import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import cv2
import numpy as np

from ..features.errors import DataError

SILENT = 0  # the least of OpenCV's levels of logging
LONGEST_SILENCE_S = 10.0
"""A camera that gives no frame for so long is taken for gone."""


@dataclass(frozen=True, eq=False)
class LiveFrame:
    """A frame of a camera.

    Attributes
    ----------
    number : int
        How many frames came before it, those that were dropped too.
    image : ndarray of shape (H, W, 3), uint8
        RGB.
    time_s : float
        When it arrived, by `time.monotonic`.
    """

    number: int
    image: np.ndarray
    time_s: float


def is_camera(text: str) -> bool:
    """Whether an input names a camera by its number, or a stream by its address."""
    return (text.isascii() and text.isdigit() and len(text) <= 3) or "://" in text


class Camera:
    """A camera or stream whose frames are read in a thread; only the newest is kept.

    A context manager.

    Parameters
    ----------
    source : str
        A number, or an address such as rtsp://...

    Raises
    ------
    DataError
        If there is no such camera, or it cannot be read.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._capture = _opened(source)
        self._arrived = threading.Condition()
        self._newest: LiveFrame | None = None
        self._taken = -1
        self._ended = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, name=f"camera {source}", daemon=True)

    def __enter__(self) -> "Camera":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(timeout=LONGEST_SILENCE_S)
        self._capture.release()

    @property
    def frames_per_second(self) -> float:
        """As the camera states it; 0 if it does not."""
        rate = float(self._capture.get(cv2.CAP_PROP_FPS))
        return rate if 0 < rate <= 1000 else 0.0

    def newest(self) -> LiveFrame | None:
        """Wait for a frame that was not taken yet, and return the newest; None when the stream has ended.

        Raises
        ------
        DataError
            If none comes for `LONGEST_SILENCE_S` seconds.
        """
        with self._arrived:
            came = self._arrived.wait_for(lambda: self._ended or self._is_new(), LONGEST_SILENCE_S)
            if not came:
                raise DataError(f"{self.source}: no frame for {LONGEST_SILENCE_S:g} s")
            if not self._is_new():
                return None
            assert self._newest is not None
            self._taken = self._newest.number
            return self._newest

    def _is_new(self) -> bool:
        return self._newest is not None and self._newest.number > self._taken

    def _read(self) -> None:
        number = 0
        while not self._stop.is_set():
            read, frame = self._capture.read()
            with self._arrived:
                if not read:
                    self._ended = True
                    self._arrived.notify()
                    return
                image = np.ascontiguousarray(frame[:, :, ::-1])
                self._newest = LiveFrame(number, image, time.monotonic())
                self._arrived.notify()
            number += 1


def _opened(source: str) -> cv2.VideoCapture:
    """Open a camera without OpenCV's own words on stderr if it fails."""
    log: Any = getattr(cv2.utils, "logging", cv2)  # of OpenCV 5; of OpenCV 4
    level = log.getLogLevel()
    log.setLogLevel(SILENT)
    try:
        capture = cv2.VideoCapture(int(source)) if source.isdigit() else cv2.VideoCapture(source)
    finally:
        log.setLogLevel(level)
    if not capture.isOpened():
        capture.release()
        what = f"camera {source}: there is none" if source.isdigit() else f"{source}: no stream"
        raise DataError(f"{what} that OpenCV can open")
    capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)  # as far as the camera lets itself be told
    return capture
