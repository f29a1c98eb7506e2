"""Small pictures of places in photos, with annotation and detections of one keypoint drawn in."""

import cv2
import numpy as np
from PIL import Image

from ...models.keypoints.evaluation import Observed
from .overlay import write_text

SIDE_PX = 320
SPAN = 3.0
"""Object sizes that a picture is wide and high."""

ANNOTATED, HIDDEN = (0, 230, 90), (225, 225, 225)
REPORTED, TOO_LOW = (255, 59, 48), (255, 190, 0)
_BEYOND = 128  # grey outside the photo
_ARM_PX, _RING_PX = 6, 5.0
_WORDS_PX, _LETTER_PX = 9, 8  # from a ring to its score, and the size of a letter
_FAINT = 0.5
_SHIFT = 4  # OpenCV takes coordinates in 1 / 2**4 pixels


def draw_case(
    image: np.ndarray,
    photo: Observed,
    place: tuple[float, float],
    size: float,
    *,
    threshold: float,
    hit: float,
    detection: int | None = None,
) -> np.ndarray:
    """Draw the neighbourhood of a place, scaled so that the size is always the same.

    A cross is an annotated keypoint, green if visible, otherwise white, with two faint circles: the hit
    radius, and one that is a size across. A red ring is a detection at or above the threshold, with its
    score; an amber one is the one detection that is asked for, if it scores less.

    Parameters
    ----------
    image : ndarray of shape (H, W, 3), uint8
        The photo, RGB.
    photo : Observed
    place : tuple of float
        Middle of the picture, x and y in pixels of the photo.
    size : float
        In pixels of the photo.
    threshold : float
    hit : float
        In parts of an object's size.
    detection : int, optional
        Number of a detection that is to be drawn whatever its score.

    Returns
    -------
    ndarray of shape (320, 320, 3), uint8
        Grey beyond the photo.
    """
    side = SPAN * max(size, 1.0)  # an object that is one annotated point may have no size
    factor = SIDE_PX / side
    tile = crop(image, place, side)

    def on_tile(points: np.ndarray) -> np.ndarray:
        return (points - place) * factor + (SIDE_PX - 1) / 2

    targets = photo.targets
    crosses = on_tile(targets.points)
    shown = np.flatnonzero(photo.scores >= threshold).tolist()
    if detection is not None and detection not in shown:
        shown.append(detection)
    for i in shown:
        colour = REPORTED if photo.scores[i] >= threshold else TOO_LOW
        _draw_detection(tile, on_tile(photo.positions[i]), f"{photo.scores[i]:.1f}", colour, crosses)
    _draw_annotation(tile, crosses, targets.visible, targets.sizes * factor, hit)
    return tile


def crop(image: np.ndarray, place: tuple[float, float], side: float) -> np.ndarray:
    """Cut a square out of a photo and scale it to (320, 320, 3); grey beyond the photo.

    Parameters
    ----------
    image : ndarray of shape (H, W, 3), uint8
    place : tuple of float
        Middle of the square, x and y in pixels of the photo, pixel centres on integers.
    side : float
        In pixels of the photo.
    """
    tile = np.full((SIDE_PX, SIDE_PX, 3), _BEYOND, dtype=np.uint8)
    low = np.array(place) + 0.5 - side / 2  # edges of pixels are integers from here on
    first, last = np.maximum(low, 0), np.minimum(low + side, image.shape[1::-1])
    left, top = np.rint((first - low) * SIDE_PX / side).astype(int).tolist()
    right, bottom = np.rint((last - low) * SIDE_PX / side).astype(int).tolist()
    if top < bottom and left < right:
        box = (*first.tolist(), *last.tolist())
        part = Image.fromarray(image).resize((right - left, bottom - top), Image.Resampling.BICUBIC, box=box)
        tile[top:bottom, left:right] = np.asarray(part)
    return tile


def _draw_annotation(
    tile: np.ndarray, points: np.ndarray, visible: np.ndarray, sizes: np.ndarray, hit: float
) -> None:
    """Crosses and faint circles; points (n, 2) and sizes (n,) in pixels of the picture."""
    faint = tile.copy()
    shown = [i for i in range(len(points)) if _in_view(points[i])]
    for i in shown:
        for radius in (hit * sizes[i], 0.5 * sizes[i]):
            cv2.circle(faint, *_fixed(points[i], radius), ANNOTATED, 1, cv2.LINE_AA, _SHIFT)
    cv2.addWeighted(faint, _FAINT, tile, 1 - _FAINT, 0, dst=tile)
    for i in shown:
        colour = ANNOTATED if visible[i] else HIDDEN
        for arm in ((_ARM_PX, 0), (0, _ARM_PX)):
            (first, _), (last, _) = _fixed(points[i] - arm), _fixed(points[i] + arm)
            cv2.line(tile, first, last, colour, 1, cv2.LINE_AA, _SHIFT)


def _draw_detection(
    tile: np.ndarray, point: np.ndarray, words: str, colour: tuple[int, int, int], crosses: np.ndarray
) -> None:
    """A ring with its score, which is on the side away from the nearest cross."""
    if not _in_view(point):
        return
    for width, ink in ((3, (0, 0, 0)), (1, colour)):  # a dark rim: skin is red, too
        cv2.circle(tile, *_fixed(point, _RING_PX), ink, width, cv2.LINE_AA, _SHIFT)
    away = point - crosses
    right, down = away[np.linalg.norm(away, axis=1).argmin()] >= 0 if len(crosses) else (True, False)
    x, y = np.rint(point).astype(int).tolist()
    x += _WORDS_PX if right else -_WORDS_PX - _LETTER_PX * len(words)
    write_text(tile, words, (x, y + (_WORDS_PX + _LETTER_PX if down else -_WORDS_PX)), colour, 0.4)


def _in_view(point: np.ndarray) -> bool:
    return bool(((point >= 0) & (point < SIDE_PX)).all())


def _fixed(point: np.ndarray, radius: float = 0.0) -> tuple[tuple[int, int], int]:
    """(x, y) and radius for OpenCV, in parts of a pixel."""
    x, y = np.rint(point * 2**_SHIFT).astype(int).tolist()
    return (x, y), round(radius * 2**_SHIFT)
