"""Pictures of detections for a person to look at."""

import cv2
import numpy as np

from ...models.keypoints.detections import Detections
from ...models.keypoints.objects.model import Objects

COLOURS = (
    (255, 59, 48),
    (0, 200, 83),
    (41, 121, 255),
    (255, 204, 0),
    (213, 0, 249),
    (0, 229, 255),
    (255, 145, 0),
    (174, 234, 0),
    (255, 128, 171),
)
"""RGB of the keypoints, in the order of a model's names."""

_BOX_COLOUR = (255, 255, 255)
_MIN_SIDE_PX = 640  # of photos that are enlarged
_SHIFT = 4  # OpenCV takes coordinates in 1 / 2**4 pixels
_FONT = cv2.FONT_HERSHEY_SIMPLEX


def draw_detections(
    image: np.ndarray,
    detections: Detections,
    names: tuple[str, ...],
    *,
    object_px: float,
    words: bool = True,
    enlarge: bool = False,
) -> np.ndarray:
    """Draw detections as circles with a dot, one colour a keypoint, and a legend.

    Parameters
    ----------
    image : ndarray of shape (H, W, 3), uint8
    detections : Detections
    names : tuple of str
        The model's keypoints; decides the colours.
    object_px : float
        The detector's `object_px`; a circle's radius is a tenth of the object's size.
    words : bool
        Write each detection's score beside it, and a legend.
    enlarge : bool
        Enlarge a small photo by a whole number, so that marks and words can be read.

    Returns
    -------
    ndarray of shape (h, w, 3), uint8
        A copy, of the photo's size unless it is enlarged.
    """
    canvas, factor = _canvas(image, enlarge)
    for i in reversed(range(len(detections))):
        colour = COLOURS[names.index(str(detections.keypoint[i])) % len(COLOURS)]
        centre = ((detections.x[i] + 0.5) * factor - 0.5, (detections.y[i] + 0.5) * factor - 0.5)
        radius = max(3.0, 0.1 * object_px * detections.scale[i] * factor)
        _circle(canvas, centre, radius, colour)
        if words:
            place = (int(centre[0] + radius + 2), int(centre[1] - radius))
            write_text(canvas, f"{detections.score[i]:.1f}", place, colour, 0.4)
    if words:
        _draw_legend(canvas, [int(np.sum(detections.keypoint == name)) for name in names], names)
    return canvas


def draw_objects(
    image: np.ndarray, objects: Objects, *, words: bool = True, enlarge: bool = False
) -> np.ndarray:
    """Draw each object's box with its score, and its keypoints: those only predicted as hollow rings.

    Parameters
    ----------
    image : ndarray of shape (H, W, 3), uint8
    objects : Objects
    words, enlarge : bool
        See `draw_detections`.

    Returns
    -------
    ndarray of shape (h, w, 3), uint8
        A copy, of the photo's size unless it is enlarged.
    """
    canvas, factor = _canvas(image, enlarge)
    for i in reversed(range(len(objects))):
        corners = np.rint((objects.boxes[i] + 0.5) * factor - 0.5).astype(int).tolist()
        for width, ink in ((4, (0, 0, 0)), (2, _BOX_COLOUR)):
            cv2.rectangle(canvas, corners[:2], corners[2:], ink, width, cv2.LINE_AA)
        if words:
            place = corners[0] + 2, corners[1] - 4
            write_text(canvas, f"{objects.scores[i]:.1f}", place, _BOX_COLOUR, 0.5)
        radius = max(3.0, 0.05 * objects.sizes[i] * factor)
        for k, (x, y) in enumerate((objects.points[i] + 0.5) * factor - 0.5):
            _circle(canvas, (x, y), radius, COLOURS[k % len(COLOURS)], dot=bool(objects.found[i, k]))
    if words:
        _draw_legend(canvas, objects.found.sum(axis=0).tolist(), objects.names)
    return canvas


def _canvas(image: np.ndarray, enlarge: bool) -> tuple[np.ndarray, int]:
    """A copy of the photo to draw on, and how many times it is enlarged."""
    factor = max(1, -(-_MIN_SIDE_PX // max(image.shape[:2]))) if enlarge else 1
    return np.ascontiguousarray(image.repeat(factor, axis=0).repeat(factor, axis=1)), factor


def _circle(
    canvas: np.ndarray, centre: tuple[float, float], radius: float, colour: tuple, dot: bool = True
) -> None:
    """A ring with a dark rim, and perhaps a dot in its middle."""
    fixed = tuple(round(value * 2**_SHIFT) for value in centre)
    for width, ink in ((4, (0, 0, 0)), (2, colour)):
        cv2.circle(canvas, fixed, round(radius * 2**_SHIFT), ink, width, cv2.LINE_AA, _SHIFT)
    if dot:
        cv2.circle(canvas, fixed, 2 * 2**_SHIFT, colour, -1, cv2.LINE_AA, _SHIFT)


def write_text(canvas: np.ndarray, text: str, place: tuple[int, int], colour: tuple, size: float) -> None:
    """Text with a dark rim; thicker letters would not do for that, as OpenCV 5 sets them wider."""
    x, y = place
    for right, down in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        cv2.putText(canvas, text, (x + right, y + down), _FONT, size, (0, 0, 0), 1, cv2.LINE_AA)
    cv2.putText(canvas, text, place, _FONT, size, colour, 1, cv2.LINE_AA)


def _draw_legend(canvas: np.ndarray, counts: list[int], names: tuple[str, ...]) -> None:
    for i, (name, count) in enumerate(zip(names, counts, strict=True)):
        write_text(canvas, f"{name}: {count}", (8, 18 + 18 * i), COLOURS[i % len(COLOURS)], 0.5)
