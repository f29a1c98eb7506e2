"""The One-Euro filter: smooths what is seen live, without looking ahead.

A low-pass filter whose cutoff rises with speed: still points do not jitter, fast ones do not lag.

References
----------
Casiez, Roussel and Vogel, "1 Euro Filter: A Simple Speed-based Low-pass Filter for Noisy Input in Interactive
Systems", CHI 2012, doi:10.1145/2207676.2208639.
"""

import numpy as np

from ....features.errors import ParameterError


class OneEuroFilter:
    """Filters points that arrive one after the other.

    Parameters
    ----------
    min_cutoff : float
        Cutoff of points at rest, in Hz: lower is calmer.
    beta : float
        Hz by which the cutoff rises for each unit of speed (of the points' unit a second): higher lags less.
    speed_cutoff : float
        Cutoff of the speed itself, in Hz.
    """

    def __init__(self, min_cutoff: float = 1.0, beta: float = 0.05, speed_cutoff: float = 1.0) -> None:
        for name, value in (("min_cutoff", min_cutoff), ("speed_cutoff", speed_cutoff)):
            if not (np.isfinite(value) and value > 0):
                raise ParameterError(f"{name} must be a finite number above 0, got {value}")
        if not (np.isfinite(beta) and beta >= 0):
            raise ParameterError(f"beta must be a finite number of at least 0, got {beta}")
        self.min_cutoff, self.beta, self.speed_cutoff = min_cutoff, beta, speed_cutoff
        self._points: np.ndarray | None = None
        self._speeds: np.ndarray | None = None
        self._time = 0.0

    def __call__(self, points: np.ndarray, time_s: float) -> np.ndarray:
        """Return the filtered points, of the same shape; a point that was NaN before begins anew.

        Parameters
        ----------
        points : ndarray, float64
        time_s : float
            Seconds; later than at the call before, or the points stay as they were filtered then.
        """
        points = np.asarray(points, dtype=np.float64)
        if self._points is None or self._speeds is None or self._points.shape != points.shape:
            self._points, self._speeds, self._time = points.copy(), np.zeros(points.shape), time_s
            return points.copy()
        elapsed = time_s - self._time
        if elapsed <= 0:
            return self._points.copy()
        known = np.isfinite(self._points)
        before = np.where(known, self._points, points)
        speeds = (points - before) / elapsed
        weight = _weight(self.speed_cutoff, elapsed)
        speeds = weight * speeds + (1 - weight) * np.where(known, self._speeds, 0.0)
        cutoff = self.min_cutoff + self.beta * np.abs(speeds)
        weight = _weight(cutoff, elapsed)
        filtered = weight * points + (1 - weight) * before
        self._points, self._time = filtered, time_s
        self._speeds = np.where(np.isfinite(speeds), speeds, 0.0)
        return filtered.copy()


def _weight(cutoff: float | np.ndarray, elapsed: float) -> np.ndarray:
    """Weight of the newest value: 1 / (1 + tau / elapsed), tau = 1 / (2 pi cutoff)."""
    return np.asarray(1 / (1 + 1 / (2 * np.pi * np.asarray(cutoff) * elapsed)))
