"""A channel of pixel features of one's own: a pixel against its four neighbours at some distance.

>>> import numpy as np
>>> from annealed.features import WindowPool
>>> from annealed.features.channels.known_channels import register, unregister
>>> register(SURROUND)
>>> pool = WindowPool.from_descriptors(np.array([[20, 1, 10, 12, 3, 0, 0]], dtype=np.uint8))
>>> pool.names()
['green at (10, 12) against its neighbours 3 px away']

A stored window has a margin of one pixel on every side: the window's pixel (10, 12) is entry (11, 13).

>>> patches = np.zeros((1, 26, 26, 3), dtype=np.uint8)
>>> patches[0, 11, 13, 1] = 100
>>> patches[0, 8, 13, 1] = 20
>>> pool.compute(patches)
array([[380.]], dtype=float32)
>>> unregister(SURROUND)
"""

import numpy as np
from numba import njit

from annealed.features.channels.channel import COLOURS, FeatureChannel, Mark
from annealed.features.jit import LEAF
from annealed.features.patches import WINDOW_PX

KIND = 20
DISTANCES_PX = (2, 4)


@njit(**LEAF)
def _fill_windows(pixels, n, memory):
    """Copy the windows without their margin."""
    copy = memory[0]
    for colour in range(3):
        for r in range(WINDOW_PX):
            for c in range(WINDOW_PX):
                for i in range(n):
                    copy[colour, r, c, i] = pixels[r + 1, c + 1, colour, i]


@njit(**LEAF)
def _run(kind, maps, offsets, first, last, start, n, values, stride):
    """Write features first..last-1 for n windows that follow one another."""
    pixels = maps[0]
    for f in range(first, last):
        for i in range(n):
            total = np.float32(4) * pixels[start + offsets[f, 0] + i]
            for neighbour in range(1, 5):
                total -= np.float32(pixels[start + offsets[f, neighbour] + i])
            values[(f - first) * stride + i] = total


@njit(**LEAF)
def _run_at(kind, maps, offsets, f, places, n, values):
    """Write feature f for n windows anywhere."""
    pixels = maps[0]
    for i in range(n):
        total = np.float32(4) * pixels[places[i] + offsets[f, 0]]
        for neighbour in range(1, 5):
            total -= np.float32(pixels[places[i] + offsets[f, neighbour]])
        values[i] = total


class Surround(FeatureChannel):
    """Four times a pixel minus its four neighbours; geometry is row, column, distance, zero and zero."""

    name = "surround"
    kinds = range(KIND, KIND + 1)
    no_maps = (np.empty(0, dtype=np.uint8),)
    fill_windows = staticmethod(_fill_windows)
    run = staticmethod(_run)
    run_at = staticmethod(_run_at)

    def features(self):
        geometry = [
            (r, c, d, 0, 0)
            for d in DISTANCES_PX
            for r in range(d, WINDOW_PX - d, 2)
            for c in range(d, WINDOW_PX - d, 2)
        ]
        return np.full(len(geometry), KIND, np.uint8), np.array(geometry, dtype=np.uint8)

    def is_valid(self, kind, geometry):
        r, c, d, zero, null = geometry.T
        inside = (np.minimum(r, c) >= d) & (np.maximum(r, c) + d < WINDOW_PX)
        return inside & (d > 0) & (zero == 0) & (null == 0)

    def describe(self, kind, colour, geometry):
        r, c, d = geometry[:3]
        return f"{COLOURS[colour]} at ({r}, {c}) against its neighbours {d} px away"

    def draw(self, kind, geometry):
        r, c, d = geometry[:3]
        around = (r - d, c), (r + d, c), (r, c - d), (r, c + d)
        return [Mark(r, c, 1, 1, 4), *(Mark(i, j, 1, 1, -1) for i, j in around)]

    def reads(self, kind, colour, geometry):
        r, c, d, zero, _ = geometry.T
        places = (r, c), (r - d, c), (r + d, c), (r, c - d), (r, c + d)
        return np.stack([np.stack([zero, colour, i, j], axis=1) for i, j in places], axis=1)

    def level_maps(self, padded, n_rows, stride, new):
        pixels = new("surround pixels", (3, n_rows + WINDOW_PX, stride), np.uint8)
        pixels[:] = padded[1:-1, 1:].transpose(2, 0, 1)
        return (pixels.ravel(),)

    def level_steps(self, n_rows, stride):
        return [((n_rows + WINDOW_PX) * stride, stride, 1)]

    def window_memory(self, n):
        return (np.zeros((3, WINDOW_PX, WINDOW_PX, n), dtype=np.uint8),)

    def window_steps(self, n):
        return [(WINDOW_PX**2 * n, WINDOW_PX * n, n)]


SURROUND = Surround()
