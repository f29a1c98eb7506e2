"""Trajectories smoothed from both sides, with short gaps filled (Rauch, Tung and Striebel, 1965).

Each coordinate of a keypoint moves with a velocity that changes at random; what was found is that place
with noise, more of it where the detector is unsure. The Kalman filter goes through the frames once and the
smoother back, so that every place is told by all frames. How noisy a keypoint is, and how suddenly it moves,
is estimated from its own trajectories, by maximum likelihood over the ratio of the two.

A wrong frame would pull its neighbours along. So a value far from the running median of five counts as
noisy as it is far; a sudden turn passes the median and is followed.

References
----------
Rauch, Tung and Striebel, "Maximum likelihood estimates of linear dynamic systems", AIAA Journal 3(8), 1965,
doi:10.2514/3.3166.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numba import njit
from scipy.ndimage import median_filter

from ....features.errors import ParameterError
from .object_tracks import ObjectTracks

MAX_GAP = 15
"""Frames without an object, in a row, that are filled; longer gaps stay."""

_RATIOS = 4.0 ** np.arange(-8, 6)  # variance of the acceleration over that of what is found
_LEAST_LIKELY = 0.05  # what is less likely is as noisy as this
_LEAST_NOISE = 0.01  # square pixels
_ANY_VELOCITY = 1e6  # variance of the first velocity, in variances of what is found
_RUN = 5  # frames of the running median
_FAR = 4.0  # robust standard deviations from it
_LEAST_FAR = 0.5  # pixels of such a standard deviation

Series: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Times, values (NaN where nothing was found; the first one was) and their noise, as `smooth` takes them."""


def smooth_tracks(tracks: ObjectTracks, max_gap: int = MAX_GAP) -> ObjectTracks:
    """Smooth all trajectories and fill gaps of at most `max_gap` frames.

    Parameters
    ----------
    tracks : ObjectTracks
        As found.
    max_gap : int
        Frames.

    Returns
    -------
    ObjectTracks
        `filled` marks what was filled in; its likelihood is 0.
    """
    if max_gap < 0:
        raise ParameterError(f"max_gap must be at least 0, got {max_gap}")
    points = np.full_like(tracks.points, np.nan)
    for k in range(len(tracks.names)):
        places = [
            (n, part, axis)
            for n in range(tracks.n_objects)
            for part in _stretches(np.isfinite(tracks.points[:, n, k, 0]), tracks.frames, max_gap)
            for axis in range(2)
        ]
        series = [_series(tracks, n, part, k, axis) for n, part, axis in places]
        ratio, variance = estimate_noise(series)
        for (n, part, axis), one in zip(places, series, strict=True):
            points[part, n, k, axis] = smooth(*one, ratio, variance)
    filled = np.isfinite(points).all(axis=3).any(axis=2) & ~tracks.there
    likelihood = np.where(filled[..., None], 0.0, tracks.likelihood)
    sizes = _filled_sizes(tracks, filled)
    return ObjectTracks(tracks.names, tracks.frames, points, likelihood, tracks.scores, sizes, filled)


def _stretches(found: np.ndarray, frames: np.ndarray, max_gap: int) -> Iterator[slice]:
    """Runs of frames from one that is found to one that is, without a longer gap between."""
    places = np.flatnonzero(found)
    if not len(places):
        return
    step = int(np.diff(frames).min()) if len(frames) > 1 else 1
    missing = np.diff(frames[places]) // step - 1
    ends = np.flatnonzero(missing > max_gap)
    for first, last in zip(np.append(0, ends + 1), np.append(ends, len(places) - 1), strict=True):
        yield slice(int(places[first]), int(places[last]) + 1)


def _series(tracks: ObjectTracks, n: int, part: slice, k: int, axis: int) -> Series:
    values = tracks.points[part, n, k, axis]
    noise = 1 / np.maximum(np.nan_to_num(tracks.likelihood[part, n, k]), _LEAST_LIKELY)
    return tracks.frames[part].astype(np.float64), values, noise * _spikes(values)


def _spikes(values: np.ndarray) -> np.ndarray:
    """By how much each value's variance grows as it is far from those around it; 1 for most."""
    found = np.flatnonzero(np.isfinite(values))
    away = np.abs(values[found] - median_filter(values[found], _RUN, mode="nearest"))
    spread = max(1.4826 * float(np.median(away)), _LEAST_FAR)
    if len(found) > 1:  # where a point turns it is as far from the median as it moves
        steps = median_filter(np.abs(np.diff(values[found], append=values[found[-1]])), _RUN, mode="nearest")
        away = away * spread / np.maximum(spread, steps)
    factors = np.ones(len(values))
    factors[found] = np.maximum(away / (_FAR * spread), 1.0) ** 2
    return factors


def _filled_sizes(tracks: ObjectTracks, filled: np.ndarray) -> np.ndarray:
    """Sizes, with those of filled frames between their neighbours'."""
    sizes = tracks.sizes.copy()
    for n in range(tracks.n_objects):
        known = np.flatnonzero(np.isfinite(sizes[:, n]))
        gaps = np.flatnonzero(filled[:, n])
        if len(known) and len(gaps):
            sizes[gaps, n] = np.interp(tracks.frames[gaps], tracks.frames[known], tracks.sizes[known, n])
    return sizes


def estimate_noise(series: Sequence[Series]) -> tuple[float, float]:
    """Estimate how suddenly a keypoint moves and how noisy it is found, by maximum likelihood.

    Parameters
    ----------
    series : sequence of Series
        Each coordinate of each stretch.

    Returns
    -------
    ratio : float
        Variance of the acceleration over that of what is found, of a grid.
    variance : float
        Of what is found where its `noise` is 1, square pixels.
    """
    best, chosen = -np.inf, (1.0, _LEAST_NOISE)
    for ratio in _RATIOS.tolist():
        squared, spread = _innovations(series, ratio)
        if not len(squared):
            return chosen
        variance = max(float(np.mean(squared / spread)), _LEAST_NOISE)
        # log-likelihood of innovations of variance `variance * spread`
        fit = -0.5 * float(np.sum(np.log(variance * spread) + squared / (variance * spread)))
        if fit > best:
            best, chosen = fit, (ratio, variance)
    return chosen


def _innovations(series: Sequence[Series], ratio: float) -> tuple[np.ndarray, np.ndarray]:
    """Squared differences of what is found from what the filter expects, and their variances.

    The first two of each series only start the filter.
    """
    squared, spread = [np.empty(0)], [np.empty(0)]
    for times, values, noise in series:
        filtered = np.empty((len(values), 7))
        _filter(times, values, noise, ratio, filtered)
        used = np.flatnonzero(np.isfinite(values))[2:]
        squared.append(filtered[used, 5] ** 2)
        spread.append(filtered[used, 6])
    return np.concatenate(squared), np.concatenate(spread)


def smooth(
    times: np.ndarray, values: np.ndarray, noise: np.ndarray, ratio: float, variance: float
) -> np.ndarray:
    """Smooth one coordinate.

    Parameters
    ----------
    times : ndarray of shape (n,), float64
        Frames, rising.
    values : ndarray of shape (n,), float64
        NaN where nothing was found; the first one was.
    noise : ndarray of shape (n,), float64
        Variance of each value, in parts of `variance`.
    ratio, variance : float
        As `estimate_noise` gives them.

    Returns
    -------
    ndarray of shape (n,), float64
    """
    filtered = np.empty((len(values), 7))
    _filter(times, values, noise, ratio, filtered)
    out = np.empty(len(values))
    _smooth_back(times, filtered, ratio, out)
    return out


@njit(cache=True)
def _filter(times, values, noise, ratio, out):
    """Kalman filter in units where the variance of what is found is 1.

    Writes position, velocity, p00, p01, p11, innovation and its variance for every frame.
    """
    x, v = values[0], 0.0
    p00, p01, p11 = noise[0], 0.0, _ANY_VELOCITY
    for t in range(len(values)):
        innovation, spread = 0.0, p00 + noise[t]
        if t > 0:
            dt = times[t] - times[t - 1]
            x += dt * v
            p00, p01, p11 = _moved(p00, p01, p11, dt, ratio)
            spread = p00 + noise[t]
            if np.isfinite(values[t]):
                innovation = values[t] - x
                g0, g1 = p00 / spread, p01 / spread
                x += g0 * innovation
                v += g1 * innovation
                p00, p01, p11 = (1 - g0) * p00, (1 - g0) * p01, p11 - g1 * p01
        out[t, 0], out[t, 1], out[t, 2], out[t, 3], out[t, 4] = x, v, p00, p01, p11
        out[t, 5], out[t, 6] = innovation, spread


@njit(cache=True)
def _moved(p00, p01, p11, dt, ratio):
    """Covariance after a time: F P F' + Q with F = [[1, dt], [0, 1]] and white noise as acceleration."""
    return (
        p00 + 2 * dt * p01 + dt * dt * p11 + ratio * dt**3 / 3,
        p01 + dt * p11 + ratio * dt**2 / 2,
        p11 + ratio * dt,
    )


@njit(cache=True)
def _smooth_back(times, filtered, ratio, out):
    """The backward pass: x_t += C (x_{t+1} smoothed - x_{t+1} predicted), C = P F' / P predicted."""
    n = len(out)
    xs, vs = filtered[n - 1, 0], filtered[n - 1, 1]
    out[n - 1] = xs
    for t in range(n - 2, -1, -1):
        dt = times[t + 1] - times[t]
        x, v, p00, p01, p11 = filtered[t, 0], filtered[t, 1], filtered[t, 2], filtered[t, 3], filtered[t, 4]
        m00, m01, m11 = _moved(p00, p01, p11, dt, ratio)
        determinant = m00 * m11 - m01 * m01
        # P F' = [[p00 + dt p01, p01], [p01 + dt p11, p11]]
        a00, a01, a10, a11 = p00 + dt * p01, p01, p01 + dt * p11, p11
        c00 = (a00 * m11 - a01 * m01) / determinant
        c01 = (a01 * m00 - a00 * m01) / determinant
        c10 = (a10 * m11 - a11 * m01) / determinant
        c11 = (a11 * m00 - a10 * m01) / determinant
        dx, dv = xs - (x + dt * v), vs - v
        xs, vs = x + c00 * dx + c01 * dv, v + c10 * dx + c11 * dv
        out[t] = xs
