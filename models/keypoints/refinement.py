"""Where exactly a keypoint is: a regression of its offset from the pixels of a window near it.

A classifier says that a keypoint is near the middle of a window, on whole pixels of a coarse level. Two
sums of piecewise linear responses to the same kind of features, fitted by annealing, say how far right of
the middle and below it that is. The windows around a detection vote; their median is the refined place,
and the vote is held again from there. This step is our addition: the paper asks for 5 % of the inter-eye
distance, which is one or two pixels of the levels that detectors see.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...features.codes import N_CODES
from ...features.errors import DataError
from ...features.pool import WindowPool, cut_windows
from ...features.pyramid import Level
from ..knots import response_tables, sum_responses

N_VOTES = 2
"""How often the windows around a place vote."""

_LEVELS_AROUND = 1
_PIXELS_AROUND = 1


@dataclass(frozen=True, eq=False)
class OffsetRegressor:
    """Offset of a keypoint from the centre pixel of a window.

    Attributes
    ----------
    pool : WindowPool
        The k selected features, the same for both directions.
    low, high : ndarray of shape (k,), float32
        Range of each feature on the training windows; values outside clamp.
    knots : ndarray of shape (2, k, n_bins + 1), float32
        Responses, in pixels of the window, to each feature at the ends of its bins; of x, then of y.
    intercept : ndarray of shape (2,), float64
    """

    pool: WindowPool
    low: np.ndarray
    high: np.ndarray
    knots: np.ndarray
    intercept: np.ndarray

    def __post_init__(self) -> None:
        k, n_knots = len(self.pool), self.knots.shape[-1]
        shapes = {"low": (k,), "high": (k,), "knots": (2, k, n_knots), "intercept": (2,)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                found = getattr(self, name).shape
                raise DataError(f"offset regressor: {name} has shape {found}, expected {shape}")
        if k < 1 or not 2 <= n_knots <= N_CODES:
            raise DataError(f"offset regressor: {k} features with {n_knots} knots")
        if not (self.low <= self.high).all():
            raise DataError("offset regressor: the range of a feature ends before it begins")

    @cached_property
    def tables(self) -> np.ndarray:
        """Response of each feature at each code, (2, k, 256) float32."""
        return np.stack([response_tables(knots) for knots in self.knots]).astype(np.float32)

    def offsets(self, patches: np.ndarray) -> np.ndarray:
        """Return (x, y) from the centre pixel of each stored window to the keypoint.

        Parameters
        ----------
        patches : ndarray of shape (n_windows, 26, 26, 3), uint8

        Returns
        -------
        ndarray of shape (n_windows, 2), float64
        """
        codes = self.pool.codes(patches, self.low, self.high)
        sums = [sum_responses(t, codes, float(b)) for t, b in zip(self.tables, self.intercept, strict=True)]
        return np.stack(sums, axis=1).astype(np.float64)


def refine(
    points: np.ndarray, scales: np.ndarray, levels: Sequence[Level], regressor: OffsetRegressor
) -> np.ndarray:
    """Move detections to where the windows around them see the keypoint.

    Parameters
    ----------
    points : ndarray of shape (n, 2), float64
        x, y in pixels of the photo.
    scales : ndarray of shape (n,), float64
        Pixels of the photo per pixel of the window.
    levels : sequence of Level
        Of the photo, from the largest to the smallest.
    regressor : OffsetRegressor

    Returns
    -------
    ndarray of shape (n, 2), float64
    """
    points = np.array(points, dtype=np.float64)
    if not len(points):
        return points
    nearest = np.abs(np.log2([level.scale for level in levels])[None] + np.log2(scales)[:, None]).argmin(
        axis=1
    )
    for _ in range(N_VOTES):
        points = _vote(points, nearest, levels, regressor)
    return points


def _vote(
    points: np.ndarray, nearest: np.ndarray, levels: Sequence[Level], regressor: OffsetRegressor
) -> np.ndarray:
    """Median place seen from the windows around each point, on its nearest level and those beside it."""
    around = np.arange(-_PIXELS_AROUND, _PIXELS_AROUND + 1)
    steps = np.stack(np.meshgrid(around, around, indexing="ij"), axis=-1).reshape(-1, 2)
    voters, patches, origins, ratios = [], [], [], []
    for index, level in enumerate(levels):
        near = np.flatnonzero(np.abs(nearest - index) <= _LEVELS_AROUND)
        if not len(near):
            continue
        centres = np.rint(level.from_photo(points[near])).astype(np.int64)[:, None] + steps
        centres = np.clip(centres, 0, level.size - 1).reshape(-1, 2)
        voters.append(np.repeat(near, len(steps)))
        patches.append(cut_windows(level.image, centres[:, 1], centres[:, 0]))
        origins.append(level.to_photo(centres))
        ratios.append(np.broadcast_to(level.ratio, centres.shape))
    seen = regressor.offsets(np.concatenate(patches)) / np.concatenate(ratios) + np.concatenate(origins)
    order = np.argsort(np.concatenate(voters), kind="stable")
    ends = np.flatnonzero(np.diff(np.concatenate(voters)[order])) + 1
    return np.stack([np.median(votes, axis=0) for votes in np.split(seen[order], ends)])
