"""Gaussian pyramid of a photo: the same picture at scales 2 ** (-i / scales_per_octave) (section 3.3).

Pixel centres lie on integers. The centre of pixel (row, col) of a photo of H x W pixels is therefore
the point ((col + 0.5) / W, (row + 0.5) / H) of the picture, whatever its number of pixels, and levels
and photo are converted into one another through that point. Sizes are rounded to whole pixels, so the
ratio used for a conversion is the ratio of the true sizes, not the nominal scale.
"""

from dataclasses import dataclass

import cv2
import numpy as np

from .errors import ParameterError
from .patches import WINDOW_PX, check_rgb

_BLUR_PER_FACTOR = 1 / 3
"""Blur before shrinking by a factor f, as a share of f; scikit-image's pyramid uses the same 2 f / 6."""


@dataclass(frozen=True, eq=False)
class Level:
    """One level of a pyramid.

    Attributes
    ----------
    image : ndarray of shape (h, w, 3), uint8
    scale : float
        Nominal scale: lengths in level pixels are lengths in photo pixels times `scale`.
    photo_shape : tuple of two int
        Height and width of the photo, in pixels.
    """

    image: np.ndarray
    scale: float
    photo_shape: tuple[int, int]

    @property
    def ratio(self):
        """Level pixels per photo pixel in x and in y, float64 of shape (2,)."""
        return np.array(self.image.shape[1::-1]) / np.array(self.photo_shape[::-1])

    @property
    def size(self):
        """Width and height in pixels, int64 of shape (2,): points (x, y) on the level lie below them."""
        return np.array(self.image.shape[1::-1])

    def to_photo(self, points):
        """Convert points (..., 2), x and y in level pixels, to photo pixels, float64."""
        return (np.asarray(points, dtype=np.float64) + 0.5) / self.ratio - 0.5

    def from_photo(self, points):
        """Convert points (..., 2), x and y in photo pixels, to level pixels, float64."""
        return (np.asarray(points, dtype=np.float64) + 0.5) * self.ratio - 0.5


def gaussian_pyramid(image, *, scales_per_octave=4, min_size=WINDOW_PX, max_scale=1.0, min_scale=0.0):
    """Build the levels of a photo, from the largest to the smallest.

    The levels are those of scale ``2 ** (-i / scales_per_octave)``, i any integer, between `min_scale`
    and `max_scale`, that are at least `min_size` pixels high and wide. A level is made from the last one
    a whole number of octaves below the photo: blurred by a Gaussian of a third of the shrinking factor
    and sampled linearly. All levels are therefore about equally sharp. Levels above the photo's own
    scale are the photo enlarged linearly.

    Parameters
    ----------
    image : ndarray of shape (H, W, 3), uint8
        RGB.
    scales_per_octave : int
        Levels for each halving of the size; 4 in the paper.
    min_size : int
        Smallest height and width of a level, in pixels.
    max_scale : float
        Largest scale; 1 starts with the photo itself, 2 one octave above it.
    min_scale : float
        Smallest scale.

    Returns
    -------
    list of Level
        Empty if the photo is too small for any.

    Raises
    ------
    DataError
        If `image` is not of that shape and type.
    ParameterError
        If a parameter is outside its range.

    Examples
    --------
    >>> levels = gaussian_pyramid(np.zeros((48, 60, 3), np.uint8))
    >>> [(level.image.shape[:2], round(level.scale, 3)) for level in levels]
    [((48, 60), 1.0), ((40, 50), 0.841), ((34, 42), 0.707), ((29, 36), 0.595), ((24, 30), 0.5)]
    >>> levels[-1].to_photo([0, 0]).tolist()
    [0.5, 0.5]
    """
    image = check_rgb(image)
    _check_parameters(scales_per_octave, min_size, max_scale, min_scale)
    levels = []
    base, base_octave = image, 0
    step = _first_step(max_scale, scales_per_octave)
    while True:
        scale = 2.0 ** (-step / scales_per_octave)
        if min(_size(image.shape, scale)) < min_size or scale < min_scale * (1 - 1e-9):
            return levels
        while base_octave + 1 < step / scales_per_octave:
            base_octave += 1
            base = _resized(base, image.shape, 0.5**base_octave, factor=2.0)
        level_image = _resized(base, image.shape, scale, factor=0.5**base_octave / scale)
        levels.append(Level(level_image, scale, image.shape[:2]))
        step += 1


def _check_parameters(scales_per_octave, min_size, max_scale, min_scale):
    if scales_per_octave < 1:
        raise ParameterError(f"scales_per_octave is {scales_per_octave}; it must be at least 1")
    if min_size < 1:
        raise ParameterError(f"min_size is {min_size}; it must be at least 1")
    if not 0 < max_scale <= 8:
        raise ParameterError(f"max_scale is {max_scale}; it must lie in (0, 8]")
    if not min_scale >= 0:
        raise ParameterError(f"min_scale is {min_scale}; it must be zero or more")


def _first_step(max_scale, scales_per_octave):
    """Return the smallest i with 2 ** (-i / scales_per_octave) <= max_scale, forgiving rounding."""
    return int(np.ceil(-np.log2(max_scale) * scales_per_octave - 1e-9))


def _size(photo_shape, scale):
    """Return height and width of a level, in whole pixels."""
    return round(photo_shape[0] * scale), round(photo_shape[1] * scale)


def _resized(base, photo_shape, scale, factor):
    """Return the base shrunk by a factor to its size at a scale of the photo, blurred first if it shrinks."""
    height, width = _size(photo_shape, scale)
    if (height, width) == base.shape[:2]:
        return base
    if factor > 1:
        sigma = factor * _BLUR_PER_FACTOR
        base = cv2.GaussianBlur(base, (0, 0), sigma, borderType=cv2.BORDER_REFLECT)
    return cv2.resize(base, (width, height), interpolation=cv2.INTER_LINEAR)
