"""Point tracks from a video: pyramidal Lucas-Kanade with a forward-backward check.

- B. D. Lucas, T. Kanade. An iterative image registration technique with an application to stereo vision.
  IJCAI 1981; J.-Y. Bouguet's pyramidal form.
- J. Shi, C. Tomasi. Good features to track. CVPR 1994: the points.
- Z. Kalal, K. Mikolajczyk, J. Matas. Forward-backward error: automatic detection of tracking failures.
  ICPR 2010: the check.
"""

import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np

from ...features.errors import DataError, ParameterError
from ..videos import stated_length, video_frames
from .tracks import Tracks

QUALITY = 0.005  # least corner strength, as a share of the frame's strongest
SPACING = 0.45  # least distance of points, as a share of that of n_points spread evenly over the frame
WINDOW_PX = 15
N_LEVELS = 3
MAX_RETURN_PX = 0.7  # farthest that tracking forth and back may end from where it began
BORDER_PX = 3
REFILL = 0.85  # new points are looked for when fewer than this share of `n_points` is left
MIN_FRAMES = 3  # shorter tracks say nothing of a motion and are dropped
MAX_CELLS = 20_000_000

Report = Callable[[str, int, int], None]


class VideoTracks(NamedTuple):
    """What tracking a video gives.

    Attributes
    ----------
    tracks : Tracks
        Positions in pixels of the frame, y pointing down, and where each point is visible.
    n_lost : int
        Kept tracks that end before the last frame: the check failed, or the point left the picture.
    n_dropped : int
        Tracks left out because they lasted fewer than `MIN_FRAMES` frames.
    """

    tracks: Tracks
    n_lost: int
    n_dropped: int


def track_video(
    path: str | os.PathLike,
    *,
    n_points: int = 600,
    first_frame: int = 0,
    n_frames: int | None = None,
    report: Report | None = None,
) -> VideoTracks:
    """Track points through a video, looking for new ones where tracks are lost.

    Frames are read one by one; only the tracks are kept.

    Parameters
    ----------
    path : path-like
    n_points : int
        Points to follow at a time.
    first_frame : int
        Frame of the video to begin at; the tracks' `frame_offset`.
    n_frames : int, optional
        Frames to track; by default all.
    report : callable, optional
        Called with (phase, frames done, frames in all) after each frame.

    Returns
    -------
    VideoTracks

    Raises
    ------
    DataError
        If the video cannot be read, is shorter than `MIN_FRAMES`, shows nothing that can be tracked, or is
        too long to be kept as tracks.
    ParameterError
        If a number is out of range.
    """
    for name, value, least in (
        ("n_points", n_points, 1),
        ("first_frame", first_frame, 0),
        ("n_frames", MIN_FRAMES if n_frames is None else n_frames, MIN_FRAMES),
    ):
        if value < least:
            raise ParameterError(f"{name} must be at least {least}, got {value}")
    path = Path(path)
    total = max(0, stated_length(path) - first_frame)
    total = total if n_frames is None else min(total, n_frames)
    tracker = _Tracker(n_points)
    for frame in islice(video_frames(path, first=first_frame), n_frames):
        tracker.follow(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY))
        if len(tracker.starts) * tracker.n_frames > MAX_CELLS:
            raise DataError(
                f"{path}: too many tracks after {tracker.n_frames} frames; take fewer frames or points"
            )
        if report is not None:
            report("tracking", tracker.n_frames, max(total, tracker.n_frames))
    if tracker.n_frames < MIN_FRAMES:
        raise DataError(f"{path}: {tracker.n_frames} frames, expected at least {MIN_FRAMES}")
    return tracker.result(path, first_frame)


class _Tracker:
    """Tracks so far: where each one began, its positions, and which are still followed."""

    def __init__(self, n_points: int) -> None:
        self.n_points = n_points
        self.n_frames = 0
        self.starts: list[int] = []
        self.paths: list[list[np.ndarray]] = []
        self.alive = np.empty(0, dtype=np.int64)
        self.points = np.empty((0, 2), dtype=np.float32)
        self.last: np.ndarray | None = None

    def follow(self, grey: np.ndarray) -> None:
        """Take the next frame, (H, W) uint8."""
        if self.last is not None and len(self.alive):
            moved, kept = _track(self.last, grey, self.points)
            self.alive, self.points = self.alive[kept], moved[kept]
            for i, point in zip(self.alive.tolist(), self.points, strict=True):
                self.paths[i].append(point)
        if len(self.alive) < REFILL * self.n_points:
            self._add(_detect(grey, self.points, self.n_points))
        self.last = grey
        self.n_frames += 1

    def _add(self, points: np.ndarray) -> None:
        first = len(self.starts)
        self.starts += [self.n_frames] * len(points)
        self.paths += [[point] for point in points]
        self.alive = np.concatenate([self.alive, np.arange(first, first + len(points))])
        self.points = np.concatenate([self.points, points])

    def result(self, path: Path, first_frame: int) -> VideoTracks:
        kept = [i for i, track in enumerate(self.paths) if len(track) >= MIN_FRAMES]
        if not kept:
            raise DataError(f"{path}: nothing in the video can be tracked for {MIN_FRAMES} frames")
        positions = np.full((len(kept), self.n_frames, 2), np.nan)
        for row, i in zip(positions, kept, strict=True):
            row[self.starts[i] : self.starts[i] + len(self.paths[i])] = self.paths[i]
        visible = np.isfinite(positions[:, :, 0])
        assert self.last is not None
        height, width = self.last.shape
        tracks = Tracks(
            positions,
            visible=visible,
            frame_offset=first_frame,
            width=width,
            height=height,
            name=path.stem,
        )
        return VideoTracks(tracks, int((~visible[:, -1]).sum()), len(self.paths) - len(kept))


def _detect(grey: np.ndarray, taken: np.ndarray, n_points: int) -> np.ndarray:
    """Find corners away from the points that are followed already, (n, 2) float32, x and y."""
    spacing = max(3.0, SPACING * np.sqrt(grey.size / n_points))
    mask = np.full(grey.shape, 255, dtype=np.uint8)
    for x, y in np.rint(taken).astype(int).tolist():
        cv2.circle(mask, (x, y), round(spacing), 0, -1)
    found = cv2.goodFeaturesToTrack(grey, n_points - len(taken), QUALITY, spacing, mask=mask, blockSize=5)
    return np.empty((0, 2), np.float32) if found is None else found.reshape(-1, 2)


def _track(before: np.ndarray, after: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Follow points to the next frame and back; return where they are, and which can be trusted."""
    moved, found = _flow(before, after, points)
    back, found_back = _flow(after, before, moved)
    height, width = after.shape
    inside = (moved >= BORDER_PX) & (moved <= np.array([width, height]) - 1 - BORDER_PX)
    returned = np.linalg.norm(back - points, axis=1) < MAX_RETURN_PX
    return moved, found & found_back & inside.all(axis=1) & returned


def _flow(before: np.ndarray, after: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pyramidal Lucas-Kanade: positions in the next frame, and whether each was found."""
    moved, found, _ = cv2.calcOpticalFlowPyrLK(
        before, after, points, np.empty_like(points), winSize=(WINDOW_PX, WINDOW_PX), maxLevel=N_LEVELS
    )
    return np.asarray(moved, dtype=np.float32), np.asarray(found).ravel() == 1
