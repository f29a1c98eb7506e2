"""Stored windows, 64 at a time: their maps side by side, and all features of them.

The maps of a chunk stay in the cache of one core while feature after feature is evaluated on them, each
for 64 windows at once. Nothing larger than the wanted output is ever made.
"""

import numpy as np
from numba import njit

from .channels.hog import N_BLOCKS, N_CELLS, N_ORIENTATIONS, vote_table, window_cells, window_norms
from .codes import code_of
from .integral import window_integrals
from .jit import LEAF
from .maps import Layout, evaluate_run
from .patches import PATCH_PX, WINDOW_PX
from .threads import in_threads

CHUNK = 64
"""Windows handled together in training: their maps stay in the cache of one core."""

TASKS = 16
"""Chunks are shared out to so many tasks, whatever the number of threads."""

RUN = 32
"""Features of one kind that are evaluated together."""

CHUNK_LAYOUT = Layout(
    integral=((WINDOW_PX + 1) ** 2 * CHUNK, (WINDOW_PX + 1) * CHUNK, CHUNK),
    cells=(N_ORIENTATIONS * N_CELLS**2 * CHUNK, N_CELLS**2 * CHUNK, N_CELLS * CHUNK, CHUNK),
    norms=(N_BLOCKS**2 * CHUNK, N_BLOCKS * CHUNK, CHUNK),
)


def compute_windows(patches, needs, kinds, offsets, values, codes, scaling, extremes):
    """Compute features of stored windows, as far as they are wanted: an output without rows is not.

    Parameters
    ----------
    patches : ndarray of shape (n_windows, 26, 26, 3), uint8
    needs : tuple of two bool
        Whether any feature is HOG, whether any is Haar.
    kinds : ndarray of shape (n_features,), uint8
    offsets : ndarray of shape (n_features, 9), int32
        For `CHUNK_LAYOUT`.
    values : ndarray of shape (n_features or 0, n_windows), float32
        Output.
    codes : ndarray of shape (n_features or 0, n_windows), uint8
        Output, by way of `scaling`.
    scaling : tuple of three ndarray of shape (n_features,), float32
        As `codes.code_scale` returns them.
    extremes : tuple of two ndarray of shape (TASKS or 0, n_features), int32
        Output: smallest and largest value in each task, as integers in the order of the values. On entry
        the former hold the largest integer and the latter the smallest.
    """

    inputs = (patches, vote_table(), *needs, kinds, offsets)
    outputs = (values, codes, *scaling, *extremes)

    def compute(task):
        _compute_task(task, *inputs, *outputs, _new_maps(), np.empty(RUN * CHUNK, dtype=np.float32))

    # a task writes to its own columns and rows of the outputs
    for _ in in_threads(compute, range(min(TASKS, -(-len(patches) // CHUNK)))):
        pass


def _new_maps():
    """Return memory for the maps of a chunk: pixels, integral images, cells, energies and norms."""
    return (
        np.zeros((PATCH_PX, PATCH_PX, 3, CHUNK), dtype=np.uint8),
        np.zeros((3, WINDOW_PX + 1, WINDOW_PX + 1, CHUNK), dtype=np.int32),
        np.zeros((3, N_ORIENTATIONS, N_CELLS**2, CHUNK), dtype=np.uint16),
        np.zeros((3, N_CELLS**2, CHUNK), dtype=np.uint32),
        np.zeros((3, N_BLOCKS**2, CHUNK), dtype=np.float32),
    )


@njit(cache=True, nogil=True)
def _compute_task(
    task,
    patches,
    table,
    needs_hog,
    needs_haar,
    kinds,
    offsets,
    values,
    codes,
    lo,
    hi,
    scale,
    lowest,
    highest,
    memory,
    block,
):
    """Compute the wanted outputs for the chunks task, task + TASKS, ..."""
    for start in range(task * CHUNK, len(patches), TASKS * CHUNK):
        n = min(CHUNK, len(patches) - start)
        integral, cells, norms = _fill_maps(memory, patches, start, n, table, needs_hog, needs_haar)
        first = 0
        while first < len(kinds):
            last = _end_of_run(kinds, first)
            evaluate_run(kinds, offsets, first, last, integral, cells, norms, 0, n, block, CHUNK)
            if len(values):
                _copy_run(block, first, last, n, values, start)
            if len(codes):
                _quantise_run(block, lo, hi, scale, first, last, n, codes, start)
            if len(lowest):
                _widen_run(block, first, last, n, lowest[task], highest[task])
            first = last


@njit(cache=True)
def _fill_maps(memory, patches, start, n, table, needs_hog, needs_haar):
    """Make the maps of windows start..start+n-1, side by side; return them flat.

    Entries of the other windows of the chunk keep what they had.

    Returns
    -------
    integral, cells, norms : ndarray
        Views into `memory`, laid out by `CHUNK_LAYOUT`.
    """
    pixels, integral, cells, energy, norms = memory
    for i in range(n):
        for r in range(PATCH_PX):
            for c in range(PATCH_PX):
                for channel in range(3):
                    pixels[r, c, channel, i] = patches[start + i, r, c, channel]
    if needs_haar:
        window_integrals(pixels, n, integral)
    if needs_hog:
        window_cells(pixels, n, table, cells, energy)
        window_norms(energy, n, norms)
    return integral.ravel(), cells.ravel(), norms.ravel()


@njit(**LEAF)
def _end_of_run(kinds, first):
    """Return the end of the features from `first` on that `evaluate_run` takes in one call."""
    last = first + 1
    while last < min(first + RUN, len(kinds)) and kinds[last] == kinds[first]:
        last += 1
    return last


@njit(**LEAF)
def _copy_run(values, first, last, n, out, start):
    """Copy a run of features to out[first:last, start : start + n]."""
    start = np.uintp(start)
    for f in range(first, last):
        row, place = np.uintp(f), np.uintp((f - first) * CHUNK)
        for k in range(n):
            i = np.uintp(k)
            out[row, start + i] = values[place + i]


@njit(**LEAF)
def _quantise_run(values, lo, hi, scale, first, last, n, out, start):
    """Write the codes of a run of features to out[first:last, start : start + n]."""
    start = np.uintp(start)
    for f in range(first, last):
        low, high, factor = lo[f], hi[f], scale[f]
        row, place = np.uintp(f), np.uintp((f - first) * CHUNK)
        for k in range(n):
            i = np.uintp(k)
            out[row, start + i] = code_of(values[place + i], low, high, factor)


@njit(**LEAF)
def _widen_run(values, first, last, n, lo, hi):
    """Lower lo and raise hi of a run of features to its values."""
    bits = values.view(np.int32)
    for f in range(first, last):
        low, high = lo[f], hi[f]
        place = np.uintp((f - first) * CHUNK)
        for i in range(n):
            value = _ordered(bits[place + np.uintp(i)])
            low, high = min(low, value), max(high, value)
        lo[f], hi[f] = low, high


# Minima of integers are vectorised by the compiler, those of floats are not because of NaN. So float32
# numbers are compared as integers in the same order: their bits, with all but the sign turned over where
# that is set. Doing it again gives the bits back.


@njit(**LEAF)
def _ordered(bits):
    return np.int32(bits ^ ((bits >> 31) & 0x7FFFFFFF))


def from_ordered(integers):
    """Return the float32 numbers of integers in the same order."""
    return (integers ^ ((integers >> 31) & 0x7FFFFFFF)).view(np.float32)
