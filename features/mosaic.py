"""A few stored windows, put side by side as one picture and read as a scan reads a photo.

Detection looks at some hundred windows beside those of its scan, and has the scan's kernels already. Those of
`chunks.py`, made for the many thousands of windows of a training, take as long again to compile. Features are
the same bits either way.
"""

import numpy as np
from numba import njit

from .channels.dispatch import evaluate_at
from .codes import code_scale, quantise
from .jit import LEAF
from .maps import LevelMaps
from .patches import BEFORE_PX, MARGIN_PX, PATCH_PX
from .threads import in_threads

FEW = 6000
"""Windows of a process that are taken this way: those of a photo or two. It takes three times as long as the
kernels of `chunks.py`, but a whole photo less than these take to load, let alone to compile."""

_TILES = 64
_CENTRE = BEFORE_PX + MARGIN_PX


_n_taken = 0


def are_few(n):
    """Return whether n more windows are still few, counting them."""
    global _n_taken
    _n_taken += n
    return _n_taken <= FEW


def codes_of_few(pool, patches, lo, hi):
    """Return the features of stored windows, each as its position in the feature's own range.

    Parameters
    ----------
    pool : WindowPool
    patches : ndarray of shape (n_windows, 26, 26, 3), uint8
    lo, hi : ndarray of shape (n_features,), float32
        Values with codes 0 and 255.

    Returns
    -------
    ndarray of shape (n_features, n_windows), uint8
        As `pool.codes` gives them.
    """
    codes = np.empty((len(pool), len(patches)), dtype=np.uint8)
    scaling = code_scale(lo, hi)
    channels = set(pool.channels)

    def compute(start):
        tiles = patches[start : start + _TILES]
        # side by side, so that all windows are centred on one row
        picture = np.ascontiguousarray(tiles.transpose(1, 0, 2, 3).reshape(PATCH_PX, -1, 3))
        maps = LevelMaps(picture, rows=(_CENTRE, _CENTRE + 1), channels=channels)
        places = np.arange(len(tiles), dtype=np.int32) * PATCH_PX + _CENTRE
        values = np.empty(len(tiles), dtype=np.float32)
        some = np.empty((len(pool), len(tiles)), dtype=np.uint8)
        _fill_codes(pool.kinds, pool.offsets(maps.layout), maps.read, places, values, *scaling, some)
        codes[:, start : start + _TILES] = some

    for _ in in_threads(compute, range(0, len(patches), _TILES)):
        pass
    return codes


@njit(**LEAF, nogil=True)
def _fill_codes(kinds, offsets, read, places, values, lo, hi, scale, codes):
    """Write the codes of all features, (n_features, n), for windows that begin at n places of the maps."""
    for f in range(len(kinds)):
        evaluate_at(kinds, offsets, f, read, places, len(places), values)
        quantise(values, lo[f], hi[f], scale[f], len(places), codes, f, 0)
