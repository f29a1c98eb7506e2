"""Pictures and videos of segmented tracks: one colour a motion, with a fading trail."""

import math
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import cv2
import numpy as np

from ...datasets.tracks.tracks import Tracks
from ...datasets.videos import video_frames
from .overlay import COLOURS
from .video_file import VideoFile

UNLABELLED_COLOUR = (150, 150, 150)
TRAIL = 8  # frames that a track is shown back in time
N_SHEET = 6
FRAMES_PER_SECOND = 10
_MIN_SIDE_PX = 640
_MAX_BLANK_PX = 2000
_SHEET_WIDTH_PX = 560
_FARTHEST_PX = 2**20
_SHIFT = 4  # OpenCV takes coordinates in 1 / 2**4 pixels
_FONT = cv2.FONT_HERSHEY_SIMPLEX


def colour_of(label: int) -> tuple[int, int, int]:
    """RGB of a motion; grey for a track without one."""
    return COLOURS[label % len(COLOURS)] if label >= 0 else UNLABELLED_COLOUR


def draw_tracks(
    image: np.ndarray,
    positions: np.ndarray,
    visible: np.ndarray,
    labels: np.ndarray,
    frame: int,
    *,
    words: bool = True,
) -> np.ndarray:
    """Draw the tracks up to one frame: a dot where each is, and its way there, fading.

    Parameters
    ----------
    image : ndarray of shape (H, W, 3), uint8
        The frame of the video, or a blank canvas.
    positions : ndarray of shape (P, F, 2)
        x and y in pixels of the image, y pointing down.
    visible : ndarray of shape (P, F), bool
    labels : ndarray of shape (P,), int
        Motion of each track, -1 for none.
    frame : int
        Frame of the tracks.
    words : bool
        Draw a legend.

    Returns
    -------
    ndarray of shape (h, w, 3), uint8
        A copy, enlarged by a whole number if the picture is small.
    """
    factor = max(1, math.ceil(_MIN_SIDE_PX / max(image.shape[:2])))
    canvas = np.ascontiguousarray(image.repeat(factor, axis=0).repeat(factor, axis=1))
    places = (positions + 0.5) * factor - 0.5
    for age in range(min(TRAIL, frame), 0, -1):  # oldest first, so that the newest lies on top
        canvas = _draw_step(canvas, places, visible, labels, frame - age, _opacity(age))
    for i in np.flatnonzero(visible[:, frame]).tolist():
        centre = _fixed(places[i, frame])
        cv2.circle(canvas, centre, round(3.4 * 2**_SHIFT), (0, 0, 0), -1, cv2.LINE_AA, _SHIFT)
        cv2.circle(canvas, centre, round(2.4 * 2**_SHIFT), colour_of(labels[i]), -1, cv2.LINE_AA, _SHIFT)
    if words:
        _draw_legend(canvas, labels, frame)
    return canvas


def _draw_step(
    canvas: np.ndarray, places: np.ndarray, visible: np.ndarray, labels: np.ndarray, f: int, opacity: float
) -> np.ndarray:
    """Lay each track's step from frame f to f + 1 over the picture."""
    layer = canvas.copy()
    for i in np.flatnonzero(visible[:, f] & visible[:, f + 1]).tolist():
        ends = _fixed(places[i, f]), _fixed(places[i, f + 1])
        cv2.line(layer, *ends, colour_of(labels[i]), 1, cv2.LINE_AA, _SHIFT)
    return cv2.addWeighted(layer, opacity, canvas, 1 - opacity, 0)


def _opacity(age: int) -> float:
    return 0.7 * (1 - (age - 1) / TRAIL)


def _fixed(point: np.ndarray) -> tuple[int, int]:
    far = np.clip(point, -_FARTHEST_PX, _FARTHEST_PX)  # OpenCV's numbers have 32 bits
    x, y = np.rint(far * 2**_SHIFT).astype(int).tolist()
    return x, y


def _draw_legend(canvas: np.ndarray, labels: np.ndarray, frame: int) -> None:
    """Frame number and motions with their numbers of tracks, on a darkened corner, in place."""
    motions, counts = np.unique(labels, return_counts=True)
    lines = [(f"frame {frame}", (255, 255, 255))]
    for label, count in zip(motions.tolist(), counts.tolist(), strict=True):
        name = f"motion {label}" if label >= 0 else "not labelled"
        lines.append((f"{name}: {count}", colour_of(label)))
    corner = canvas[: 20 * len(lines) + 10, :160]
    corner[:] = corner // 4
    for row, (text, colour) in enumerate(lines):
        cv2.putText(canvas, text, (8, 20 + 20 * row), _FONT, 0.55, colour, 1, cv2.LINE_AA)


class TrackCanvas:
    """Where tracks are drawn: the frames of their video, or a dark ground of their size.

    Parameters
    ----------
    tracks : Tracks
    video : path-like or None
        The video, whose frame f + `frame_offset` belongs to track frame f.
    """

    def __init__(self, tracks: Tracks, video: Path | None) -> None:
        self.tracks = tracks
        self.video = video
        self.positions = tracks.image_positions() if tracks.height or not tracks.y_up else tracks.positions
        self.size = tracks.height or 0, tracks.width or 0
        if video is None and not all(self.size):
            seen = self.positions[tracks.visible]
            self.positions = self.positions - np.minimum(seen.min(axis=0), 0)
            width, height = np.ceil(self.positions[tracks.visible].max(axis=0)).astype(int) + 10
            shrink = min(1.0, _MAX_BLANK_PX / max(width, height))
            self.positions = self.positions * shrink
            self.size = max(1, round(height * shrink)), max(1, round(width * shrink))

    def frames(self) -> Iterator[np.ndarray]:
        """Yield the picture below each track frame; a video that ends early leaves the last of them out."""
        if self.video is None:
            for _ in range(self.tracks.n_frames):
                yield np.full((*self.size, 3), 28, dtype=np.uint8)
            return
        yield from islice(video_frames(self.video, first=self.tracks.frame_offset), self.tracks.n_frames)

    def draw(self, labels: np.ndarray, *, words: bool = True) -> Iterator[tuple[int, np.ndarray]]:
        """Yield each frame's number and picture with the tracks drawn in."""
        for f, image in enumerate(self.frames()):
            yield f, draw_tracks(image, self.positions, self.tracks.visible, labels, f, words=words)

    def sheet(self, labels: np.ndarray, *, words: bool = True) -> np.ndarray:
        """Return some frames side by side with the tracks drawn in, (H, W, 3) uint8."""
        n = self.tracks.n_frames
        chosen = set(np.unique(np.linspace(0, n - 1, N_SHEET).round().astype(int)).tolist())
        pictures = [
            draw_tracks(image, self.positions, self.tracks.visible, labels, f, words=words)
            for f, image in enumerate(self.frames())
            if f in chosen
        ]
        return contact_sheet(pictures)


def save_overlays(
    canvas: TrackCanvas,
    labels: np.ndarray,
    *,
    video: Path | None,
    sheet: Path,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Write a contact sheet of a few frames and, where wanted, a video of all.

    Parameters
    ----------
    canvas : TrackCanvas
    labels : ndarray of shape (P,), int
    video : Path or None
        MP4.
    sheet : Path
        PNG.
    report : callable
        Called with (frames done, frames in all).
    """
    n = canvas.tracks.n_frames
    if video is not None:
        with VideoFile(video, FRAMES_PER_SECOND) as overlay:
            for f, picture in canvas.draw(labels):
                overlay.write(picture)
                report(f + 1, n)
    _write_picture(sheet, canvas.sheet(labels))
    report(n, n)


def contact_sheet(pictures: list[np.ndarray], columns: int = 3) -> np.ndarray:
    """Put pictures of one size side by side on white, in reading order, each at most 560 pixels wide."""
    height, width = pictures[0].shape[:2]
    shrink = min(1.0, _SHEET_WIDTH_PX / width)
    size = max(1, round(width * shrink)), max(1, round(height * shrink))
    small = [cv2.resize(picture, size, interpolation=cv2.INTER_AREA) for picture in pictures]
    n_rows, gap = math.ceil(len(small) / columns), 4
    columns = min(columns, len(small))
    sheet = np.full((n_rows * (size[1] + gap) - gap, columns * (size[0] + gap) - gap, 3), 255, dtype=np.uint8)
    for i, picture in enumerate(small):
        top, left = i // columns * (size[1] + gap), i % columns * (size[0] + gap)
        sheet[top : top + size[1], left : left + size[0]] = picture
    return sheet


def _write_picture(path: Path, picture: np.ndarray) -> None:
    from PIL import Image

    Image.fromarray(picture).save(path)
