"""Pictures of the objects that were found, cut out of their photo."""

from collections.abc import Iterator

import numpy as np

from ...models.keypoints.detections import Detections
from ...models.keypoints.objects.model import Objects

CROPS_ENDING = ".jpg"

MARGIN = 0.2
"""Around the box of an object, in parts of its longer side."""


def crops(image: np.ndarray, found: Detections | Objects, object_px: float) -> Iterator[np.ndarray]:
    """Yield each object with some of what is around it, or of a single detection a square about it.

    Parameters
    ----------
    image : ndarray of shape (H, W, 3), uint8
    found : Detections or Objects
    object_px : float
        The detector's: typical size of an object in pixels of a window.

    Yields
    ------
    ndarray of shape (h, w, 3), uint8
        In the order of `found`.
    """
    for x0, y0, x1, y1 in _boxes(found, object_px).tolist():
        margin = MARGIN * max(x1 - x0, y1 - y0)
        rows, cols = (
            _range(y0 - margin, y1 + margin, image.shape[0]),
            _range(x0 - margin, x1 + margin, image.shape[1]),
        )
        yield image[rows, cols]


def _boxes(found: Detections | Objects, object_px: float) -> np.ndarray:
    if isinstance(found, Objects):
        return found.boxes
    half = 0.5 * object_px * found.scale
    return np.stack([found.x - half, found.y - half, found.x + half, found.y + half], axis=1)


def _range(first: float, last: float, n: int) -> slice:
    """Pixels from one place to another, at least one, as far as they are in the picture."""
    start = min(max(round(first), 0), n - 1)
    return slice(start, min(max(round(last) + 1, start + 1), n))
