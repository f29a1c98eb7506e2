"""Histograms of oriented gradients on a 24 x 24 window (Dalal and Triggs, CVPR 2005; section 3.3).

A window has 4 x 4 cells of 6 x 6 pixels and 3 x 3 overlapping blocks of 2 x 2 cells. Every pixel gives
its gradient's magnitude to the two nearest of 8 orientations, in proportion to nearness; a cell adds up
the votes of its pixels; a feature is one orientation of one cell of one block, divided by the block's
norm and cut off at 0.2. Each colour channel has its own 9 x 4 x 8 = 288 features.

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
from numba import njit, prange

from .patches import WINDOW_PX

N_ORIENTATIONS = 8
CELL_PX = 6
N_CELLS = 4
N_BLOCKS = 3
BLOCK_CELLS = 2
CLIP = np.float32(0.2)

VOTES_PER_GREY = 5
_EPS_SQUARED = np.float32((CELL_PX * CELL_PX * VOTES_PER_GREY) ** 2)
_WEIGHT_BITS = 11
_WEIGHT_MASK = (1 << _WEIGHT_BITS) - 1
_BIN_BITS = 3


def hog_geometry():
    """List the HOG features of one channel.

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
    ndarray of shape (511, 511), uint32
        Entry (255 + g_row, 255 + g_col) packs, from the lowest bit: 3 bits of orientation b, 11 bits of
        votes for b, 11 bits of votes for the next orientation (b + 1) % 8.
    """
    g_row, g_col = np.mgrid[-255:256, -255:256].astype(np.float64)
    votes = np.rint(VOTES_PER_GREY * np.hypot(g_row, g_col)).astype(np.uint32)
    position = np.arctan2(g_row, g_col) / np.pi * N_ORIENTATIONS - 0.5
    below = np.floor(position)
    second = np.rint(votes * (position - below)).astype(np.uint32)
    table = (below.astype(np.int64) % N_ORIENTATIONS).astype(np.uint32)
    table |= (votes - second) << np.uint32(_BIN_BITS)
    table |= second << np.uint32(_BIN_BITS + _WEIGHT_BITS)
    table.flags.writeable = False
    return table


@njit(cache=True)
def unpack_votes(packed):
    """Return orientation, votes for it, and votes for the next one."""
    packed = np.int64(packed)
    return packed & 7, (packed >> _BIN_BITS) & _WEIGHT_MASK, packed >> (_BIN_BITS + _WEIGHT_BITS)


@njit(cache=True)
def inverse_norm(e00, e01, e10, e11):
    """Return 1 / norm of a block from the energies of its cells, in float32 and always in this order."""
    upper = np.float32(e00) + np.float32(e01)
    lower = np.float32(e10) + np.float32(e11)
    return np.float32(1.0) / np.sqrt(upper + lower + _EPS_SQUARED)


@njit(cache=True)
def _normalised(cell, inverse):
    """Return a cell's share of its block, cut off."""
    value = np.float32(cell) * inverse
    return value if value < CLIP else CLIP


@njit(cache=True)
def hog(cells, norms, offsets, first, last, start, n, values, stride):
    """Write features first..last-1 of n places that follow one another in flat cells and inverse norms.

    The first place is entry `start` of both. Feature f goes to values[(f - first) * stride] and behind.
    """
    for f in range(first, last):
        cell, norm = np.uintp(start + offsets[f, 0]), np.uintp(start + offsets[f, 1])
        at = np.uintp((f - first) * stride)
        for k in range(n):
            i = np.uintp(k)
            values[at + i] = _normalised(cells[cell + i], norms[norm + i])


@njit(cache=True)
def hog_at(cells, norms, offsets, f, place):
    """Return the value of feature f in one place."""
    return _normalised(cells[place + offsets[f, 0]], norms[place + offsets[f, 1]])


@njit(cache=True, parallel=True)
def level_cells(padded, table, cells):
    """Fill the cell sums at every position of a level.

    padded is the level with its border pixels repeated around it, (H + 26, W + 26, 3); cells is
    (3, 8, H + 19, stride): entry (channel, b, r, c) belongs to the cell whose first pixel is
    padded[r + 1, c + 1]. Every thread owns the rows of one band of one channel.
    """
    n_rows = cells.shape[2]
    bands = (n_rows + _BAND_ROWS - 1) // _BAND_ROWS
    for task in prange(3 * bands):
        channel, first = task // bands, task % bands * _BAND_ROWS
        _cell_band(padded, channel, table, first, min(first + _BAND_ROWS, n_rows), cells[channel])


_BAND_ROWS = 32


@njit(cache=True)
def _cell_band(padded, channel, table, first, last, cells):
    """Fill rows first..last-1 of one channel's cell sums: votes of a row, summed down, then across."""
    width = padded.shape[1] - 2
    votes = np.zeros((CELL_PX, N_ORIENTATIONS, width), dtype=np.uint16)
    columns = np.zeros((N_ORIENTATIONS, width), dtype=np.uint16)
    for r in range(first, last + CELL_PX - 1):
        row = votes[r % CELL_PX]
        for b in range(N_ORIENTATIONS):
            for c in range(width):
                columns[b, c] -= row[b, c]
                row[b, c] = 0
        for c in range(width):
            g_row = np.int64(padded[r + 2, c + 1, channel]) - np.int64(padded[r, c + 1, channel])
            g_col = np.int64(padded[r + 1, c + 2, channel]) - np.int64(padded[r + 1, c, channel])
            b, here, beyond = unpack_votes(table[255 + g_row, 255 + g_col])
            row[b, c] = here
            row[(b + 1) % N_ORIENTATIONS, c] = beyond
        for b in range(N_ORIENTATIONS):
            for c in range(width):
                columns[b, c] += row[b, c]
        if r >= first + CELL_PX - 1:
            _sum_across(columns, cells[:, r - CELL_PX + 1])


@njit(cache=True)
def _sum_across(columns, out):
    """Write the sums of 6 neighbouring columns."""
    for b in range(N_ORIENTATIONS):
        for c in range(columns.shape[1] - CELL_PX + 1):
            out[b, c] = (
                columns[b, c]
                + columns[b, c + 1]
                + columns[b, c + 2]
                + columns[b, c + 3]
                + columns[b, c + 4]
                + columns[b, c + 5]
            )


@njit(cache=True, parallel=True)
def level_norms(cells, norms):
    """Fill the inverse norms of the blocks at every position of a level, (3, H + 13, stride), from its cells.

    Entry (channel, r, c) belongs to the block whose upper left cell is at (r, c).
    """
    n_rows = norms.shape[1]
    for task in prange(3 * n_rows):
        channel, r = task // n_rows, task % n_rows
        upper = np.empty(cells.shape[3], dtype=np.uint32)
        lower = np.empty(cells.shape[3], dtype=np.uint32)
        _energies(cells[channel, :, r], upper)
        _energies(cells[channel, :, r + CELL_PX], lower)
        for c in range(len(upper) - CELL_PX):
            norms[channel, r, c] = inverse_norm(upper[c], upper[c + CELL_PX], lower[c], lower[c + CELL_PX])


@njit(cache=True)
def _energies(cells, out):
    """Write the sum of squares over the orientations of a row of cells, (8, n); it fits in 32 bits."""
    out[:] = 0
    for b in range(N_ORIENTATIONS):
        for c in range(len(out)):
            out[c] += np.uint32(cells[b, c]) * np.uint32(cells[b, c])


@njit(cache=True)
def window_cells(pixels, table, cells):
    """Fill the cell sums (3, 8, 4, 4, n) of n windows side by side, from their pixels (26, 26, 3, n)."""
    cells[:] = 0
    for r in range(WINDOW_PX):
        for c in range(WINDOW_PX):
            for channel in range(3):
                for i in range(pixels.shape[3]):
                    g_row = np.int64(pixels[r + 2, c + 1, channel, i]) - np.int64(
                        pixels[r, c + 1, channel, i]
                    )
                    g_col = np.int64(pixels[r + 1, c + 2, channel, i]) - np.int64(
                        pixels[r + 1, c, channel, i]
                    )
                    b, here, beyond = unpack_votes(table[255 + g_row, 255 + g_col])
                    cells[channel, b, r // CELL_PX, c // CELL_PX, i] += here
                    cells[channel, (b + 1) % N_ORIENTATIONS, r // CELL_PX, c // CELL_PX, i] += beyond


@njit(cache=True)
def window_norms(cells, norms):
    """Fill the inverse norms (3, 3, 3, n) of the blocks of n windows from their cells (3, 8, 4, 4, n)."""
    energy = np.empty((N_CELLS, N_CELLS, cells.shape[4]), dtype=np.uint32)
    for channel in range(3):
        for r in range(N_CELLS):
            for c in range(N_CELLS):
                _energies(cells[channel, :, r, c], energy[r, c])
        for r in range(N_BLOCKS):
            for c in range(N_BLOCKS):
                for i in range(cells.shape[4]):
                    norms[channel, r, c, i] = inverse_norm(
                        energy[r, c, i], energy[r, c + 1, i], energy[r + 1, c, i], energy[r + 1, c + 1, i]
                    )
