"""What a family of pixel features says of itself: a channel, all of it in one file.

A channel makes maps of the pixels, and each of its features is computed from a few entries of them: a handful
of offsets from the window's first entry in flat arrays. Two arrangements of the maps hold the same numbers:
at every position of a pyramid level (maps.py), where a window's right neighbour is one entry further, and for
stored windows side by side (chunks.py), where the next window is one entry further. So one kernel computes a
feature for many windows in a row, in either.

A channel of your own is a class like `hog.HogChannel`, and one call of `registry.register`.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from sys import modules
from typing import Any, NamedTuple

import numpy as np

MOST_READS = 9
"""Most entries of maps that a feature may read."""

N_GEOMETRY = 5
"""Numbers that a feature's geometry has; a channel that needs fewer leaves the last ones at zero."""

COLOURS = "red", "green", "blue"


class Mark(NamedTuple):
    """A rectangle of the window, for drawing what a feature looks at."""

    row: int
    col: int
    height: int
    width: int
    weight: float  # 0 where the feature only compares with it
    angle: float | None = None  # of an edge that the feature looks for, radians, clockwise from the x axis


class FeatureChannel(ABC):
    """A family of pixel features.

    A feature is a kind, a colour (0 red, 1 green, 2 blue) and five small integers, its geometry. Arrays of
    them are `kind` and `colour` of shape (n,) and `geometry` of shape (n, 5), all int64.

    Attributes
    ----------
    name : str
    kinds : range
        Kinds of feature, 0..255, which no other channel has.
    no_maps : tuple of ndarray
        The maps that features read, empty, with their types.
    fill_windows : compiled function
        ``fill_windows(pixels, n, memory)`` makes the maps of n stored windows side by side, from pixels of
        shape (26, 26, 3, >= n), in what `window_memory` returned.
    run : compiled function
        ``run(kind, maps, offsets, first, last, start, n, values, stride)`` writes features first..last-1, all
        of one kind, for n windows that follow one another, the first of which starts at entry `start` of the
        flat maps. Feature f goes to values[(f - first) * stride] and behind.
    run_at : compiled function
        ``run_at(kind, maps, offsets, f, places, n, values)`` writes feature f of the n windows that start at
        the entries `places`.
    """

    name: str
    kinds: range
    no_maps: tuple[np.ndarray, ...]
    fill_windows: Callable
    run: Callable
    run_at: Callable

    @abstractmethod
    def features(self) -> tuple[np.ndarray, np.ndarray]:
        """Return kind (n,) and geometry (n, 5) of the default pool's features, uint8, for one colour."""

    @abstractmethod
    def is_valid(self, kind: np.ndarray, geometry: np.ndarray) -> np.ndarray:
        """Return which features lie inside the window, bool of shape (n,)."""

    @abstractmethod
    def describe(self, kind: int, colour: int, geometry: list[int]) -> str:
        """Return a readable name of one feature."""

    @abstractmethod
    def draw(self, kind: int, geometry: list[int]) -> list[Mark]:
        """Return what one feature looks at."""

    @abstractmethod
    def reads(self, kind: np.ndarray, colour: np.ndarray, geometry: np.ndarray) -> np.ndarray:
        """Return the entries that features read, (n, at most 9, 4): number of the map, plane, row, column."""

    @abstractmethod
    def level_maps(
        self, padded: np.ndarray, n_rows: int, stride: int, new: Callable[..., np.ndarray]
    ) -> tuple[np.ndarray, ...]:
        """Return the flat maps of a level, or of a band of its rows.

        Parameters
        ----------
        padded : ndarray of shape (n_rows + 26, W + 26, 3), uint8
            Its pixels and 13 more on every side.
        n_rows : int
            Rows of windows.
        stride : int
            W + 25: entries that a row of every map has.
        new : callable
            ``new(name, shape, dtype)`` returns memory, with anything in it.
        """

    @abstractmethod
    def level_steps(self, n_rows: int, stride: int) -> list[tuple[int, int, int]]:
        """Return how far apart neighbouring planes, rows and columns lie in each map of a level."""

    @abstractmethod
    def window_memory(self, n: int) -> tuple[np.ndarray, ...]:
        """Return memory for the maps of n windows side by side: first those of `no_maps`, then any other."""

    @abstractmethod
    def window_steps(self, n: int) -> list[tuple[int, int, int]]:
        """Return how far apart planes, rows and columns lie in each map of n windows side by side."""

    @cached_property
    def tag(self) -> np.ndarray:
        """An array without entries whose type names the channel and its source.

        Kernels are compiled for types: a tag beside the maps tells the compiler which channel they belong to
        (dispatch.py), and a channel whose file has changed from the one that compiled code is kept of.
        """
        file = getattr(modules[type(self).__module__], "__file__", None)
        source = Path(file).read_bytes() if file and Path(file).is_file() else b""
        name = f"{self.name} {hashlib.sha256(source).hexdigest()[:8]}"
        return np.empty(0, dtype=np.dtype([(name, np.uint8)]))

    def tagged(self, arrays: tuple[np.ndarray, ...]) -> tuple[Any, ...]:
        """Return arrays of this channel as kernels take them."""
        return self.tag, arrays
