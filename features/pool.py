"""The pool of pixel features: which features there are, and their values on windows.

A pool is an array of descriptors, seven small integers a feature:

    kind 0, HOG      channel  block row  block col  cell row  cell col  orientation
    kind 1-5, Haar   channel  row        col        height    width     0

with block row and col in 0..2, cell row and col in 0..1 within the block, orientation in 0..7 (hog.py);
row, col, height and width of the first rectangle in window pixels, and the kind giving number and
arrangement of the rectangles (haar.py). Channels are 0 red, 1 green, 2 blue. The same array serves in
training, in scanning and in the model file.
"""

from functools import cached_property

import numpy as np
from numba import njit, prange

from .channels.haar import GRID, N_CORNERS, WEIGHTS, haar_corners, haar_geometry
from .channels.hog import (
    BLOCK_CELLS,
    CELL_PX,
    N_BLOCKS,
    N_ORIENTATIONS,
    hog_geometry,
)
from .chunks import CHUNK, CHUNK_LAYOUT, TASKS, compute_windows, from_ordered
from .codes import code_scale, quantise
from .errors import DataError
from .maps import HOG, LevelMaps, evaluate, evaluate_at
from .patches import (
    MARGIN_PX,
    PATCH_PX,
    WINDOW_PX,
    check_patches,
    cut_turned_windows,
    cut_windows,
)

__all__ = [
    "HOG",
    "MARGIN_PX",
    "PATCH_PX",
    "WINDOW_PX",
    "LevelMaps",
    "WindowPool",
    "code_scale",
    "cut_turned_windows",
    "cut_windows",
    "quantise",
]

N_COLUMNS = 7
_CHANNELS = "red", "green", "blue"

_NO_VALUES = np.empty((0, 0), dtype=np.float32)
_NO_CODES = np.empty((0, 0), dtype=np.uint8)
_NO_SCALING = (np.empty(0, dtype=np.float32),) * 3
_NO_EXTREMES = (np.empty((0, 0), dtype=np.int32),) * 2


class WindowPool:
    """Features of a 24 x 24 window of an RGB picture.

    Parameters
    ----------
    descriptors : ndarray of shape (n_features, 7), uint8
        Trusted; `from_descriptors` checks them.

    Examples
    --------
    >>> pool = WindowPool.default()
    >>> len(pool), pool.names()[0]
    (61803, 'HOG red block (0, 0) cell (0, 0) orientation 0')
    >>> pool[[0, -1]].compute(np.zeros((5, 26, 26, 3), np.uint8)).shape
    (2, 5)
    """

    def __init__(self, descriptors):
        self.descriptors = descriptors

    @classmethod
    def default(cls):
        """Return the paper's pool: 864 HOG features and 60,939 Haar features, three channels of each."""
        hog, haar = hog_geometry(), haar_geometry()
        parts = [_described(channel, np.zeros(len(hog)), hog) for channel in range(3)]
        parts += [_described(channel, haar[:, 0], haar[:, 1:]) for channel in range(3)]
        return cls(np.concatenate(parts))

    @classmethod
    def from_descriptors(cls, array):
        """Return the pool of an array of descriptors, checking every one of them.

        Raises
        ------
        DataError
            If shape or type differ, or a feature is of an unknown kind or reaches outside the window.
        """
        array = np.asarray(array)
        if array.ndim != 2 or array.shape[1] != N_COLUMNS or array.dtype != np.uint8:
            raise DataError(
                f"descriptors has shape {array.shape} and dtype {array.dtype}; "
                f"accepted is (n_features, {N_COLUMNS}) and uint8"
            )
        bad = np.flatnonzero(~_is_valid(array.astype(np.int64)))
        if bad.size:
            raise DataError(
                f"descriptor {bad[0]} is {array[bad[0]].tolist()}, which is no feature of a "
                f"{WINDOW_PX} x {WINDOW_PX} window ({bad.size} such among {len(array)})"
            )
        return cls(array.copy())

    def __len__(self):
        return len(self.descriptors)

    def __getitem__(self, indices):
        """Return the pool of some of the features, in the order given."""
        return WindowPool(np.atleast_2d(self.descriptors[indices]))

    def names(self):
        """Return a readable name for each feature."""
        return [_name(*row) for row in self.descriptors.tolist()]

    def draw(self, index):
        """Return what a feature looks at, for drawing.

        Returns
        -------
        list of tuple (row, col, height, width, weight)
            Rectangles in window pixels. For HOG the cell has weight 1 and the block around it 0.
        """
        kind, _, *g = self.descriptors[index].tolist()
        if kind == HOG:
            block = (g[0] * CELL_PX, g[1] * CELL_PX, BLOCK_CELLS * CELL_PX, BLOCK_CELLS * CELL_PX, 0)
            return [block, ((g[0] + g[2]) * CELL_PX, (g[1] + g[3]) * CELL_PX, CELL_PX, CELL_PX, 1)]
        row, col, height, width, _ = g
        return [
            (row + i * height, col + j * width, height, width, weight)
            for i, line in enumerate(WEIGHTS[kind])
            for j, weight in enumerate(line)
        ]

    @property
    def kinds(self):
        """Kind of each feature, uint8 of shape (n_features,)."""
        return np.ascontiguousarray(self.descriptors[:, 0])

    @property
    def needs(self):
        """Whether any feature is HOG, whether any is Haar."""
        is_hog = self.descriptors[:, 0] == HOG
        return bool(is_hog.any()), bool((~is_hog).any())

    def offsets(self, layout):
        """Return where features read in maps of a layout, int32 of shape (n_features, 9)."""
        is_hog, channel, *reads = self._reads
        offsets = np.zeros((len(self), N_CORNERS), dtype=np.int32)
        _fill_offsets(is_hog, channel, *reads, *layout, offsets)
        return offsets

    @cached_property
    def _reads(self):
        """Which entries features read, whatever the layout: see `_fill_offsets`."""
        kind, channel, a, b, c, e, last = self.descriptors.astype(np.int64).T
        cell, block = np.stack([last, a + c, b + e], axis=1), np.stack([a, b], axis=1)
        return kind == HOG, np.ascontiguousarray(channel), cell, block, *haar_corners(kind, a, b, c, e)

    def _run(self, patches, values=_NO_VALUES, codes=_NO_CODES, scaling=_NO_SCALING, extremes=_NO_EXTREMES):
        """Compute the outputs that are given; see `compute_windows`."""
        offsets = self.offsets(CHUNK_LAYOUT)
        compute_windows(patches, self.needs, self.kinds, offsets, values, codes, scaling, extremes)

    def compute(self, patches, out=None):
        """Return the features of stored windows.

        Parameters
        ----------
        patches : ndarray of shape (n_windows, 26, 26, 3), uint8
        out : ndarray of shape (n_features, n_windows), float32, optional

        Returns
        -------
        ndarray of shape (n_features, n_windows), float32
            Haar values are whole numbers; HOG values lie in [0, 0.2].
        """
        patches = check_patches(patches)
        out = _output(out, (len(self), len(patches)), np.float32)
        self._run(patches, values=out)
        return out

    def codes(self, patches, lo, hi, out=None):
        """Return the features of stored windows, each as its position in the feature's own range.

        Parameters
        ----------
        patches : ndarray of shape (n_windows, 26, 26, 3), uint8
        lo, hi : ndarray of shape (n_features,), float32
            Values with codes 0 and 255; others are rounded to the nearest code, or clamped.
        out : ndarray of shape (n_features, n_windows), uint8, optional

        Returns
        -------
        ndarray of shape (n_features, n_windows), uint8
        """
        patches = check_patches(patches)
        lo, hi, scale = code_scale(lo, hi)
        if len(lo) != len(self):
            raise DataError(f"lo and hi have {len(lo)} entries; the pool has {len(self)} features")
        out = _output(out, (len(self), len(patches)), np.uint8)
        self._run(patches, codes=out, scaling=(lo, hi, scale))
        return out

    def ranges(self, patches):
        """Return the smallest and largest value of each feature on stored windows.

        Returns
        -------
        lo, hi : ndarray of shape (n_features,), float32
        """
        patches = check_patches(patches)
        if not len(patches):
            raise DataError("patches is empty; ranges need at least one window")
        limits = np.iinfo(np.int32)
        lowest = np.full((TASKS, len(self)), limits.max, dtype=np.int32)
        highest = np.full((TASKS, len(self)), limits.min, dtype=np.int32)
        self._run(patches, extremes=(lowest, highest))
        return from_ordered(lowest.min(axis=0)), from_ordered(highest.max(axis=0))

    def compute_at(self, maps, rows, cols):
        """Return the features of windows of a level, equal to `compute` of the same windows cut out.

        Parameters
        ----------
        maps : LevelMaps
        rows, cols : ndarray of shape (n,), int
            Centre pixels.

        Returns
        -------
        ndarray of shape (n_features, n), float32
        """
        starts = maps.starts(rows, cols)
        out = np.empty((len(self), len(starts)), dtype=np.float32)
        offsets = self.offsets(maps.layout)
        _fill_places(self.kinds, offsets, maps.integral, maps.cells, maps.norms, starts, out)
        return out

    def compute_row(self, maps, feature, row, out):
        """Write one feature of the windows centred on a row of a level.

        Scanning kernels call `evaluate` themselves, with ``pool.kinds`` and ``pool.offsets(maps.layout)``.

        Parameters
        ----------
        maps : LevelMaps
        feature : int
        row : int
        out : ndarray of shape (W,), float32
        """
        out = _output(out, (maps.shape[1],), np.float32)
        start = maps.starts(row, 0)[0]
        offsets = self.offsets(maps.layout)
        evaluate(self.kinds, offsets, feature, maps.integral, maps.cells, maps.norms, start, len(out), out)


def _described(channel, kind, geometry):
    """Put descriptors together from kinds and five columns of geometry (or four: the last is then zero)."""
    out = np.zeros((len(geometry), N_COLUMNS), dtype=np.uint8)
    out[:, 0], out[:, 1] = kind, channel
    out[:, 2 : 2 + geometry.shape[1]] = geometry
    return out


def _is_valid(d):
    """Return which descriptors, int64 of shape (n, 7), name a feature inside the window."""
    kind, channel, a, b, c, e, last = d.T
    hog = (kind == HOG) & (a < N_BLOCKS) & (b < N_BLOCKS) & (c < BLOCK_CELLS) & (e < BLOCK_CELLS)
    hog &= last < N_ORIENTATIONS
    haar = np.zeros(len(d), dtype=bool)
    for this, (down, across) in GRID.items():
        haar |= (kind == this) & (a + down * c <= WINDOW_PX) & (b + across * e <= WINDOW_PX)
    haar &= (c > 0) & (e > 0) & (last == 0)
    return (channel < len(_CHANNELS)) & (hog | haar)


def _name(kind, channel, a, b, c, e, last):
    if kind == HOG:
        return f"HOG {_CHANNELS[channel]} block ({a}, {b}) cell ({c}, {e}) orientation {last}"
    down, across = GRID[kind]
    return f"Haar {down} x {across} {_CHANNELS[channel]} at ({a}, {b}) of {c} x {e} px"


@njit(cache=True, nogil=True)
def _fill_offsets(is_hog, channel, cell, block, rows, cols, integral_steps, cell_steps, norm_steps, out):
    """Write where features read in maps of a layout.

    Parameters
    ----------
    is_hog : ndarray of shape (n,), bool
    channel : ndarray of shape (n,), int64
    cell, block : ndarray of shape (n, 3) and (n, 2), int64
        Orientation, row and column of a HOG feature's cell; row and column of its block.
    rows, cols : ndarray of shape (n, 9), int64
        Entries of the integral image that a Haar feature reads.
    integral_steps, cell_steps, norm_steps : tuple of int
        Of the layout.
    out : ndarray of shape (n, 9), int32
    """
    for f in range(len(out)):
        if is_hog[f]:
            plane, step, row, col = cell_steps
            out[f, 0] = channel[f] * plane + cell[f, 0] * step + cell[f, 1] * row + cell[f, 2] * col
            plane, row, col = norm_steps
            out[f, 1] = channel[f] * plane + block[f, 0] * row + block[f, 1] * col
        else:
            plane, row, col = integral_steps
            for corner in range(N_CORNERS):
                out[f, corner] = channel[f] * plane + rows[f, corner] * row + cols[f, corner] * col


def _output(out, shape, dtype):
    """Return the caller's output after checking it, or a new one."""
    if out is None:
        return np.empty(shape, dtype=dtype)
    if out.shape != shape or out.dtype != dtype:
        raise DataError(
            f"out has shape {out.shape} and dtype {out.dtype}; it must be {shape} and {dtype.__name__}"
        )
    return out


@njit(cache=True, parallel=True)
def _fill_places(kinds, offsets, integral, cells, norms, starts, out):
    """Write all features of windows anywhere in a level, one thread a chunk of windows."""
    for chunk in prange((len(starts) + CHUNK - 1) // CHUNK):
        places = starts[chunk * CHUNK : (chunk + 1) * CHUNK]
        for f in range(len(kinds)):
            values = out[f, chunk * CHUNK : (chunk + 1) * CHUNK]
            evaluate_at(kinds, offsets, f, integral, cells, norms, places, len(places), values)
