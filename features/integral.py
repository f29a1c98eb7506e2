"""Integral images: sums over any rectangle of pixels in four reads.

Entry (r, c) is the sum of the pixels above row r and left of column c, so row 0 and column 0 are zero
and the sum over rows r0..r1-1 and columns c0..c1-1 is I[r1, c1] - I[r0, c1] - I[r1, c0] + I[r0, c0].

Entries are 32-bit integers that wrap around in large images. The sum over a rectangle is nevertheless
exact as long as it fits in 32 bits itself (8 million pixels): addition and subtraction modulo 2**32 do
not mind in between. Features read windows of 576 pixels, so images may be of any size.
"""

import numpy as np
from numba import njit

from .jit import LEAF


def integral_image(image):
    """Return the integral image of each colour.

    Parameters
    ----------
    image : ndarray of shape (H, W, C), uint8

    Returns
    -------
    ndarray of shape (C, H + 1, W + 1), int32
        Wraps around modulo 2**32.

    Examples
    --------
    >>> integral_image(np.ones((2, 3, 1), np.uint8))[0].tolist()
    [[0, 0, 0, 0], [0, 1, 2, 3], [0, 2, 4, 6]]
    """
    height, width, colours = image.shape
    out = np.empty((colours, height + 1, width + 1), dtype=np.int32)
    fill_integral(image, out)
    return out


def fill_integral(image, out):
    """Fill the integral image of each colour."""
    out[:, 0] = 0
    out[:, :, 0] = 0
    _fill_integral(image, out)


@njit(**LEAF, nogil=True)
def _fill_integral(image, out):
    """Fill all but the first row and column."""
    height, width, colours = image.shape
    for colour in range(colours):
        for r in range(height):
            row_sum = np.int32(0)
            for k in range(width):
                c = np.uintp(k)
                row_sum += image[r, c, colour]
                out[colour, r + 1, c + 1] = out[colour, r, c + 1] + row_sum


@njit(cache=True)
def window_integrals(pixels, n, out):
    """Fill the integral images of n windows side by side.

    Parameters
    ----------
    pixels : ndarray of shape (26, 26, 3, >= n), uint8
        The pixels around the 24 x 24 windows are left out.
    n : int
    out : ndarray of shape (3, 25, 25, >= n), int32
        Output; row and column 0 must be zero on entry.
    """
    row_sum = np.empty(n, dtype=np.int32)
    for colour in range(3):
        for r in range(1, out.shape[1]):
            row_sum[:] = 0
            for c in range(1, out.shape[2]):
                for k in range(n):
                    i = np.uintp(k)
                    row_sum[i] += pixels[r, c, colour, i]
                    out[colour, r, c, i] = out[colour, r - 1, c, i] + row_sum[i]
