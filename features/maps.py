"""What the pixel features read: integral images, cell sums and block norms, and how they are read.

A feature is a handful of offsets from its window's first entry in flat maps. Two arrangements of the
maps hold the same numbers: `LevelMaps` at every position of a pyramid level, where a window's right
neighbour is one entry further, and the chunks of stored windows (chunks.py), where the next window is
one entry further. So the same code evaluates a feature for many windows in a row, in either.
"""

from typing import NamedTuple

import cv2
import numpy as np
from numba import njit

from .channels.haar import THREE_DOWN, TWO_DOWN, four, four_at, three, three_at, two, two_at
from .channels.hog import (
    CELL_PX,
    N_ORIENTATIONS,
    hog,
    hog_at,
    level_cells,
    level_norms,
    vote_table,
)
from .errors import DataError, ParameterError
from .integral import fill_integral
from .jit import LEAF
from .patches import BEFORE_PX, MARGIN_PX, WINDOW_PX, check_points, check_rgb

HOG = 0
"""Kind of the HOG features; the others are Haar (haar.py)."""


_NO_INTEGRAL = np.empty(0, dtype=np.int32)
_NO_CELLS = np.empty(0, dtype=np.uint16)
_NO_NORMS = np.empty(0, dtype=np.float32)


class Layout(NamedTuple):
    """How far apart neighbouring entries lie: strides of the flat arrays, in entries.

    `cells` steps from one cell of a window to the next, `norms` from one block to the next.
    """

    integral: tuple[int, int, int]  # channel, row, column
    cells: tuple[int, int, int, int]  # channel, orientation, row, column
    norms: tuple[int, int, int]  # channel, row, column


class LevelMaps:
    """The maps of a pyramid level, or of a band of its rows, for windows centred on any of its pixels.

    Windows that reach over the border see its pixels repeated, as `cut_windows` does.

    Parameters
    ----------
    image : ndarray of shape (H, W, 3), uint8
        The level.
    rows : tuple of two int, optional
        First row and end of the rows on which windows are centred; all of them by default. A band of
        some hundred rows stays in the cache, and bounds the memory for a level of any size.
    hog, haar : bool
        Which features the maps are for.
    reuse : LevelMaps, optional
        Maps that are no longer needed, whose memory is taken over where it suffices. Fresh memory takes
        longer to get than the maps take to compute.

    Attributes
    ----------
    shape : tuple of two int
        Rows and columns of windows.
    first_row : int
        Row of the level on which the first row of windows is centred.
    stride : int
        Entries per row, in all three maps. The window centred on (row, col) starts at entry
        ``(row - first_row) * stride + col`` of each of them.
    integral : ndarray of shape (3 * (rows + 25) * stride,), int32
    cells : ndarray of shape (3 * 8 * (rows + 19) * stride,), uint16
    norms : ndarray of shape (3 * (rows + 13) * stride,), float32
    layout : Layout
    """

    def __init__(self, image, *, rows=None, hog=True, haar=True, reuse=None):
        image = check_rgb(image)
        self.first_row, end = (0, image.shape[0]) if rows is None else rows
        if not 0 <= self.first_row < end <= image.shape[0]:
            raise ParameterError(f"rows is {rows}; it must be a range within 0..{image.shape[0]}")
        self.shape = (end - self.first_row, image.shape[1])
        self.stride = image.shape[1] + WINDOW_PX + 1
        self._memory = {} if reuse is None else reuse._memory
        padded = _padded(image, self.first_row, end)
        self.integral, self.cells, self.norms = _NO_INTEGRAL, _NO_CELLS, _NO_NORMS
        if haar:
            self._make_integral(padded)
        if hog:
            self._make_cells(padded)
        n_integral, n_cells, n_norms = (n * self.stride for n in self._map_rows())
        self.layout = Layout(
            integral=(n_integral, self.stride, 1),
            cells=(N_ORIENTATIONS * n_cells, n_cells, CELL_PX * self.stride, CELL_PX),
            norms=(n_norms, CELL_PX * self.stride, CELL_PX),
        )

    def starts(self, rows, cols):
        """Return the first entries of the windows centred on the given pixels, int64 of shape (n,)."""
        rows, cols = check_points(rows, cols, (self.first_row + self.shape[0], self.shape[1]))
        if rows.size and rows.min() < self.first_row:
            raise DataError(f"rows begin with {rows.min()}; these maps begin with row {self.first_row}")
        return (rows - self.first_row) * self.stride + cols

    def _map_rows(self):
        """Rows of the integral image, of the cells and of the norms."""
        n = self.shape[0] + WINDOW_PX + 1
        return n, n - CELL_PX, n - 2 * CELL_PX

    def _make_integral(self, padded):
        integral = self._array("integral", (3, self._map_rows()[0], self.stride), np.int32)
        fill_integral(padded[MARGIN_PX:-MARGIN_PX, MARGIN_PX:-MARGIN_PX], integral)
        self.integral = integral.ravel()

    def _make_cells(self, padded):
        _, n_cells, n_norms = self._map_rows()
        cells = self._array("cells", (3, N_ORIENTATIONS, n_cells, self.stride), np.uint16)
        energy = self._array("energy", (3, n_cells, self.stride), np.uint32)
        norms = self._array("norms", (3, n_norms, self.stride), np.float32)
        level_cells(padded, vote_table(), cells, energy)
        level_norms(energy, norms)
        self.cells, self.norms = cells.ravel(), norms.ravel()

    def _array(self, name, shape, dtype):
        """Return an uninitialised array in the memory kept under that name."""
        size = int(np.prod(shape))
        if name not in self._memory or len(self._memory[name]) < size:
            self._memory[name] = np.empty(size, dtype=dtype)
        return self._memory[name][:size].reshape(shape)


def _padded(image, first, end):
    """Return rows first..end-1 of an image with 13 pixels around them, border pixels repeated outside."""
    around = BEFORE_PX + MARGIN_PX
    above, below = min(around, first), min(around, len(image) - end)
    return cv2.copyMakeBorder(
        image[first - above : end + below],
        around - above,
        around - below,
        around,
        around,
        cv2.BORDER_REPLICATE,
    )


@njit(**LEAF)
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


@njit(**LEAF)
def evaluate_run(kinds, offsets, first, last, integral, cells, norms, start, n, values, stride):
    """Write features first..last-1, all of one kind, feature f to values[(f - first) * stride] and behind.

    A call for many features costs hardly more than a call for one, which matters for short rows.
    """
    kind = kinds[first]
    if kind == HOG:
        hog(cells, norms, offsets, first, last, start, n, values, stride)
    elif kind <= TWO_DOWN:
        two(integral, offsets, first, last, start, n, values, stride)
    elif kind <= THREE_DOWN:
        three(integral, offsets, first, last, start, n, values, stride)
    else:
        four(integral, offsets, first, last, start, n, values, stride)


@njit(**LEAF)
def evaluate_at(kinds, offsets, f, integral, cells, norms, places, n, values):
    """Write the values of one feature for the windows that start at n entries `places` of the maps."""
    kind = kinds[f]
    if kind == HOG:
        hog_at(cells, norms, offsets, f, places, n, values)
    elif kind <= TWO_DOWN:
        two_at(integral, offsets, f, places, n, values)
    elif kind <= THREE_DOWN:
        three_at(integral, offsets, f, places, n, values)
    else:
        four_at(integral, offsets, f, places, n, values)
