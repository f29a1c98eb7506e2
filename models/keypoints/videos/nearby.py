"""Objects searched for near a place that is known from the frame before."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....features.errors import DataError
from ....features.pyramid import check_rgb
from ...keypoints.detector import KeypointDetector
from ..objects.model import Objects, moved_objects
from ..objects.search import LOOK_OCTAVES

N_ANGLES = 2
"""Of the angles at which photos are scanned, the nearest to the object's last one that are looked at."""

WINDOW_REACH = 0.5
"""Beyond an object's box, with its margin, this part of its longer side is looked at too."""


@dataclass(frozen=True, eq=False)
class Place:
    """Where an object is expected.

    Attributes
    ----------
    box : ndarray of shape (4,), float64
        x0, y0, x1, y1 in pixels of the frame.
    size : float
        Pixels.
    roll : float or None
        Degrees by which it is turned clockwise; None if that is not known.
    """

    box: np.ndarray
    size: float
    roll: float | None = None


def detect_near(
    detector: KeypointDetector, image: np.ndarray, place: Place, *, threshold: float | None = None
) -> Objects | None:
    """Find objects near a place, at about a size: a scan of a part of the frame on some of its levels.

    Parameters
    ----------
    detector : KeypointDetector
        With an object model.
    image : ndarray of shape (H, W, 3), uint8
    place : Place
    threshold : float, optional
        Lowest log-odds; the model's by default.

    Returns
    -------
    Objects or None
        In pixels of the frame, best first. None if there is no telling, as the place is too near to the
        edge of the frame or too small.
    """
    image = check_rgb(image)
    x0, y0, x1, y1 = _part(place, image.shape)
    if x1 <= x0 or y1 <= y0:
        return None
    part = np.ascontiguousarray(image[y0:y1, x0:x1])
    # the largest level on which the object is as large as any that the classifiers are trained for
    largest = detector.object_px / place.size * 2 ** (detector.octaves / 2 + LOOK_OCTAVES)
    largest = float(np.clip(largest, 1e-3, detector.pyramid.max_scale))
    pyramid = replace(detector.pyramid, max_scale=largest)
    turned = replace(detector, angles=_angles_near(detector.angles, place.roll))
    try:
        found = turned.detect_objects(part, threshold=threshold, pyramid=pyramid)
    except DataError:  # no level of the part is as large as a window
        return None
    return moved_objects(found, np.array([x0, y0], dtype=np.float64))


def _angles_near(angles: tuple[float, ...], roll: float | None) -> tuple[float, ...]:
    """The angles of a scan that are nearest to a roll; all if it is not known."""
    if roll is None or len(angles) <= N_ANGLES:
        return angles
    away = [abs((degrees - roll + 180) % 360 - 180) for degrees in angles]
    return tuple(angles[i] for i in sorted(np.argsort(away, kind="stable")[:N_ANGLES].tolist()))


def _part(place: Place, shape: Sequence[int]) -> tuple[int, int, int, int]:
    """x0, y0, x1, y1, the ends outside, of the part of the frame that is looked at."""
    low, high = place.box[:2], place.box[2:]
    room = WINDOW_REACH * max(float((high - low).max()), place.size)
    x0, y0 = np.floor(np.maximum(low - room, 0)).astype(int)
    x1, y1 = np.ceil(np.minimum(high + room + 1, [shape[1], shape[0]])).astype(int)
    return int(x0), int(y0), int(x1), int(y1)
