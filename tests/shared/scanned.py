"""Pixel features read from the maps of a level, for comparison with those of windows that were cut out."""

import numpy as np

from annealed.features.channels.dispatch import evaluate, evaluate_at


def features_at(pool, maps, rows, cols):
    """Values of all features for the windows centred on some pixels, (n_features, n) float32."""
    places = maps.starts(rows, cols)
    out = np.empty((len(pool), len(places)), dtype=np.float32)
    for f in range(len(pool)):
        evaluate_at(pool.kinds, pool.offsets(maps.layout), f, maps.read, places, len(places), out[f])
    return out


def features_of_row(pool, maps, row):
    """Values of all features for the windows centred on the pixels of a row, (n_features, width) float32."""
    start = maps.starts(row, 0)[0]
    out = np.empty((len(pool), maps.shape[1]), dtype=np.float32)
    for f in range(len(pool)):
        evaluate(pool.kinds, pool.offsets(maps.layout), f, maps.read, start, out.shape[1], out[f])
    return out
