"""Histograms of oriented gradients on a 24 x 24 window (Dalal and Triggs, CVPR 2005; section 3.3).

A window has 4 x 4 cells of 6 x 6 pixels and 3 x 3 overlapping blocks of 2 x 2 cells. Every pixel gives
its gradient's magnitude to the two nearest of 8 orientations, in proportion to nearness; a cell adds up
the votes of its pixels; a feature is one orientation of one cell of one block, divided by the block's
norm and cut off at 0.2. Each colour has its own 9 x 4 x 8 = 288 features.

The choices, where the field differs:

- gradients are differences of the two neighbours along each axis, without smoothing; unsigned;
- orientations are centred on 11.25, 33.75, ... degrees and a vote is shared linearly by two of them
  (scikit-image votes for one); there is no sharing between cells, whose grid moves with the window;
- a block is divided by sqrt(sum of squares + eps**2), eps being the value of a cell in which every pixel
  has a gradient of one grey level, and cut off at 0.2; it is not normalised again afterwards
  (as in Felzenszwalb et al., PAMI 2010; Dalal and Triggs do it once more).

Votes are integers, fifths of a grey level: sums over cells are exact, whichever way they are computed,
and a cell holds at most 36 x 5 x 361 < 2**16.
"""

from functools import lru_cache

import numpy as np
from numba import njit

from ..jit import INNER, LEAF
from ..patches import WINDOW_PX
from .channel import COLOURS, FeatureChannel, Mark

N_ORIENTATIONS = 8
CELL_PX = 6
N_CELLS = 4
N_BLOCKS = 3
BLOCK_CELLS = 2
CLIP = np.float32(0.2)
_ROW_WORDS = "top", "upper", "lower", "bottom"
_COLUMN_WORDS = "far left", "left", "right", "far right"

VOTES_PER_GREY = 5
_EPS_SQUARED = np.float32((CELL_PX * CELL_PX * VOTES_PER_GREY) ** 2)

# Votes of a pixel in 32 bits: bits 0-10 those for orientation b, bits 11-13 b itself, bits 16-26 those
# for orientation b + 1. Without b the words of a cell's pixels can be added up, one sum for each b.
_BIN_SHIFT, _NEXT_SHIFT = np.uint32(11), np.uint32(16)
_BIN_MASK, _VOTES_MASK, _HERE_MASK = np.uint32(0x7), np.uint32(0x07FF07FF), np.uint32(0xFFFF)


def hog_geometry():
    """List the HOG features of one colour.

    Returns
    -------
    ndarray of shape (288, 5), uint8
        Block row and column (0..2), row and column of the cell in the block (0..1), orientation (0..7).
    """
    shape = (N_BLOCKS, N_BLOCKS, BLOCK_CELLS, BLOCK_CELLS, N_ORIENTATIONS)
    return np.indices(shape).reshape(len(shape), -1).T.astype(np.uint8)


@lru_cache(maxsize=1)
def vote_table():
    """Return the votes of every possible gradient.

    Returns
    -------
    ndarray of shape (511 * 511,), uint32
        Entry ``(255 + g_row) * 511 + 255 + g_col``: orientation b in bits 11-13, votes for it in bits
        0-10, votes for orientation (b + 1) % 8 in bits 16-26.
    """
    g_row, g_col = np.mgrid[-255:256, -255:256].astype(np.float64)
    votes = np.rint(VOTES_PER_GREY * np.hypot(g_row, g_col)).astype(np.uint32)
    position = np.arctan2(g_row, g_col) / np.pi * N_ORIENTATIONS - 0.5
    below = np.floor(position)
    beyond = np.rint(votes * (position - below)).astype(np.uint32)
    orientation = (below.astype(np.int64) % N_ORIENTATIONS).astype(np.uint32)
    table = (votes - beyond | orientation << _BIN_SHIFT | beyond << _NEXT_SHIFT).ravel()
    table.flags.writeable = False
    return table


@njit(**INNER)
def _votes(table, above, below, left, right):
    """Return the packed votes of a pixel from its four neighbours."""
    g_row, g_col = np.int64(below) - np.int64(above), np.int64(right) - np.int64(left)
    return table[np.uintp((g_row + 255) * 511 + g_col + 255)]


@njit(**INNER)
def _orientation(packed):
    """Return orientation b of packed votes."""
    return np.uintp((packed >> _BIN_SHIFT) & _BIN_MASK)


@njit(**INNER)
def _unpack_row(sums, row, n, cells, energy):
    """Write n cells of one row, and the sums of their squares over the orientations, from packed sums.

    Parameters
    ----------
    sums : ndarray of shape (8, >= n), uint32
    row, n : int
    cells : ndarray of shape (8, n_rows, >= n), uint16
        Output.
    energy : ndarray of shape (n_rows, >= n), uint32
        Output.
    """
    for k in range(n):
        i = np.uintp(k)
        total = np.uint32(0)
        for b in range(N_ORIENTATIONS):
            before = (b + N_ORIENTATIONS - 1) % N_ORIENTATIONS
            votes = np.uint32((sums[b, i] & _HERE_MASK) + (sums[before, i] >> _NEXT_SHIFT))
            cells[b, row, i] = votes
            total += votes * votes
        energy[row, i] = total


# With NumPy's rules a division does not look for zero, which is impossible here, and can be vectorised.
@njit(**INNER, error_model="numpy")
def _inverse_norm(e00, e01, e10, e11):
    """Return 1 / norm of a block from the energies of its cells, in float32 and always in this order."""
    upper = np.float32(e00) + np.float32(e01)
    lower = np.float32(e10) + np.float32(e11)
    return np.float32(1.0) / np.sqrt(upper + lower + _EPS_SQUARED)


@njit(**INNER)
def _normalised(cell, inverse):
    """Return a cell's share of its block, cut off."""
    value = np.float32(cell) * inverse
    return value if value < CLIP else CLIP


@njit(**INNER)
def _run(kind, maps, offsets, first, last, start, n, values, stride):
    """See `FeatureChannel.run`."""
    cells, norms = maps
    for f in range(first, last):
        cell, norm = np.uintp(start + offsets[f, 0]), np.uintp(start + offsets[f, 1])
        at = np.uintp((f - first) * stride)
        for k in range(n):
            i = np.uintp(k)
            values[at + i] = _normalised(cells[cell + i], norms[norm + i])


@njit(**INNER)
def _run_at(kind, maps, offsets, f, places, n, values):
    """See `FeatureChannel.run_at`."""
    cells, norms = maps
    cell, norm = offsets[f, 0], offsets[f, 1]
    for k in range(n):
        i = np.uintp(k)
        p = places[i]
        values[i] = _normalised(cells[np.uintp(p + cell)], norms[np.uintp(p + norm)])


def level_cells(padded, table, cells, energy):
    """Fill the cell sums at every position of a level, and their energies.

    Parameters
    ----------
    padded : ndarray of shape (H + 26, W + 26, 3), uint8
        The level with its border pixels repeated around it.
    table : ndarray
        `vote_table`.
    cells : ndarray of shape (3, 8, H + 19, stride), uint16
        Output; entry (colour, b, r, c) belongs to the cell whose first pixel is padded[r + 1, c + 1].
    energy : ndarray of shape (3, H + 19, stride), uint32
        Output; sum of squares over the orientations of a cell.
    """
    width = padded.shape[1] - 2
    votes = np.empty((CELL_PX, width), dtype=np.uint32)
    columns, across = np.empty((2, N_ORIENTATIONS, width), dtype=np.uint32)
    pairs = np.empty(width, dtype=np.uint32)
    for colour in range(3):
        votes[:], columns[:] = 0, 0
        _colour_cells(padded, colour, table, votes, columns, across, pairs, cells[colour], energy[colour])


@njit(**LEAF, nogil=True)
def _colour_cells(padded, colour, table, votes, columns, across, pairs, cells, energy):
    """Fill one colour: votes of 6 rows are kept and summed down, then across."""
    width = padded.shape[1] - 2
    for r in range(cells.shape[1] + CELL_PX - 1):
        _replace_row(padded, r, colour, table, votes[r % CELL_PX], columns)
        done = r - CELL_PX + 1
        if done >= 0:
            _sum_across(columns, pairs, across)
            _unpack_row(across, done, width - CELL_PX + 1, cells, energy)


@njit(**INNER)
def _replace_row(padded, r, colour, table, votes, columns):
    """Take the votes of the row six rows above out of the column sums, put those of row r in."""
    for k in range(len(votes)):
        c = np.uintp(k)
        old = votes[c]
        columns[_orientation(old), c] -= old & _VOTES_MASK
        new = _votes(
            table,
            padded[r, c + 1, colour],
            padded[r + 2, c + 1, colour],
            padded[r + 1, c, colour],
            padded[r + 1, c + 2, colour],
        )
        votes[c] = new
        columns[_orientation(new), c] += new & _VOTES_MASK


@njit(**INNER)
def _sum_across(columns, pairs, out):
    """Write the sums of 6 neighbouring columns; `pairs` is room for those of two."""
    for b in range(N_ORIENTATIONS):
        for k in range(len(pairs) - 1):
            c = np.uintp(k)
            pairs[c] = columns[b, c] + columns[b, c + np.uintp(1)]
        for k in range(len(pairs) - CELL_PX + 1):
            c = np.uintp(k)
            out[b, c] = pairs[c] + pairs[c + np.uintp(2)] + pairs[c + np.uintp(4)]


@njit(**LEAF, nogil=True)
def level_norms(energy, norms):
    """Fill the inverse norms of the blocks at every position of a level from the energies of its cells.

    norms is (3, H + 13, stride), float32: entry (colour, r, c) belongs to the block whose upper left
    cell is at (r, c).
    """
    for colour in range(3):
        for r in range(norms.shape[1]):
            _norm_row(energy[colour, r], energy[colour, r + CELL_PX], norms[colour, r])


@njit(**INNER, error_model="numpy")
def _norm_row(upper, lower, norms):
    right = np.uintp(CELL_PX)
    for k in range(len(norms) - CELL_PX):
        c = np.uintp(k)
        norms[c] = _inverse_norm(upper[c], upper[c + right], lower[c], lower[c + right])


@njit(cache=True)
def _fill_windows(pixels, n, memory):
    """See `FeatureChannel.fill_windows`."""
    cells, norms, energy, table = memory
    window_cells(pixels, n, table, cells, energy)
    window_norms(energy, n, norms)


@njit(cache=True)
def window_cells(pixels, n, table, cells, energy):
    """Fill the cell sums of n windows side by side, and their energies.

    Parameters
    ----------
    pixels : ndarray of shape (26, 26, 3, >= n), uint8
    n : int
    table : ndarray
        `vote_table`.
    cells : ndarray of shape (3, 8, 16, >= n), uint16
        Output; the 4 x 4 cells row by row.
    energy : ndarray of shape (3, 16, >= n), uint32
        Output.
    """
    sums = np.empty((N_ORIENTATIONS, n), dtype=np.uint32)
    for colour in range(3):
        for cell in range(N_CELLS * N_CELLS):
            sums[:] = 0
            top, left = cell // N_CELLS * CELL_PX, cell % N_CELLS * CELL_PX
            for r in range(top, top + CELL_PX):
                for c in range(left, left + CELL_PX):
                    _add_votes(pixels, r, c, colour, n, table, sums)
            _unpack_row(sums, cell, n, cells[colour], energy[colour])


@njit(**INNER)
def _add_votes(pixels, r, c, colour, n, table, sums):
    """Add the votes of pixel (r, c) of n windows to the packed sums (8, n)."""
    for k in range(n):
        i = np.uintp(k)
        packed = _votes(
            table,
            pixels[r, c + 1, colour, i],
            pixels[r + 2, c + 1, colour, i],
            pixels[r + 1, c, colour, i],
            pixels[r + 1, c + 2, colour, i],
        )
        sums[_orientation(packed), i] += packed & _VOTES_MASK


@njit(cache=True, error_model="numpy")
def window_norms(energy, n, norms):
    """Fill the inverse norms (3, 9, >= n) of n windows from the energies (3, 16, >= n) of their cells."""
    for colour in range(3):
        for block in range(N_BLOCKS * N_BLOCKS):
            cell = block // N_BLOCKS * N_CELLS + block % N_BLOCKS
            for k in range(n):
                i = np.uintp(k)
                norms[colour, block, i] = _inverse_norm(
                    energy[colour, cell, i],
                    energy[colour, cell + 1, i],
                    energy[colour, cell + N_CELLS, i],
                    energy[colour, cell + N_CELLS + 1, i],
                )


class HogChannel(FeatureChannel):
    """Histograms of oriented gradients.

    A feature's geometry is row and column of its block (0..2), row and column of its cell in the block (0..1)
    and its orientation (0..7). It reads the cell's votes and the inverse norm of the block.
    """

    name = "HOG"
    kinds = range(1)
    no_maps = np.empty(0, dtype=np.uint16), np.empty(0, dtype=np.float32)
    fill_windows = staticmethod(_fill_windows)
    run = staticmethod(_run)
    run_at = staticmethod(_run_at)

    def features(self):
        geometry = hog_geometry()
        return np.zeros(len(geometry), dtype=np.uint8), geometry

    def is_valid(self, kind, geometry):
        ends = N_BLOCKS, N_BLOCKS, BLOCK_CELLS, BLOCK_CELLS, N_ORIENTATIONS
        return (geometry < ends).all(axis=1)

    def describe(self, kind, colour, geometry):
        a, b, c, d, orientation = geometry
        # the edge lies across the gradient, whose rows count downwards
        degrees = (90 - (orientation + 0.5) * 180 / N_ORIENTATIONS) % 180
        cell = f"{_ROW_WORDS[a + c]} {_COLUMN_WORDS[b + d]} cell"
        others = f"{('below', 'above')[c]} and {('right', 'left')[d]}"
        return f"{COLOURS[colour]} edges at {degrees:.0f} degrees in the {cell}, beside those {others}"

    def draw(self, kind, geometry):
        a, b, c, d, orientation = geometry
        side = BLOCK_CELLS * CELL_PX
        # the edge lies across the gradient
        angle = (orientation + 0.5) * np.pi / N_ORIENTATIONS + np.pi / 2
        return [
            Mark(a * CELL_PX, b * CELL_PX, side, side, 0),
            Mark((a + c) * CELL_PX, (b + d) * CELL_PX, CELL_PX, CELL_PX, 1, angle),
        ]

    def reads(self, kind, colour, geometry):
        a, b, c, d, orientation = geometry.T
        cells, norms = np.zeros_like(a), np.ones_like(a)
        cell = np.stack([cells, colour * N_ORIENTATIONS + orientation, a + c, b + d], axis=1)
        return np.stack([cell, np.stack([norms, colour, a, b], axis=1)], axis=1)

    def level_maps(self, padded, n_rows, stride, new):
        n_cells, n_norms = _map_rows(n_rows)
        cells = new("cells", (3, N_ORIENTATIONS, n_cells, stride), np.uint16)
        energy = new("energy", (3, n_cells, stride), np.uint32)
        norms = new("norms", (3, n_norms, stride), np.float32)
        level_cells(padded, vote_table(), cells, energy)
        level_norms(energy, norms)
        return cells.ravel(), norms.ravel()

    def level_steps(self, n_rows, stride):
        n_cells, n_norms = _map_rows(n_rows)
        return [(n * stride, CELL_PX * stride, CELL_PX) for n in (n_cells, n_norms)]

    def window_memory(self, n):
        return (
            np.zeros((3, N_ORIENTATIONS, N_CELLS**2, n), dtype=np.uint16),
            np.zeros((3, N_BLOCKS**2, n), dtype=np.float32),
            np.zeros((3, N_CELLS**2, n), dtype=np.uint32),
            vote_table(),
        )

    def window_steps(self, n):
        return [(side**2 * n, side * n, n) for side in (N_CELLS, N_BLOCKS)]


def _map_rows(n_rows):
    """Rows of the cells and of the norms of a level with n_rows rows of windows."""
    n = n_rows + WINDOW_PX + 1 - CELL_PX
    return n, n - CELL_PX


HOG = HogChannel()
