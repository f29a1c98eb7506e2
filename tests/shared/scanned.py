"""Pixel features read from the maps of a level, for comparison with those of windows that were cut out."""

import numpy as np
from numba import njit

from annealed.features.channels.dispatch import evaluate, evaluate_at


def features_at(pool, maps, rows, cols):
    """Values of all features for the windows centred on some pixels, (n_features, n) float32."""
    places = maps.starts(rows, cols)
    out = np.empty((len(pool), len(places)), dtype=np.float32)
    _fill_places(pool.kinds, pool.offsets(maps.layout), maps.read, places, out)
    return out


def features_of_row(pool, maps, row):
    """Values of all features for the windows centred on the pixels of a row, (n_features, width) float32."""
    start = maps.starts(row, 0)[0]
    out = np.empty((len(pool), maps.shape[1]), dtype=np.float32)
    _fill_row(pool.kinds, pool.offsets(maps.layout), maps.read, start, out)
    return out


@njit(cache=True)
def _fill_places(kinds, offsets, read, places, out):
    for f in range(len(kinds)):
        evaluate_at(kinds, offsets, f, read, places, len(places), out[f])


@njit(cache=True)
def _fill_row(kinds, offsets, read, start, out):
    for f in range(len(kinds)):
        evaluate(kinds, offsets, f, read, start, out.shape[1], out[f])
