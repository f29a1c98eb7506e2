"""Objects followed live: each time the newest frame of a camera, smoothed without looking ahead."""

import csv
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO

import cv2
import numpy as np

from ..datasets.cameras import Camera, LiveFrame
from ..features.errors import DataError
from ..models.keypoints.videos.object_tracks import ObjectTracks
from ..models.keypoints.videos.one_euro import OneEuroFilter
from ..models.keypoints.videos.tracker import FollowedObjects, ObjectTracker
from ..models.whole_files import whole_file
from .detection_run import FRAMES_PER_SECOND
from .output.overlay import write_text
from .output.track_overlay import draw_followed, draw_legend
from .output.video_file import VideoFile
from .progress import warn

COLUMNS = ("frame", "time_s", "object", "keypoint", "x", "y", "likelihood", "latency_ms")
TITLE = "annealed: q ends"
_END_KEYS = (ord("q"), 27)
_RECENT = 30  # frames over which the shown latency is a mean


class LiveRun:
    """Follows objects in what a camera sees until it ends, a key is pressed, or the time is over.

    Parameters
    ----------
    tracker : ObjectTracker
    rows : text stream
        Takes a line per keypoint.
    show : callable, optional
        Shows a picture and returns whether to go on.
    save : callable, optional
        Takes a picture, and for how many frames of the camera it stands.
    """

    def __init__(
        self,
        tracker: ObjectTracker,
        rows: TextIO,
        show: Callable[[np.ndarray], bool] | None,
        save: Callable[[np.ndarray, int], None] | None,
    ) -> None:
        self.tracker = tracker
        self.show = show
        self.save = save
        self.n_frames = self.n_dropped = 0
        self.latencies_s: list[float] = []
        self._writer = csv.writer(rows, lineterminator="\n")
        self._writer.writerow(COLUMNS)
        self._stream = rows
        self._filters: dict[int, OneEuroFilter] = {}
        self._start_s: float | None = None

    def follow(self, camera: Camera, seconds: float | None = None) -> None:
        """Go on to the end; `seconds` bounds the time."""
        last = -1
        while (frame := camera.newest()) is not None:
            self._start_s = frame.time_s if self._start_s is None else self._start_s
            self.n_frames += 1
            self.n_dropped += frame.number - last - 1
            if not self._step(frame, frame.number - last):
                return
            last = frame.number
            if seconds is not None and frame.time_s - self._start_s >= seconds:
                return

    def summary(self) -> str:
        """Return what was done, in words."""
        latency = f"{1000 * float(np.median(self.latencies_s)):.0f} ms" if self.latencies_s else "unknown"
        return f"{self.n_frames} frames, {self.n_dropped} dropped, latency {latency}"

    def _step(self, frame: LiveFrame, n_stands_for: int) -> bool:
        followed = self.tracker.step(frame.image, frame.number)
        points = self._filtered(followed, frame.time_s)
        latency = time.monotonic() - frame.time_s
        self.latencies_s = [*self.latencies_s[-10 * _RECENT :], latency]
        self._write(frame, followed, points, latency)
        if self.show is None and self.save is None:
            return True
        picture = self._drawn(frame, followed, points)
        if self.save is not None:
            self.save(picture, n_stands_for)
        return self.show is None or self.show(picture)

    def _filtered(self, followed: FollowedObjects, time_s: float) -> np.ndarray:
        points = followed.points.copy()
        for i, number in enumerate(followed.numbers.tolist()):
            one = self._filters.setdefault(number, OneEuroFilter())
            points[i] = one(points[i], time_s)
        for number in set(self._filters) - set(followed.numbers.tolist()):
            del self._filters[number]  # an object that comes back begins anew
        return points

    def _write(self, frame: LiveFrame, followed: FollowedObjects, points: np.ndarray, latency: float) -> None:
        assert self._start_s is not None
        names = self.tracker.detector.keypoint_names
        for i, number in enumerate(followed.numbers.tolist()):
            for k, name in enumerate(names):
                x, y = points[i, k].tolist()
                if np.isfinite([x, y]).all():
                    row: list[Any] = [frame.number, f"{frame.time_s - self._start_s:.3f}", number, name]
                    likelihood = f"{followed.likelihood[i, k]:.4f}"
                    self._writer.writerow([*row, f"{x:.2f}", f"{y:.2f}", likelihood, f"{1000 * latency:.0f}"])
        self._stream.flush()

    def _drawn(self, frame: LiveFrame, followed: FollowedObjects, points: np.ndarray) -> np.ndarray:
        names = self.tracker.detector.keypoint_names
        tracks = ObjectTracks(
            names,
            np.array([frame.number]),
            points[None],
            followed.likelihood[None],
            followed.scores[None],
            followed.sizes[None],
            np.zeros((1, len(followed)), dtype=bool),
        )
        picture = draw_followed(frame.image, tracks, 0)
        draw_legend(picture, names)
        recent = 1000 * float(np.mean(self.latencies_s[-_RECENT:]))
        words = f"{recent:.0f} ms, {self.n_dropped} dropped"
        write_text(picture, words, (8, picture.shape[0] - 26), (255, 255, 255), 0.5)
        return picture


def has_display() -> bool:
    """Whether a window can be shown."""
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        return False
    return any(
        "GUI:" in line and "NONE" not in line.upper() for line in cv2.getBuildInformation().splitlines()
    )


@contextmanager
def shown() -> Iterator[Callable[[np.ndarray], bool]]:
    """Yield what shows a picture in a window, and returns False when the person has had enough."""
    cv2.namedWindow(TITLE, cv2.WINDOW_NORMAL)

    def show(picture: np.ndarray) -> bool:
        cv2.imshow(TITLE, picture[:, :, ::-1])
        return cv2.waitKey(1) & 0xFF not in _END_KEYS

    try:
        yield show
    finally:
        cv2.destroyWindow(TITLE)


@contextmanager
def saved(path: Path, frames_per_second: float) -> Iterator[Callable[[np.ndarray, int], None]]:
    """Yield what appends a picture to a video, as often as it stands for frames: it plays as it was seen."""
    with (
        whole_file(path, keep_interrupted=True) as temporary,
        VideoFile(temporary, frames_per_second) as video,
    ):

        def save(picture: np.ndarray, n_times: int) -> None:
            for _ in range(n_times):
                video.write(picture)

        yield save


def run_live(
    tracker: ObjectTracker, source: str, out: Path | None, video_name: str, seconds: float | None
) -> None:
    """Follow objects in what a camera sees: in a window, into a folder, or both.

    Raises
    ------
    DataError
        If there is no such camera, or neither display nor folder.
    """
    if out is None and not has_display():
        raise DataError(f"{source}: there is no display here to show a camera on; --out names a folder")
    with ExitStack() as stack:
        camera = Camera(source)
        rows: TextIO = sys.stdout
        save = None
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            temporary = stack.enter_context(whole_file(out / "live.csv", keep_interrupted=True))
            rows = stack.enter_context(temporary.open("w", encoding="utf-8", newline=""))
            rate = camera.frames_per_second or FRAMES_PER_SECOND
            save = stack.enter_context(saved(out / video_name, rate))
        show = stack.enter_context(shown()) if has_display() else None
        stack.enter_context(camera)
        run = LiveRun(tracker, rows, show, save)
        try:
            run.follow(camera, seconds)
        finally:
            warn(f"{source}: {run.summary()}")
