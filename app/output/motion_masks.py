"""Masks of motions: every pixel near a track gets its motion, a picture a frame."""

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np

from ...features.errors import DataError
from .motion_overlay import TrackCanvas

REACH = 1.5  # of the median distance between neighbouring tracks, how far a track speaks for the pixels


def motion_mask(
    positions: np.ndarray, labels: np.ndarray, shape: tuple[int, int], reach_px: float | None = None
) -> np.ndarray:
    """Give every pixel the motion of the nearest point.

    Parameters
    ----------
    positions : ndarray of shape (n, 2)
        x and y of the points visible in a frame, in pixels, y pointing down.
    labels : ndarray of shape (n,), int
        -1 for a point without a motion, which is left out.
    shape : (int, int)
        Height and width of the picture.
    reach_px : float, optional
        Pixels farther than this from any point get no motion; by default `REACH` times the median distance
        between neighbours.

    Returns
    -------
    ndarray of shape (H, W), uint8
        The motion plus one, 0 for none.
    """
    mask = np.zeros(shape, dtype=np.uint8)
    columns, rows = np.rint(positions[labels >= 0]).astype(int).T
    labels = labels[labels >= 0]
    inside = (rows >= 0) & (rows < shape[0]) & (columns >= 0) & (columns < shape[1])
    rows, columns, labels = rows[inside], columns[inside], labels[inside]
    if len(labels) == 0:
        return mask
    empty = np.ones(shape, dtype=np.uint8)
    empty[rows, columns] = 0
    seed = np.zeros(shape, dtype=np.uint8)
    seed[rows, columns] = labels + 1
    distance, nearest = cv2.distanceTransformWithLabels(
        empty, cv2.DIST_L2, cv2.DIST_MASK_5, labelType=cv2.DIST_LABEL_PIXEL
    )
    motion_of = np.zeros(int(nearest.max()) + 1, dtype=np.uint8)
    motion_of[nearest[rows, columns]] = seed[rows, columns]
    reach = _reach(np.column_stack([columns, rows])) if reach_px is None else reach_px
    return np.where(distance <= reach, motion_of[nearest], 0).astype(np.uint8)


def _reach(points: np.ndarray) -> float:
    if len(points) < 2:
        return 10.0
    between = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(between, np.inf)
    return REACH * float(np.median(between.min(axis=1)))


def write_masks(
    folder: Path,
    canvas: TrackCanvas,
    labels: np.ndarray,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Write one 8-bit PNG a frame, `000000.png` and so on, numbered as the video's frames."""
    if labels.max(initial=0) > 254:
        raise DataError(f"{folder}: masks hold 255 motions at most")
    tracks = canvas.tracks
    for f in range(tracks.n_frames):
        seen = tracks.visible[:, f]
        mask = motion_mask(canvas.positions[seen, f], labels[seen], canvas.size)
        encoded = cv2.imencode(".png", mask)[1]
        (folder / f"{f + tracks.frame_offset:06d}.png").write_bytes(encoded.tobytes())
        report(f + 1, tracks.n_frames)
