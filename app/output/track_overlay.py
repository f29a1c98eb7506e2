"""Pictures of followed objects: their keypoints in a frame, and the way that these came."""

import cv2
import numpy as np

from ...models.keypoints.videos.object_tracks import SEEN, ObjectTracks
from .overlay import COLOURS, write_text

TRAIL = 25
"""Frames that a keypoint is shown back in time."""

_OPACITIES = 0.25, 0.5, 0.8  # of the oldest, middle and newest part of a trail
_SHIFT = 4  # OpenCV takes coordinates in 1 / 2**4 pixels
_FAR = 2**14  # pixels; what lies beyond is not drawn


def draw_followed(image: np.ndarray, tracks: ObjectTracks, t: int) -> np.ndarray:
    """Draw the objects of the t-th frame, with trails.

    A keypoint that is seen is a dot in a ring, one that is not a ring; what was filled in is grey.

    Parameters
    ----------
    image : ndarray of shape (H, W, 3), uint8
        That frame.
    tracks : ObjectTracks
    t : int
        Place of the frame in the trajectories.

    Returns
    -------
    ndarray of shape (H, W, 3), uint8
        A copy.
    """
    canvas = np.ascontiguousarray(image).copy()
    _draw_trails(canvas, tracks, t)
    radius = max(2.0, min(image.shape[:2]) / 160)
    for n in range(tracks.n_objects):
        for k in range(len(tracks.names)):
            x, y = tracks.points[t, n, k]
            if not _drawable(np.array([[x, y]])):
                continue
            colour = (160, 160, 160) if tracks.filled[t, n] else COLOURS[k % len(COLOURS)]
            _draw_point(canvas, (x, y), radius, colour, dot=bool(tracks.likelihood[t, n, k] >= SEEN))
        centre = tracks.points[t, n][np.isfinite(tracks.points[t, n]).all(axis=1)]
        if tracks.n_objects > 1 and _drawable(centre):
            place = int(centre[:, 0].max()) + 6, int(centre[:, 1].min()) - 4
            write_text(canvas, str(n), place, (255, 255, 255), 0.6)
    write_text(canvas, str(int(tracks.frames[t])), (8, canvas.shape[0] - 8), (255, 255, 255), 0.45)
    return canvas


def _draw_trails(canvas: np.ndarray, tracks: ObjectTracks, t: int) -> None:
    """Draw the trails of all keypoints, oldest parts first and faintest, in place."""
    edges = np.linspace(max(0, t - TRAIL), t, len(_OPACITIES) + 1).astype(int)
    for opacity, first, last in zip(_OPACITIES, edges[:-1], edges[1:], strict=True):
        layer, low, high = canvas.copy(), np.full(2, _FAR), np.full(2, -_FAR)
        for n in range(tracks.n_objects):
            for k in range(len(tracks.names)):
                way = tracks.points[first : last + 1, n, k]
                if len(way) < 2 or not _drawable(way):
                    continue  # a gap is no way
                fixed = np.rint(way * 2**_SHIFT).astype(np.int32)[:, None]
                cv2.polylines(layer, [fixed], False, COLOURS[k % len(COLOURS)], 1, cv2.LINE_AA, _SHIFT)
                low, high = np.minimum(low, way.min(axis=0)), np.maximum(high, way.max(axis=0))
        x0, y0 = np.maximum(np.floor(low - 2), 0).astype(int)
        x1, y1 = np.minimum(np.ceil(high + 3), canvas.shape[1::-1]).astype(int)
        if x0 < x1 and y0 < y1:
            part = canvas[y0:y1, x0:x1]
            part[:] = cv2.addWeighted(layer[y0:y1, x0:x1], opacity, part, 1 - opacity, 0)


def _drawable(points: np.ndarray) -> bool:
    return bool(len(points) and np.isfinite(points).all() and (np.abs(points) < _FAR).all())


def _draw_point(
    canvas: np.ndarray, place: tuple[float, float], radius: float, colour: tuple[int, int, int], *, dot: bool
) -> None:
    fixed = tuple(round(float(value) * 2**_SHIFT) for value in place)
    size = round(radius * 2**_SHIFT)
    cv2.circle(canvas, fixed, size + 2**_SHIFT, (0, 0, 0), 1, cv2.LINE_AA, _SHIFT)
    cv2.circle(canvas, fixed, size, colour, -1 if dot else 1, cv2.LINE_AA, _SHIFT)


def draw_legend(canvas: np.ndarray, names: tuple[str, ...]) -> None:
    """Write the keypoints' names in their colours, in place."""
    for k, name in enumerate(names):
        write_text(canvas, name, (8, 18 + 18 * k), COLOURS[k % len(COLOURS)], 0.45)
