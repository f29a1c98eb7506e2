"""Where in a photo objects may be: windows that show a whole object, on coarse levels.

One classifier of whole objects, small in its window, goes over the photo first; keypoints are looked for
where it finds something, at the size that it says. Its levels are a fraction of those on which keypoints are
told apart, and what is small in the photo is enlarged only there. Most of a photo is never looked at closely.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...features.errors import DataError
from ...features.pool import WINDOW_PX
from ...features.pyramid import Level, gaussian_pyramid
from .keypoint_classifier import KeypointClassifier
from .nms import Suppression, suppress
from .scan import scan_photo, window_places
from .scan_limits import check_pixels

WHOLE = "object"
"""What stands for a keypoint's name in the classifier of whole objects."""

FLOOR = 0.0
"""Windows that score less are no sign of an object: negatives lie below it in training."""

MOST_REGIONS = 200
"""The best of a photo that are looked at."""

FINEST = 2.0**-0.5
"""Largest scale at which whole objects are looked for, in parts of that of the keypoints' scan."""

SCALES_PER_OCTAVE = 4

MAX_ENLARGED = 8.0
"""Largest scale at which a region is looked at."""

_FINER, _COARSER = 0.55, 0.8  # octaves of levels around the one that shows the object as large as in training
_SAME_PLACE = Suppression(radius=0.25, octaves=1.0, refine_radius=0.12, refine_octaves=0.5)


@dataclass(frozen=True, eq=False)
class Region:
    """A place of a photo where an object may be.

    Attributes
    ----------
    x, y : float
        The middle of the object (where its pose is), in pixels of the photo.
    size : float
        Of the object, in pixels of the photo.
    score : float
    """

    x: float
    y: float
    size: float
    score: float


@dataclass(frozen=True, eq=False)
class RegionFinder:
    """Finds regions.

    Attributes
    ----------
    classifier : KeypointClassifier
        Of windows around the middle of an object that show all of it.
    object_px : float
        Typical size of the object in pixels of a window.
    octaves : float
        Of the sizes around it that the classifier is trained for.
    reach : float
        How far around the middle of an object its keypoints are looked for, with their windows, in sizes.
    """

    classifier: KeypointClassifier
    object_px: float
    octaves: float
    reach: float

    def __post_init__(self) -> None:
        for name, value in (("object_px", self.object_px), ("octaves", self.octaves), ("reach", self.reach)):
            if not 0.01 <= value <= 1000:
                raise DataError(f"regions: {name} must be a number from 0.01 to 1000, got {value}")

        if self.octaves > 20:
            raise DataError(f"regions: octaves must be at most 20, got {self.octaves}")

    def find(self, image: np.ndarray, max_scale: float = 1.0) -> list[Region]:
        """Find the regions of a photo, best first.

        Parameters
        ----------
        image : ndarray of shape (H, W, 3), uint8
        max_scale : float
            Of the scan for keypoints that regions save.
        """
        finest = FINEST * max_scale
        check_pixels(image.shape, SCALES_PER_OCTAVE, finest)
        levels = gaussian_pyramid(image, scales_per_octave=SCALES_PER_OCTAVE, max_scale=finest)
        if not levels:
            return []
        found = scan_photo(levels, [self.classifier], [FLOOR], sparse=True, octaves=self.octaves)[0]
        x, y, scale, score = window_places(levels, found)
        x, y, scale, score = suppress(x, y, scale, score, WINDOW_PX, _SAME_PLACE)
        best = slice(MOST_REGIONS)
        columns = x[best], y[best], scale[best] * self.object_px, score[best]
        return [Region(*values) for values in zip(*(column.tolist() for column in columns), strict=True)]

    def levels(
        self, image: np.ndarray, region: Region, object_px: float, scales_per_octave: int
    ) -> tuple[np.ndarray, Sequence[Level]]:
        """Cut a region out of its photo and build the levels on which its keypoints are looked for.

        Parameters
        ----------
        image : ndarray of shape (H, W, 3), uint8
        region : Region
        object_px : float
            Size of the object in windows of the keypoints.
        scales_per_octave : int

        Returns
        -------
        corner : ndarray of shape (2,), float64
            x, y of the part's first pixel in the photo.
        levels : sequence of Level
            Of the part; none if it is too small.
        """
        middle, room = np.array([region.x, region.y]), self.reach * region.size
        low = np.maximum(np.floor(middle - room), 0).astype(np.int64)
        high = np.minimum(np.ceil(middle + room) + 1, image.shape[1::-1]).astype(np.int64)
        part = np.ascontiguousarray(image[low[1] : high[1], low[0] : high[0]])
        if not part.size:
            return low.astype(np.float64), []
        wanted = object_px / region.size
        levels = gaussian_pyramid(
            part,
            scales_per_octave=scales_per_octave,
            max_scale=min(wanted * 2**_FINER, MAX_ENLARGED),
            min_scale=wanted * 2**-_COARSER,
        )
        return low.astype(np.float64), levels
