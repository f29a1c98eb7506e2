"""Kernels that call those of the channels.

Compiled code takes what belongs to the channels as a tuple with one entry a channel: its tag, and its arrays.
From the types of the tags the compiler knows the channels, and puts the calls of their kernels one after the
other. The functions below are what the interpreter runs without compilation; their overloads, for compiled
callers, treat the first channel and leave the others to themselves.
"""

from typing import Any

from numba import njit
from numba.extending import overload
from numba.np.numpy_support import as_dtype

from ..jit import INNER, LEAF
from .known_channels import channel_of_tag

_LEAF: Any = {"_nrt": LEAF["_nrt"]}


def fill_windows(pixels, n, needs, memory):
    """Make the maps of n stored windows side by side, of the channels that are needed.

    Parameters
    ----------
    pixels : ndarray of shape (26, 26, 3, >= n), uint8
    n : int
    needs : tuple of bool
        One per channel.
    memory : tuple
        One entry a channel, its tag and its memory.
    """
    for needed, (tag, arrays) in zip(needs, memory, strict=True):
        if needed:
            channel_of_tag(tag.dtype).fill_windows(pixels, n, arrays)


@overload(fill_windows)
def _fill_windows(pixels, n, needs, memory):
    if len(memory) == 0:
        return lambda pixels, n, needs, memory: None
    fill = _first_channel(memory).fill_windows

    def compiled(pixels, n, needs, memory):
        if needs[0]:
            fill(pixels, n, memory[0][1])
        fill_windows(pixels, n, needs[1:], memory[1:])

    return compiled


def evaluate_run(kinds, offsets, first, last, read, start, n, values, stride):
    """Write features first..last-1, all of one kind, for n windows that follow one another.

    A call for many features costs hardly more than a call for one, which matters for short rows.

    Parameters
    ----------
    kinds : ndarray of shape (n_features,), uint8
    offsets : ndarray of shape (n_features, 9), int32
        For the layout of the maps.
    first, last : int
    read : tuple
        One entry a channel, its tag and its flat maps.
    start : int
        Entry at which the first window starts, in each map.
    n, stride : int
    values : ndarray, float32
        Output; feature f goes to values[(f - first) * stride] and behind.
    """
    for tag, maps in read:
        channel = channel_of_tag(tag.dtype)
        if kinds[first] in channel.kinds:
            channel.run(kinds[first], maps, offsets, first, last, start, n, values, stride)


@overload(evaluate_run, jit_options=_LEAF)
def _evaluate_run(kinds, offsets, first, last, read, start, n, values, stride):
    if len(read) == 0:
        return lambda kinds, offsets, first, last, read, start, n, values, stride: None
    channel = _first_channel(read)
    run, lowest, highest = channel.run, channel.kinds[0], channel.kinds[-1]

    def compiled(kinds, offsets, first, last, read, start, n, values, stride):
        if lowest <= kinds[first] <= highest:
            run(kinds[first], read[0][1], offsets, first, last, start, n, values, stride)
        else:
            evaluate_run(kinds, offsets, first, last, read[1:], start, n, values, stride)

    return compiled


def evaluate_at(kinds, offsets, f, read, places, n, values):
    """Write the values of one feature for the windows that start at n entries `places` of the maps."""
    for tag, maps in read:
        channel = channel_of_tag(tag.dtype)
        if kinds[f] in channel.kinds:
            channel.run_at(kinds[f], maps, offsets, f, places, n, values)


@overload(evaluate_at, jit_options=_LEAF)
def _evaluate_at(kinds, offsets, f, read, places, n, values):
    if len(read) == 0:
        return lambda kinds, offsets, f, read, places, n, values: None
    channel = _first_channel(read)
    run_at, lowest, highest = channel.run_at, channel.kinds[0], channel.kinds[-1]

    def compiled(kinds, offsets, f, read, places, n, values):
        if lowest <= kinds[f] <= highest:
            run_at(kinds[f], read[0][1], offsets, f, places, n, values)
        else:
            evaluate_at(kinds, offsets, f, read[1:], places, n, values)

    return compiled


@njit(**INNER)
def evaluate(kinds, offsets, f, read, start, n, values):
    """Write the values of one feature for n windows that follow one another: see `evaluate_run`."""
    evaluate_run(kinds, offsets, f, f + 1, read, start, n, values, 0)


def _first_channel(tagged):
    """The channel of the first entry of a type of tuple."""
    return channel_of_tag(as_dtype(tagged[0][0].dtype))
