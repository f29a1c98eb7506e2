"""Time the pixel features beside other ways to compute them, in one run.

Usage: python scripts/benchmarks/bench_features.py [--windows 2048] [--seconds 1.0]

Prints Markdown tables: nanoseconds per value of the pool on stored windows, beside scikit-image and a
naive twin; nanoseconds per pixel for the maps of a level, beside OpenCV and scikit-image; nanoseconds per
window for features evaluated along the rows of a level; and milliseconds for a pyramid. "ratio" is how
many times longer the other way takes. Each figure is the best of as many runs as fit into `--seconds`,
after one that compiles: processor time on one thread, and time passed on several.
"""

import argparse
import platform
import time
from functools import partial

import cv2
import numba
import numpy as np
import skimage
from skimage import data
from skimage.feature import haar_like_feature, haar_like_feature_coord
from skimage.feature import hog as skimage_hog
from skimage.transform import integral_image, pyramid_gaussian

from annealed.features.channels.dispatch import evaluate
from annealed.features.channels.haar import HAAR, WEIGHTS
from annealed.features.channels.hog import HOG
from annealed.features.maps import LevelMaps
from annealed.features.patches import cut_windows
from annealed.features.pool import WindowPool
from annealed.features.pyramid import gaussian_pyramid
from annealed.features.threads import get_num_threads, set_num_threads

NAIVE_WINDOWS = 4
ROW_FEATURES = 400


def best_time(function, seconds, clock=time.process_time):
    """Return the seconds of the fastest run after the first."""
    function()
    fastest, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = clock()
        function()
        fastest = min(fastest, clock() - start)
    return fastest


def print_table(title, columns, rows):
    print(f"\n{title}\n")
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(cell if isinstance(cell, str) else f"{cell:.3g}" for cell in row) + " |")


def naive_haar(patches, descriptors):
    """Sum the pixels of every rectangle with NumPy."""
    windows = patches[:, 1:-1, 1:-1].astype(np.int64)
    out = np.empty((len(descriptors), len(patches)))
    for f, (kind, colour, row, col, height, width, _) in enumerate(descriptors.tolist()):
        for i, window in enumerate(windows):
            out[f, i] = sum(
                weight * window[top : top + height, left : left + width, colour].sum()
                for top, line in zip(range(row, 24, height), WEIGHTS[kind], strict=False)
                for left, weight in zip(range(col, 24, width), line, strict=False)
            )
    return out


def pool_table(patches, seconds):
    """Time all features of stored windows, on one thread and on all."""
    every = WindowPool.default()
    rows, per_value = [], {}
    for name, pool in (
        ("all", every),
        ("Haar", every[every.belongs_to(HAAR)]),
        ("HOG", every[every.belongs_to(HOG)]),
    ):
        lo, hi = pool.ranges(patches)
        codes = np.zeros((len(pool), len(patches)), dtype=np.uint8)
        actions = (partial(pool.ranges, patches), partial(pool.codes, patches, lo, hi, out=codes))
        times = []
        for n_threads, clock in ((1, time.process_time), (get_num_threads(), time.perf_counter)):
            set_num_threads(n_threads)
            times += [best_time(action, seconds, clock) for action in actions]
        per_value[name] = [1e9 * t / codes.size for t in times]
        rows.append([name, f"{len(pool)}", *per_value[name]])
    columns = [
        "pool",
        "features",
        "ranges, 1 thread",
        "codes, 1 thread",
        "ranges, all threads",
        "codes, all threads",
    ]
    print_table(f"Pool on {len(patches)} stored windows, ns per value", columns, rows)
    return per_value


def peer_table(patches, per_value, seconds):
    """Time what scikit-image and a naive twin need for the same values, on one thread."""
    every = WindowPool.default()
    haar = every[every.belongs_to(HAAR)][::500]
    naive = best_time(lambda: naive_haar(patches[:NAIVE_WINDOWS], haar.descriptors), seconds)
    window = integral_image(patches[0, 1:-1, 1:-1, 0].astype(np.int64))
    coordinates, types = haar_like_feature_coord(24, 24, "type-2-x")
    theirs = best_time(
        lambda: haar_like_feature(window, 0, 0, 24, 24, types[::20], coordinates[::20]), seconds
    )
    grey = np.ascontiguousarray(patches[0, 1:-1, 1:-1, 0])
    options = {"orientations": 8, "pixels_per_cell": (6, 6), "cells_per_block": (2, 2), "block_norm": "L2"}
    their_hog = best_time(lambda: skimage_hog(grey, **options), seconds)
    ours_haar, ours_hog = per_value["Haar"][1], per_value["HOG"][1]
    figures = [
        ("Haar", ours_haar, "naive sums (NumPy)", 1e9 * naive / (len(haar) * NAIVE_WINDOWS)),
        ("Haar", ours_haar, "skimage haar_like_feature", 1e9 * theirs / len(types[::20])),
        ("HOG", ours_hog, "skimage hog", 1e9 * their_hog / 288),
    ]
    rows = [[name, ours, other, their, their / ours] for name, ours, other, their in figures]
    columns = ["features", "ours, ns per value", "other way", "its ns per value", "ratio"]
    print_table("Codes on one thread beside other ways", columns, rows)


def maps_table(levels, seconds):
    """Time the maps of a photo's first level, on one thread."""
    set_num_threads(1)
    image = levels[0].image
    n_pixels = image.shape[0] * image.shape[1]
    grey = image[..., 0]
    used = LevelMaps(image)
    options = {"orientations": 8, "pixels_per_cell": (6, 6), "cells_per_block": (2, 2), "block_norm": "L2"}
    ours_haar = best_time(lambda: LevelMaps(image, channels=[HAAR], reuse=used), seconds)
    ours_hog = best_time(lambda: LevelMaps(image, channels=[HOG], reuse=used), seconds)
    cv2.setNumThreads(1)
    their_haar = best_time(lambda: cv2.integral(image), seconds)
    their_hog = 3 * 36 * best_time(lambda: skimage_hog(grey, **options), seconds)
    rows = [
        ["integral images", ours_haar, "cv2.integral", their_haar, their_haar / ours_haar],
        ["HOG at every pixel", ours_hog, "36 x 3 skimage hog", their_hog, their_hog / ours_hog],
    ]
    rows = [[name, 1e9 * t / n_pixels, other, 1e9 * o / n_pixels, ratio] for name, t, other, o, ratio in rows]
    columns = ["maps", "ours, ns per pixel", "other way", "its ns per pixel", "ratio"]
    title = f"Maps of a level of {image.shape[1]} x {image.shape[0]} pixels on one thread"
    print_table(title, columns, rows)


@numba.njit
def scan_features(kinds, offsets, read, starts, n, values):
    """Evaluate every feature along every row."""
    for start in starts:
        for f in range(len(kinds)):
            evaluate(kinds, offsets, f, read, start, n, values)


def scan_table(levels, seconds):
    """Time features evaluated for pieces of a level's rows, on one thread."""
    maps = LevelMaps(levels[0].image)
    every = WindowPool.default()
    drawn = np.random.default_rng(0).choice(
        np.flatnonzero(every.belongs_to(HAAR)), ROW_FEATURES, replace=False
    )
    pools = {"Haar": every[drawn], "HOG": every[every.belongs_to(HOG)][::2]}
    rows = []
    for n in (1, 16, 64, maps.shape[1]):
        times = []
        for pool in pools.values():
            starts = np.arange(100, 108) * maps.stride
            arrays = (pool.kinds, pool.offsets(maps.layout), maps.read)
            values = np.empty(n, dtype=np.float32)
            total = best_time(partial(scan_features, *arrays, starts, n, values), seconds)
            times.append(1e9 * total / (len(starts) * len(pool)))
        rows.append([f"{n}", *times, *(t / n for t in times)])
    columns = ["windows", "Haar, ns a call", "HOG, ns a call", "Haar, ns a window", "HOG, ns a window"]
    print_table("One feature for neighbouring windows of a level, on one thread", columns, rows)


def pyramid_table(photo, seconds):
    """Time the pyramid of a photo."""
    ours = best_time(lambda: gaussian_pyramid(photo), seconds)

    def theirs():
        return list(pyramid_gaussian(photo, max_layer=16, downscale=2**0.25, channel_axis=2))

    other = best_time(theirs, seconds)
    columns = ["levels", "ours, ms", "skimage pyramid_gaussian, ms", "ratio"]
    rows = [[f"{len(gaussian_pyramid(photo))}", 1e3 * ours, 1e3 * other, other / ours]]
    print_table(f"Pyramid of a photo of {photo.shape[1]} x {photo.shape[0]} pixels", columns, rows)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--windows", type=int, default=2048, help="stored windows")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each figure")
    arguments = parser.parse_args()
    print(
        f"{platform.processor() or platform.machine()}, {get_num_threads()} threads, "
        f"Python {platform.python_version()}, NumPy {np.__version__}, numba {numba.__version__}, "
        f"OpenCV {cv2.__version__}, scikit-image {skimage.__version__}"
    )
    photo = np.ascontiguousarray(cv2.resize(data.astronaut(), (640, 480)))
    levels = gaussian_pyramid(photo)
    rng = np.random.default_rng(0)
    image = levels[4].image
    rows, cols = (rng.integers(0, side, arguments.windows) for side in image.shape[:2])
    patches = cut_windows(image, rows, cols)
    per_value = pool_table(patches, arguments.seconds)
    peer_table(patches, per_value, arguments.seconds)
    maps_table(levels, arguments.seconds)
    scan_table(levels, arguments.seconds)
    pyramid_table(photo, arguments.seconds)


if __name__ == "__main__":
    main()
