"""Where exactly a keypoint is: a regression of its offset from the pixels of a window near it.

A classifier says that a keypoint is near the middle of a window, on whole pixels of a coarse level. Two
sums of piecewise linear responses to the same kind of features, fitted by annealing, say how far right of
the middle and below it that is. The windows around a detection vote; their median is the refined place,
and the vote is held again from there. This step is our addition: the paper asks for 5 % of the inter-eye
distance, which is one or two pixels of the levels that detectors see.
"""

from collections.abc import Sequence

import numpy as np

from ...features.pool import cut_windows
from ...features.pyramid import Level
from .window_model import WindowModel

N_VOTES = 2
"""How often the windows around a place vote."""

_LEVELS_AROUND = 1
_PIXELS_AROUND = 1


def refine(
    points: np.ndarray, scales: np.ndarray, levels: Sequence[Level], regressor: WindowModel
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
    regressor : WindowModel
        Its two sums are the x and y, in pixels of the window, from its centre pixel to the keypoint.

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
    points: np.ndarray, nearest: np.ndarray, levels: Sequence[Level], regressor: WindowModel
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
    offsets = regressor.respond(np.concatenate(patches)).T.astype(np.float64)
    seen = offsets / np.concatenate(ratios) + np.concatenate(origins)
    order = np.argsort(np.concatenate(voters), kind="stable")
    ends = np.flatnonzero(np.diff(np.concatenate(voters)[order])) + 1
    return np.stack([np.median(votes, axis=0) for votes in np.split(seen[order], ends)])
