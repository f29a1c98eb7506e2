"""What the pixel features read: integral images, cell sums and block norms of a level or of many windows.

Two arrangements hold the same numbers. `LevelMaps` has them at every position of a pyramid level, for
scanning: a window is a position and its right neighbour is one entry further. `window_maps` has them
for up to 64 stored windows, for training: the windows lie side by side, so the next window is one entry
further as well. In either, a feature is a handful of offsets from its window's first entry (`Layout`)
and the same code evaluates a feature for many windows in a row (`evaluate`).
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .haar import FOUR, THREE_ACROSS, THREE_DOWN, TWO_ACROSS, TWO_DOWN, four, haar_at, three, two
from .hog import (
    CELL_PX,
    N_BLOCKS,
    N_CELLS,
    N_ORIENTATIONS,
    hog,
    hog_at,
    level_cells,
    level_norms,
    vote_table,
    window_cells,
    window_norms,
)
from .integral import integral_image, window_integrals
from .patches import BEFORE_PX, MARGIN_PX, PATCH_PX, WINDOW_PX, check_points, check_rgb

CHUNK = 64
"""Windows handled together in training: their maps stay in the cache of one core."""


RUN = 32
"""Features of one kind that are evaluated together."""

HOG = 0
"""Kind of the HOG features; the others are Haar (haar.py)."""


class Layout(NamedTuple):
    """How far apart neighbouring entries lie: strides of the flat arrays, in entries.

    `cells` steps from one cell of a window to the next, `norms` from one block to the next.
    """

    integral: tuple[int, int, int]  # channel, row, column
    cells: tuple[int, int, int, int]  # channel, orientation, row, column
    norms: tuple[int, int, int]  # channel, row, column


CHUNK_LAYOUT = Layout(
    integral=((WINDOW_PX + 1) ** 2 * CHUNK, (WINDOW_PX + 1) * CHUNK, CHUNK),
    cells=(N_ORIENTATIONS * N_CELLS**2 * CHUNK, N_CELLS**2 * CHUNK, N_CELLS * CHUNK, CHUNK),
    norms=(N_BLOCKS**2 * CHUNK, N_BLOCKS * CHUNK, CHUNK),
)


class LevelMaps:
    """The maps of one pyramid level, for windows centred on any of its pixels.

    Windows that reach over the border see its pixels repeated, as `cut_windows` does.

    Parameters
    ----------
    image : ndarray of shape (H, W, 3), uint8
        The level.
    hog, haar : bool
        Which features the maps are for.

    Attributes
    ----------
    shape : tuple of two int
        H and W: there are H x W windows.
    stride : int
        Entries per row, in all three maps. The window centred on (row, col) starts at entry
        ``row * stride + col`` of each of them.
    integral : ndarray of shape (3 * (H + 25) * stride,), int32
    cells : ndarray of shape (3 * 8 * (H + 19) * stride,), uint16
    norms : ndarray of shape (3 * (H + 13) * stride,), float32
    layout : Layout
    """

    def __init__(self, image, *, hog=True, haar=True):
        image = check_rgb(image)
        height, width = image.shape[:2]
        around = BEFORE_PX + MARGIN_PX
        padded = np.pad(image, ((around, around), (around, around), (0, 0)), mode="edge")
        self.shape = (height, width)
        self.stride = width + WINDOW_PX + 1
        rows = (
            height + WINDOW_PX + 1,
            height + WINDOW_PX + 1 - CELL_PX,
            height + WINDOW_PX + 1 - 2 * CELL_PX,
        )
        self.integral = np.empty(0, dtype=np.int32)
        self.cells = np.empty(0, dtype=np.uint16)
        self.norms = np.empty(0, dtype=np.float32)
        if haar:
            self.integral = integral_image(padded[MARGIN_PX:-MARGIN_PX, MARGIN_PX:-MARGIN_PX]).ravel()
        if hog:
            cells = np.zeros((3, N_ORIENTATIONS, rows[1], self.stride), dtype=np.uint16)
            norms = np.zeros((3, rows[2], self.stride), dtype=np.float32)
            level_cells(padded, vote_table(), cells)
            level_norms(cells, norms)
            self.cells, self.norms = cells.ravel(), norms.ravel()
        planes = [n * self.stride for n in rows]
        self.layout = Layout(
            integral=(planes[0], self.stride, 1),
            cells=(N_ORIENTATIONS * planes[1], planes[1], CELL_PX * self.stride, CELL_PX),
            norms=(planes[2], CELL_PX * self.stride, CELL_PX),
        )

    def starts(self, rows, cols):
        """Return the first entries of the windows centred on the given pixels, int64 of shape (n,)."""
        rows, cols = check_points(rows, cols, self.shape)
        return rows * self.stride + cols


@njit(cache=True)
def window_maps(patches, first, table, needs_hog, needs_haar):
    """Return integral images, cells and norms (all flat) of up to 64 stored windows, side by side.

    Windows patches[first], patches[first + 1], ... ; the places of missing ones hold zeros.
    """
    n = min(CHUNK, len(patches) - first)
    pixels = np.zeros((PATCH_PX, PATCH_PX, 3, CHUNK), dtype=np.uint8)
    for i in range(n):
        for r in range(PATCH_PX):
            for c in range(PATCH_PX):
                for channel in range(3):
                    pixels[r, c, channel, i] = patches[first + i, r, c, channel]
    integral = np.zeros((3, WINDOW_PX + 1, WINDOW_PX + 1, CHUNK), dtype=np.int32)
    cells = np.zeros((3, N_ORIENTATIONS, N_CELLS, N_CELLS, CHUNK), dtype=np.uint16)
    norms = np.zeros((3, N_BLOCKS, N_BLOCKS, CHUNK), dtype=np.float32)
    if needs_haar:
        window_integrals(pixels, integral)
    if needs_hog:
        window_cells(pixels, table, cells)
        window_norms(cells, norms)
    return integral.ravel(), cells.ravel(), norms.ravel()


@njit(cache=True)
def evaluate(kinds, offsets, f, integral, cells, norms, start, n, values):
    """Write the values of one feature for n windows that follow one another.

    Parameters
    ----------
    kinds : ndarray of shape (n_features,), uint8
    offsets : ndarray of shape (n_features, 9), int32
        For the layout of the maps.
    f : int
        The feature.
    integral, cells, norms : ndarray
        The maps, flat.
    start : int
        Entry at which the first window starts, in each map.
    n : int
    values : ndarray of shape (>= n,), float32
        Output.
    """
    evaluate_run(kinds, offsets, f, f + 1, integral, cells, norms, start, n, values, 0)


@njit(cache=True)
def evaluate_run(kinds, offsets, first, last, integral, cells, norms, start, n, values, stride):
    """Write features first..last-1, all of one kind, feature f to values[(f - first) * stride] and behind.

    A call for many features costs hardly more than a call for one, which matters for short rows.
    """
    kind = kinds[first]
    if kind in (TWO_ACROSS, TWO_DOWN):
        two(integral, offsets, first, last, start, n, values, stride)
    elif kind in (THREE_ACROSS, THREE_DOWN):
        three(integral, offsets, first, last, start, n, values, stride)
    elif kind == FOUR:
        four(integral, offsets, first, last, start, n, values, stride)
    else:
        hog(cells, norms, offsets, first, last, start, n, values, stride)


@njit(cache=True)
def end_of_run(kinds, first):
    """Return the end of the features from `first` on that `evaluate_run` takes in one call."""
    last = first + 1
    while last < min(first + RUN, len(kinds)) and kinds[last] == kinds[first]:
        last += 1
    return last


@njit(cache=True)
def value_at(kinds, offsets, f, integral, cells, norms, place):
    """Return the value of one feature for the window that starts at entry `place` of the maps."""
    if kinds[f] == HOG:
        return hog_at(cells, norms, offsets, f, place)
    return haar_at(integral, kinds[f], offsets, f, place)
