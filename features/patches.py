"""Windows cut out of a level and kept as pixels.

A window of 24 x 24 pixels centred on pixel (row, col) covers rows row - 12 .. row + 11 and columns
col - 12 .. col + 11: its geometric centre is the corner between four pixels, (row - 0.5, col - 0.5).
A stored patch has one pixel more on every side, because gradients at the window's border need it.
Outside of the level its border pixels are repeated.
"""

import cv2
import numpy as np
from numba import njit

from .errors import DataError
from .jit import LEAF

WINDOW_PX = 24
"""Side of the square window in which features are computed, in level pixels (section 3.3)."""

MARGIN_PX = 1
"""Pixels around the window that a stored patch has in addition."""

PATCH_PX = WINDOW_PX + 2 * MARGIN_PX
"""Side of a stored patch, in pixels."""

BEFORE_PX = WINDOW_PX // 2
"""Rows of the window above its centre pixel, columns left of it."""


def check_rgb(image, name="image"):
    """Return the image if it is a colour photo as used here, uint8 of shape (H, W, 3), or raise DataError."""
    image = np.asarray(image)
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or image.size == 0:
        raise DataError(
            f"{name} has shape {image.shape} and dtype {image.dtype}; "
            "accepted is RGB of shape (height, width, 3) and dtype uint8"
        )
    return image


def check_patches(patches):
    """Return the stored windows as a contiguous uint8 array of shape (n, 26, 26, 3), or raise DataError."""
    patches = np.asarray(patches)
    if patches.ndim != 4 or patches.shape[1:] != (PATCH_PX, PATCH_PX, 3) or patches.dtype != np.uint8:
        raise DataError(
            f"patches has shape {patches.shape} and dtype {patches.dtype}; "
            f"accepted is (n, {PATCH_PX}, {PATCH_PX}, 3) and uint8, as cut_windows gives them"
        )
    return np.ascontiguousarray(patches)


def check_points(rows, cols, shape):
    """Return window centres as two int64 arrays of one length, inside an image of that shape."""
    rows, cols = np.atleast_1d(rows), np.atleast_1d(cols)
    if rows.shape != cols.shape or rows.ndim != 1:
        raise DataError(f"rows has shape {rows.shape} and cols {cols.shape}; accepted are two (n,) arrays")
    if not (np.issubdtype(rows.dtype, np.integer) and np.issubdtype(cols.dtype, np.integer)):
        raise DataError(f"rows has dtype {rows.dtype} and cols {cols.dtype}; window centres are whole pixels")
    for name, points, size in (("rows", rows, shape[0]), ("cols", cols, shape[1])):
        if points.size and not 0 <= points.min() <= points.max() < size:
            raise DataError(f"{name} range from {points.min()} to {points.max()}; accepted is 0..{size - 1}")
    return rows.astype(np.int64), cols.astype(np.int64)


def cut_windows(level_image, rows, cols):
    """Cut the patches of windows out of a level.

    Parameters
    ----------
    level_image : ndarray of shape (H, W, 3), uint8
    rows, cols : ndarray of shape (n,), int
        Centre pixels of the windows, inside the image; windows may reach over its border.

    Returns
    -------
    ndarray of shape (n, 26, 26, 3), uint8
        Rows row - 13 .. row + 12 and columns col - 13 .. col + 12, border pixels repeated outside.

    Raises
    ------
    DataError
        If the image is not colour or a centre lies outside of it.
    """
    image = np.ascontiguousarray(check_rgb(level_image, "level_image"))
    rows, cols = check_points(rows, cols, image.shape)
    patches = np.empty((len(rows), PATCH_PX, PATCH_PX, 3), dtype=np.uint8)
    _cut(image, rows - BEFORE_PX - MARGIN_PX, cols - BEFORE_PX - MARGIN_PX, patches)
    return patches


def cut_turned_windows(level_image, centres, turns, steps):
    """Cut patches between pixels, turned and stretched, sampled linearly.

    Pixel (r, c) of a patch shows the level at ``centre + step * R (r - 13, c - 13)``, R a clockwise turn.

    Parameters
    ----------
    level_image : ndarray of shape (H, W, 3), uint8
    centres : ndarray of shape (n, 2), float
        x, y, anywhere; border pixels are repeated outside of the image.
    turns : ndarray of shape (n,), float
        Radians.
    steps : ndarray of shape (n,), float
        Pixels of the level a pixel of the patch.

    Returns
    -------
    ndarray of shape (n, 26, 26, 3), uint8
    """
    image = check_rgb(level_image, "level_image")
    patches = np.empty((len(centres), PATCH_PX, PATCH_PX, 3), dtype=np.uint8)
    middle = BEFORE_PX + MARGIN_PX
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    for patch, (x, y), along, across in zip(
        patches, centres, steps * np.cos(turns), steps * np.sin(turns), strict=True
    ):
        left, top = x - middle * (along - across), y - middle * (along + across)
        to_level = np.array([[along, -across, left], [across, along, top]])
        cv2.warpAffine(image, to_level, (PATCH_PX, PATCH_PX), patch, flags, borderMode=cv2.BORDER_REPLICATE)
    return patches


@njit(**LEAF, nogil=True)
def _cut(image, tops, lefts, patches):
    """Copy the pixels of every patch."""
    height, width, _ = image.shape
    for i in range(len(tops)):
        for r in range(PATCH_PX):
            row = min(max(tops[i] + r, 0), height - 1)
            for c in range(PATCH_PX):
                col = min(max(lefts[i] + c, 0), width - 1)
                for colour in range(3):
                    patches[i, r, c, colour] = image[row, col, colour]
