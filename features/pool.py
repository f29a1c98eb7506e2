"""The pool of pixel features: which features there are, and their values on windows.

A pool is an array of descriptors, seven small integers a feature: its kind, its colour (0 red, 1 green,
2 blue) and five that describe its geometry. The kind tells the channel, which knows what they mean:

    kind 0, HOG      block row  block col  cell row  cell col  orientation    (channels/hog.py)
    kind 1-5, Haar   row        col        height    width     0              (channels/haar.py)

The same array serves in training, in scanning and in the model file.
"""

from functools import cached_property

import numpy as np
from numba import njit

from .channels.channel import COLOURS, MOST_READS, N_GEOMETRY
from .channels.known_channels import CHANNELS, channel_of_kind
from .chunks import TASKS, chunk_layout, compute_windows, from_ordered
from .codes import code_scale, quantise
from .errors import DataError
from .jit import LEAF
from .maps import LevelMaps
from .patches import (
    MARGIN_PX,
    PATCH_PX,
    WINDOW_PX,
    check_patches,
    cut_turned_windows,
    cut_windows,
)

__all__ = [
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

N_COLUMNS = 2 + N_GEOMETRY

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
    (61803, 'red edges at 79 degrees in the top far left cell, beside those below and right')
    >>> pool[[0, -1]].compute(np.zeros((5, 26, 26, 3), np.uint8)).shape
    (2, 5)
    """

    def __init__(self, descriptors):
        self.descriptors = descriptors

    @classmethod
    def default(cls):
        """Return the pool of all channels' features, of each of three colours.

        It is the paper's: 864 HOG features and 60,939 Haar features.
        """
        parts = []
        for channel in CHANNELS:
            kind, geometry = channel.features()
            for colour in range(len(COLOURS)):
                columns = kind[:, None], np.full((len(kind), 1), colour), geometry
                parts.append(np.concatenate(columns, axis=1).astype(np.uint8))
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
        return [
            channel_of_kind(kind).describe(kind, colour, geometry)
            for kind, colour, *geometry in self.descriptors.tolist()
        ]

    def channel(self, index):
        """Return the channel that a feature belongs to."""
        return channel_of_kind(self.descriptors[index, 0])

    def draw(self, index):
        """Return what a feature looks at, for drawing: a list of `Mark`."""
        kind, _, *geometry = self.descriptors[index].tolist()
        return channel_of_kind(kind).draw(kind, geometry)

    def belongs_to(self, channel):
        """Return which features belong to a channel, bool of shape (n_features,)."""
        return np.isin(self.descriptors[:, 0], channel.kinds)

    @property
    def kinds(self):
        """Kind of each feature, uint8 of shape (n_features,)."""
        return np.ascontiguousarray(self.descriptors[:, 0])

    @property
    def channels(self):
        """The channels that any feature belongs to."""
        return [channel for channel in CHANNELS if self.belongs_to(channel).any()]

    def offsets(self, layout):
        """Return where features read in maps of a layout, int32 of shape (n_features, 9)."""
        offsets = np.zeros((len(self), MOST_READS), dtype=np.int32)
        _fill_offsets(self._reads, layout, offsets)
        return offsets

    @cached_property
    def _reads(self):
        """Which entries features read, whatever the layout: map, plane, row and column, (n, 9, 4) int16."""
        reads = np.zeros((len(self), MOST_READS, 4), dtype=np.int16)
        first_map = 0
        for channel in CHANNELS:
            chosen = np.flatnonzero(self.belongs_to(channel))
            kind, colour, *geometry = self.descriptors[chosen].astype(np.int64).T
            entries = channel.reads(kind, colour, np.stack(geometry, axis=1))
            entries[:, :, 0] += first_map
            reads[chosen, : entries.shape[1]] = entries
            first_map += len(channel.no_maps)
        return reads

    def _run(self, patches, values=_NO_VALUES, codes=_NO_CODES, scaling=_NO_SCALING, extremes=_NO_EXTREMES):
        """Compute the outputs that are given; see `compute_windows`."""
        needs, kinds, offsets = self._chunk_inputs
        compute_windows(patches, needs, kinds, offsets, values, codes, scaling, extremes)

    @cached_property
    def _chunk_inputs(self):
        """What `compute_windows` has to know of the features; few windows cost no more than themselves."""
        channels = self.channels
        return tuple(c in channels for c in CHANNELS), self.kinds, self.offsets(chunk_layout())

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


def _is_valid(descriptors):
    """Return which descriptors, int64 of shape (n, 7), name a feature inside the window."""
    kind, colour, geometry = descriptors[:, 0], descriptors[:, 1], descriptors[:, 2:]
    valid = np.zeros(len(descriptors), dtype=bool)
    for channel in CHANNELS:
        chosen = np.flatnonzero(np.isin(kind, channel.kinds))
        valid[chosen] = channel.is_valid(kind[chosen], geometry[chosen])
    return valid & (colour < len(COLOURS))


@njit(**LEAF, nogil=True)
def _fill_offsets(reads, layout, out):
    """Write where features read in maps of a layout: see `WindowPool._reads`, and `LevelMaps.layout`."""
    for f in range(reads.shape[0]):
        for i in range(reads.shape[1]):
            number, plane, row, col = reads[f, i, 0], reads[f, i, 1], reads[f, i, 2], reads[f, i, 3]
            out[f, i] = plane * layout[number, 0] + row * layout[number, 1] + col * layout[number, 2]


def _output(out, shape, dtype):
    """Return the caller's output after checking it, or a new one."""
    if out is None:
        return np.empty(shape, dtype=dtype)
    if out.shape != shape or out.dtype != dtype:
        raise DataError(
            f"out has shape {out.shape} and dtype {out.dtype}; it must be {shape} and {dtype.__name__}"
        )
    return out
