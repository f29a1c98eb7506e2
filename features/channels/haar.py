"""Haar-like features: differences of sums over two, three or four equal rectangles (section 3.3).

Sums come from an integral image I, so a feature reads six to nine of its entries whatever its size.
Rectangles of one feature touch, so they share corners. With D_j the sum of the strip left of (or above)
the j-th of the lines across which the rectangles follow one another,

    two     A - B         = 2 D_1 - D_0 - D_2
    three   A - 2 B + C   = 3 D_1 - D_0 - 3 D_2 + D_3
    four    A - B - C + D = the "two" of the upper pair minus that of the lower pair

The middle one of three rectangles counts twice, so every feature of a constant window is zero.
"""

import numpy as np
from numba import njit

from ..integral import fill_integral, window_integrals
from ..jit import INNER
from ..patches import MARGIN_PX, WINDOW_PX
from .channel import COLOURS, FeatureChannel, Mark

TWO_ACROSS, TWO_DOWN, THREE_ACROSS, THREE_DOWN, FOUR = 1, 2, 3, 4, 5
"""Kinds of feature, by number and arrangement of the rectangles; kind 0 is HOG. Kernels rely on the order."""

GRID = {TWO_ACROSS: (1, 2), TWO_DOWN: (2, 1), THREE_ACROSS: (1, 3), THREE_DOWN: (3, 1), FOUR: (2, 2)}
"""Rows and columns of rectangles of each kind."""

_COMPARED = {
    (1, 2): "left against right",
    (2, 1): "above against below",
    (1, 3): "left and right against the middle",
    (3, 1): "above and below against the middle",
    (2, 2): "one diagonal against the other",
}

WEIGHTS = {
    TWO_ACROSS: ((1, -1),),
    TWO_DOWN: ((1,), (-1,)),
    THREE_ACROSS: ((1, -2, 1),),
    THREE_DOWN: ((1,), (-2,), (1,)),
    FOUR: ((1, -1), (-1, 1)),
}
"""Weight of each rectangle, in the same arrangement."""

N_CORNERS = 9
"""Most entries of the integral image that a feature reads."""

_SIDES_PX = (2, 3, 4, 6, 8, 12, 16, 24)
_MIN_AREA_PX = 8
_MAX_ELONGATION = 4
_FINE_BELOW_PX = 6


def haar_geometry():
    """List the rectangles of the default pool, for one colour.

    Rectangles have sides of 2, 3, 4, 6, 8, 12, 16 or 24 pixels and at least 8 pixels of area; the whole
    feature is at most four times as long as wide. They start at every pixel along a side shorter than 6
    pixels and at every second pixel along a longer one, for as long as the feature fits in the window.

    Returns
    -------
    ndarray of shape (20313, 5), uint8
        Kind, row, column, height and width of the first rectangle, in pixels of the window.
    """
    sides = [(h, w) for h in _SIDES_PX for w in _SIDES_PX if h * w >= _MIN_AREA_PX]
    found = []
    for kind, (down, across) in GRID.items():
        for h, w in sides:
            height, width = down * h, across * w
            if max(height, width) > _MAX_ELONGATION * min(height, width):
                continue
            rows = range(0, WINDOW_PX - height + 1, _step_px(h))
            cols = range(0, WINDOW_PX - width + 1, _step_px(w))
            found += [(kind, row, col, h, w) for row in rows for col in cols]
    return np.array(found, dtype=np.uint8)


def _step_px(side):
    return 1 if side < _FINE_BELOW_PX else 2


def haar_corners(kind, row, col, height, width):
    """Return the integral-image points that features read, in the order that the kernels expect.

    Parameters
    ----------
    kind, row, col, height, width : ndarray of shape (n,), int
        As in `haar_geometry`.

    Returns
    -------
    rows, cols : ndarray of shape (n, 9), int64
        Unused places are zero. "Two" and "three" list the corners of one long side of the feature, then
        those of the other; "four" lists three rows of three.
    """
    rows = np.zeros((len(kind), N_CORNERS), dtype=np.int64)
    cols = np.zeros_like(rows)
    for this, (down, across) in GRID.items():
        chosen = np.flatnonzero(kind == this)
        i, j = np.mgrid[: down + 1, : across + 1]
        if down > across:
            i, j = i.T, j.T
        n = i.size
        rows[chosen, :n] = row[chosen, None] + height[chosen, None] * i.ravel()
        cols[chosen, :n] = col[chosen, None] + width[chosen, None] * j.ravel()
    return rows, cols


# A feature's value from the entries that it reads. Sums are 32 bits wide and may wrap; a value is below
# 2**18, so it is exact all the same (see integral.py).


@njit(**INNER)
def _two(integral, a0, a1, a2, b0, b1, b2):
    """Return A - B."""
    middle = integral[b1] - integral[a1]
    ends = integral[b0] - integral[a0] + integral[b2] - integral[a2]
    return np.float32(np.int32(2 * middle - ends))


@njit(**INNER)
def _three(integral, a0, a1, a2, a3, b0, b1, b2, b3):
    """Return A - 2 B + C."""
    inner = integral[b1] - integral[a1] - integral[b2] + integral[a2]
    outer = integral[b0] - integral[a0] - integral[b3] + integral[a3]
    return np.float32(np.int32(3 * inner - outer))


@njit(**INNER)
def _four(integral, a0, a1, a2, b0, b1, b2, c0, c1, c2):
    """Return A - B - C + D."""
    corners = integral[a0] + integral[a2] + integral[c0] + integral[c2]
    edges = integral[a1] + integral[b0] + integral[b2] + integral[c1]
    return np.float32(np.int32(4 * integral[b1] - 2 * edges + corners))


# The values of features first..last-1 in n places that follow one another, the first place being entry
# `start` of the flat integral image. Feature f goes to values[(f - first) * stride] and behind. Unsigned
# indices tell the compiler that none counts from the end, without which the loops are not vectorised.


@njit(**INNER)
def two(integral, offsets, first, last, start, n, values, stride):
    """Write features of two rectangles."""
    for f in range(first, last):
        a0, a1, a2 = (
            np.uintp(start + offsets[f, 0]),
            np.uintp(start + offsets[f, 1]),
            np.uintp(start + offsets[f, 2]),
        )
        b0, b1, b2 = (
            np.uintp(start + offsets[f, 3]),
            np.uintp(start + offsets[f, 4]),
            np.uintp(start + offsets[f, 5]),
        )
        at = np.uintp((f - first) * stride)
        for k in range(n):
            i = np.uintp(k)
            values[at + i] = _two(integral, a0 + i, a1 + i, a2 + i, b0 + i, b1 + i, b2 + i)


@njit(**INNER)
def three(integral, offsets, first, last, start, n, values, stride):
    """Write features of three rectangles."""
    for f in range(first, last):
        a0, a1 = np.uintp(start + offsets[f, 0]), np.uintp(start + offsets[f, 1])
        a2, a3 = np.uintp(start + offsets[f, 2]), np.uintp(start + offsets[f, 3])
        b0, b1 = np.uintp(start + offsets[f, 4]), np.uintp(start + offsets[f, 5])
        b2, b3 = np.uintp(start + offsets[f, 6]), np.uintp(start + offsets[f, 7])
        at = np.uintp((f - first) * stride)
        for k in range(n):
            i = np.uintp(k)
            values[at + i] = _three(integral, a0 + i, a1 + i, a2 + i, a3 + i, b0 + i, b1 + i, b2 + i, b3 + i)


@njit(**INNER)
def four(integral, offsets, first, last, start, n, values, stride):
    """Write features of four rectangles."""
    for f in range(first, last):
        a0, a1, a2 = (
            np.uintp(start + offsets[f, 0]),
            np.uintp(start + offsets[f, 1]),
            np.uintp(start + offsets[f, 2]),
        )
        b0, b1, b2 = (
            np.uintp(start + offsets[f, 3]),
            np.uintp(start + offsets[f, 4]),
            np.uintp(start + offsets[f, 5]),
        )
        c0, c1, c2 = (
            np.uintp(start + offsets[f, 6]),
            np.uintp(start + offsets[f, 7]),
            np.uintp(start + offsets[f, 8]),
        )
        at = np.uintp((f - first) * stride)
        for k in range(n):
            i = np.uintp(k)
            values[at + i] = _four(
                integral, a0 + i, a1 + i, a2 + i, b0 + i, b1 + i, b2 + i, c0 + i, c1 + i, c2 + i
            )


# The same of one feature in n places anywhere.


@njit(**INNER)
def two_at(integral, offsets, f, places, n, values):
    """Write a feature of two rectangles."""
    a0, a1, a2 = offsets[f, 0], offsets[f, 1], offsets[f, 2]
    b0, b1, b2 = offsets[f, 3], offsets[f, 4], offsets[f, 5]
    for k in range(n):
        i = np.uintp(k)
        p = places[i]
        values[i] = _two(
            integral,
            np.uintp(p + a0), np.uintp(p + a1), np.uintp(p + a2),
            np.uintp(p + b0), np.uintp(p + b1), np.uintp(p + b2),
        )  # fmt: skip


@njit(**INNER)
def three_at(integral, offsets, f, places, n, values):
    """Write a feature of three rectangles."""
    a0, a1, a2, a3 = offsets[f, 0], offsets[f, 1], offsets[f, 2], offsets[f, 3]
    b0, b1, b2, b3 = offsets[f, 4], offsets[f, 5], offsets[f, 6], offsets[f, 7]
    for k in range(n):
        i = np.uintp(k)
        p = places[i]
        values[i] = _three(
            integral,
            np.uintp(p + a0), np.uintp(p + a1), np.uintp(p + a2), np.uintp(p + a3),
            np.uintp(p + b0), np.uintp(p + b1), np.uintp(p + b2), np.uintp(p + b3),
        )  # fmt: skip


@njit(**INNER)
def four_at(integral, offsets, f, places, n, values):
    """Write a feature of four rectangles."""
    a0, a1, a2 = offsets[f, 0], offsets[f, 1], offsets[f, 2]
    b0, b1, b2 = offsets[f, 3], offsets[f, 4], offsets[f, 5]
    c0, c1, c2 = offsets[f, 6], offsets[f, 7], offsets[f, 8]
    for k in range(n):
        i = np.uintp(k)
        p = places[i]
        values[i] = _four(
            integral,
            np.uintp(p + a0), np.uintp(p + a1), np.uintp(p + a2),
            np.uintp(p + b0), np.uintp(p + b1), np.uintp(p + b2),
            np.uintp(p + c0), np.uintp(p + c1), np.uintp(p + c2),
        )  # fmt: skip


@njit(**INNER)
def _run(kind, maps, offsets, first, last, start, n, values, stride):
    """See `FeatureChannel.run`."""
    integral = maps[0]
    if kind <= TWO_DOWN:
        two(integral, offsets, first, last, start, n, values, stride)
    elif kind <= THREE_DOWN:
        three(integral, offsets, first, last, start, n, values, stride)
    else:
        four(integral, offsets, first, last, start, n, values, stride)


@njit(**INNER)
def _run_at(kind, maps, offsets, f, places, n, values):
    """See `FeatureChannel.run_at`."""
    integral = maps[0]
    if kind <= TWO_DOWN:
        two_at(integral, offsets, f, places, n, values)
    elif kind <= THREE_DOWN:
        three_at(integral, offsets, f, places, n, values)
    else:
        four_at(integral, offsets, f, places, n, values)


@njit(cache=True)
def _fill_windows(pixels, n, memory):
    """See `FeatureChannel.fill_windows`."""
    window_integrals(pixels, n, memory[0])


class HaarChannel(FeatureChannel):
    """Differences of sums over rectangles.

    A feature's geometry is row, column, height and width of its first rectangle, in pixels of the window, and
    zero. It reads the integral image at the corners of its rectangles.
    """

    name = "Haar"
    kinds = range(TWO_ACROSS, FOUR + 1)
    no_maps = (np.empty(0, dtype=np.int32),)
    fill_windows = staticmethod(_fill_windows)
    run = staticmethod(_run)
    run_at = staticmethod(_run_at)

    def features(self):
        kind, *geometry = haar_geometry().T
        return kind, np.stack([*geometry, np.zeros_like(kind)], axis=1)

    def is_valid(self, kind, geometry):
        row, col, height, width, unused = geometry.T
        down, across = np.array([GRID[each] for each in self.kinds]).T
        i = kind - self.kinds[0]
        inside = (row + down[i] * height <= WINDOW_PX) & (col + across[i] * width <= WINDOW_PX)
        return inside & (height > 0) & (width > 0) & (unused == 0)

    def describe(self, kind, colour, geometry):
        row, col, height, width, _ = geometry
        compared = f"{COLOURS[colour]}, {_COMPARED[GRID[kind]]}"
        return f"{compared}: each {width} px wide and {height} px high, from row {row}, column {col}"

    def draw(self, kind, geometry):
        row, col, height, width, _ = geometry
        return [
            Mark(row + i * height, col + j * width, height, width, weight)
            for i, line in enumerate(WEIGHTS[kind])
            for j, weight in enumerate(line)
        ]

    def reads(self, kind, colour, geometry):
        rows, cols = haar_corners(kind, *geometry[:, :4].T)
        planes = np.broadcast_to(colour[:, None], rows.shape)
        return np.stack([np.zeros_like(rows), planes, rows, cols], axis=2)

    def level_maps(self, padded, n_rows, stride, new):
        integral = new("integral", (3, n_rows + WINDOW_PX + 1, stride), np.int32)
        fill_integral(padded[MARGIN_PX:-MARGIN_PX, MARGIN_PX:-MARGIN_PX], integral)
        return (integral.ravel(),)

    def level_steps(self, n_rows, stride):
        return [((n_rows + WINDOW_PX + 1) * stride, stride, 1)]

    def window_memory(self, n):
        return (np.zeros((3, WINDOW_PX + 1, WINDOW_PX + 1, n), dtype=np.int32),)

    def window_steps(self, n):
        return [((WINDOW_PX + 1) ** 2 * n, (WINDOW_PX + 1) * n, n)]


HAAR = HaarChannel()
