"""Stored windows, 64 at a time: their maps side by side, and all features of them.

The maps of a chunk stay in the cache of one core while feature after feature is evaluated on them, each
for 64 windows at once. Nothing larger than the wanted output is ever made.
"""

from collections import defaultdict

import numpy as np
from numba import njit

from .channels.dispatch import evaluate_run, fill_windows
from .channels.known_channels import CHANNELS
from .codes import code_of
from .jit import INNER
from .patches import PATCH_PX
from .threads import in_threads

CHUNK = 64
"""Windows handled together in training: their maps stay in the cache of one core."""

TASKS = 16
"""Chunks are shared out to so many tasks, whatever the number of threads."""

RUN = 32
"""Features of one kind that are evaluated together."""


def chunk_layout():
    """Return how far apart planes, rows and columns lie in each map of a chunk, (n_maps, 3) int64."""
    return np.concatenate([channel.window_steps(CHUNK) for channel in CHANNELS])


def compute_windows(patches, needs, kinds, offsets, values, codes, scaling, extremes):
    """Compute features of stored windows, as far as they are wanted: an output without rows is not.

    Parameters
    ----------
    patches : ndarray of shape (n_windows, 26, 26, 3), uint8
    needs : tuple of bool
        Whether any feature belongs to a channel, one per channel.
    kinds : ndarray of shape (n_features,), uint8
    offsets : ndarray of shape (n_features, 9), int32
        For `chunk_layout`.
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

    inputs = (patches, needs, kinds, offsets)
    outputs = (values, codes, *scaling, *extremes)

    def compute(task):
        maps = _take_spare_maps()
        _compute_task(task, *inputs, *outputs, *maps)
        _spare_maps[tuple(CHANNELS)].append(maps)

    # a task writes to its own columns and rows of the outputs
    for _ in in_threads(compute, range(min(TASKS, -(-len(patches) // CHUNK)))):
        pass


_spare_maps: dict = defaultdict(list)  # by channels; fresh memory costs a few windows more than maps do


def _take_spare_maps():
    try:
        return _spare_maps[tuple(CHANNELS)].pop()
    except IndexError:
        return _new_maps()


def _new_maps():
    """Return memory for a chunk: pixels, maps of channels, these as they are read, and values of a run."""
    pixels = np.zeros((PATCH_PX, PATCH_PX, 3, CHUNK), dtype=np.uint8)
    memory = [(channel, channel.window_memory(CHUNK)) for channel in CHANNELS]
    read = [
        channel.tagged(tuple(array.ravel() for array in arrays[: len(channel.no_maps)]))
        for channel, arrays in memory
    ]
    maps = tuple(channel.tagged(arrays) for channel, arrays in memory)
    return pixels, maps, tuple(read), np.empty(RUN * CHUNK, dtype=np.float32)


@njit(cache=True, nogil=True)
def _compute_task(
    task,
    patches,
    needs,
    kinds,
    offsets,
    values,
    codes,
    lo,
    hi,
    scale,
    lowest,
    highest,
    pixels,
    memory,
    read,
    block,
):
    """Compute the wanted outputs for the chunks task, task + TASKS, ..."""
    for start in range(task * CHUNK, len(patches), TASKS * CHUNK):
        n = min(CHUNK, len(patches) - start)
        _copy_pixels(patches, start, n, pixels)
        fill_windows(pixels, n, needs, memory)
        _evaluate_chunk(
            kinds, offsets, read, start, n, values, codes, lo, hi, scale, lowest, highest, task, block
        )


@njit(**INNER)
def _evaluate_chunk(
    kinds, offsets, read, start, n, values, codes, lo, hi, scale, lowest, highest, task, block
):
    """Compute the wanted outputs for windows start..start+n-1 from their maps."""
    first = np.intp(0)  # a literal would be compiled apart
    while first < len(kinds):
        last = _end_of_run(kinds, first)
        evaluate_run(kinds, offsets, first, last, read, 0, n, block, CHUNK)
        if len(values):
            _copy_run(block, first, last, n, values, start)
        if len(codes):
            _quantise_run(block, lo, hi, scale, first, last, n, codes, start)
        if len(lowest):
            _widen_run(block, first, last, n, lowest[task], highest[task])
        first = last


@njit(**INNER)
def _copy_pixels(patches, start, n, pixels):
    """Put windows start..start+n-1 side by side; the rest of the chunk keeps what it had."""
    for i in range(n):
        for r in range(PATCH_PX):
            for c in range(PATCH_PX):
                for colour in range(3):
                    pixels[r, c, colour, i] = patches[start + i, r, c, colour]


@njit(**INNER)
def _end_of_run(kinds, first):
    """Return the end of the features from `first` on that `evaluate_run` takes in one call."""
    last = first + 1
    while last < min(first + RUN, len(kinds)) and kinds[last] == kinds[first]:
        last += 1
    return last


@njit(**INNER)
def _copy_run(values, first, last, n, out, start):
    """Copy a run of features to out[first:last, start : start + n]."""
    start = np.uintp(start)
    for f in range(first, last):
        row, place = np.uintp(f), np.uintp((f - first) * CHUNK)
        for k in range(n):
            i = np.uintp(k)
            out[row, start + i] = values[place + i]


@njit(**INNER)
def _quantise_run(values, lo, hi, scale, first, last, n, out, start):
    """Write the codes of a run of features to out[first:last, start : start + n]."""
    start = np.uintp(start)
    for f in range(first, last):
        low, high, factor = lo[f], hi[f], scale[f]
        row, place = np.uintp(f), np.uintp((f - first) * CHUNK)
        for k in range(n):
            i = np.uintp(k)
            out[row, start + i] = code_of(values[place + i], low, high, factor)


@njit(**INNER)
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


@njit(**INNER)
def _ordered(bits):
    return np.int32(bits ^ ((bits >> 31) & 0x7FFFFFFF))


def from_ordered(integers):
    """Return the float32 numbers of integers in the same order."""
    return (integers ^ ((integers >> 31) & 0x7FFFFFFF)).view(np.float32)
