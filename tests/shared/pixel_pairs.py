"""A third channel of pixel features, all of it in one file: differences of two pixels of the window."""

import numpy as np
from numba import njit

from annealed.features.channels.channel import COLOURS, FeatureChannel, Mark
from annealed.features.jit import LEAF
from annealed.features.patches import BEFORE_PX, WINDOW_PX


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
    pixels = maps[0]
    for f in range(first, last):
        one, other = start + offsets[f, 0], start + offsets[f, 1]
        for i in range(n):
            values[(f - first) * stride + i] = np.float32(pixels[one + i]) - np.float32(pixels[other + i])


@njit(**LEAF)
def _run_at(kind, maps, offsets, f, places, n, values):
    pixels = maps[0]
    for i in range(n):
        one, other = places[i] + offsets[f, 0], places[i] + offsets[f, 1]
        values[i] = np.float32(pixels[one]) - np.float32(pixels[other])


class PixelPairs(FeatureChannel):
    """Differences of two pixels; geometry is row and column of one and of the other, and zero."""

    name = "pixel pairs"
    kinds = range(6, 7)
    no_maps = (np.empty(0, dtype=np.uint8),)
    fill_windows = staticmethod(_fill_windows)
    run = staticmethod(_run)
    run_at = staticmethod(_run_at)

    def features(self):
        places = range(1, WINDOW_PX, 3)
        middle = BEFORE_PX
        geometry = [(r, c, middle, middle, 0) for r in places for c in places]
        return np.full(len(geometry), self.kinds[0], np.uint8), np.array(geometry, dtype=np.uint8)

    def is_valid(self, kind, geometry):
        return (geometry[:, :4] < WINDOW_PX).all(axis=1) & (geometry[:, 4] == 0)

    def describe(self, kind, colour, geometry):
        r0, c0, r1, c1, _ = geometry
        return f"{COLOURS[colour]} at ({r0}, {c0}) minus ({r1}, {c1})"

    def draw(self, kind, geometry):
        r0, c0, r1, c1, _ = geometry
        return [Mark(r0, c0, 1, 1, 1), Mark(r1, c1, 1, 1, -1)]

    def reads(self, kind, colour, geometry):
        r0, c0, r1, c1, unused = geometry.T
        pairs = [np.stack([unused, colour, r, c], axis=1) for r, c in ((r0, c0), (r1, c1))]
        return np.stack(pairs, axis=1)

    def level_maps(self, padded, n_rows, stride, new):
        pixels = new("pixels", (3, n_rows + WINDOW_PX, stride), np.uint8)
        pixels[:] = padded[1:-1, 1:].transpose(2, 0, 1)
        return (pixels.ravel(),)

    def level_steps(self, n_rows, stride):
        return [((n_rows + WINDOW_PX) * stride, stride, 1)]

    def window_memory(self, n):
        return (np.zeros((3, WINDOW_PX, WINDOW_PX, n), dtype=np.uint8),)

    def window_steps(self, n):
        return [(WINDOW_PX**2 * n, WINDOW_PX * n, n)]
