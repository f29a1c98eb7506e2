"""Non-maximum suppression over position and scale, and the refinement of what is left."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from ...features.errors import DataError, ParameterError
from ...features.jit import INNER, LEAF
from .scan_limits import MAX_COMPARISONS, TOO_MANY


@dataclass(frozen=True)
class Suppression:
    """How windows that fire together become one detection.

    Attributes
    ----------
    radius : float
        A window is suppressed by a better one whose centre is nearer than this part of the better
        one's side.
    octaves : float
        ... and whose scale differs by at most this many octaves.
    refine_radius, refine_octaves : float
        A detection's position and scale are the weighted mean over the windows this near; zero
        leaves them where the best window is. The weights are exp(sharpness * score).
    sharpness : float
    """

    radius: float = 0.25
    octaves: float = 1.0
    refine_radius: float = 0.12
    refine_octaves: float = 0.5
    sharpness: float = 5.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value >= 0):
                raise ParameterError(f"{name} must be a finite number of at least 0, got {value}")


def suppress(
    x: np.ndarray,
    y: np.ndarray,
    scale: np.ndarray,
    score: np.ndarray,
    window_px: int,
    settings: Suppression = Suppression(),
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Keep the best window of each neighbourhood, at the mean position of those that agree with it.

    Windows are visited from the best score down (ties: in the order given); each one that no kept
    window suppresses is kept.

    Parameters
    ----------
    x, y, scale, score : ndarray of shape (n,), float64
        Centres in pixels of the photo, pixels of the photo per pixel of the window, responses.
    window_px : int
        Side of the window in its own pixels.
    settings : Suppression

    Returns
    -------
    x, y, scale, score : ndarray of shape (n_kept,), float64
        Best first; the score is that of the best window.

    Raises
    ------
    DataError
        If there are so many that to join them would take minutes.

    Notes
    -----
    The refinement is our addition: the paper does not say how detections in neighbouring windows
    are merged, and its 5 % criterion asks for more than whole pixels of a coarse pyramid level.
    """
    order = np.argsort(-score, kind="stable")
    columns = np.ascontiguousarray(np.stack([x, y, np.log2(scale), score])[:, order])
    kept = np.empty(len(order), dtype=np.int64)
    n_kept = _suppress(columns, window_px * settings.radius, settings.octaves, kept, MAX_COMPARISONS)
    if n_kept < 0:
        raise DataError(f"too many of {len(order)} windows stand apart to be joined; {TOO_MANY}")
    out = np.ascontiguousarray(columns[:, kept[:n_kept]])
    if settings.refine_radius > 0:
        _refine(
            columns,
            kept[:n_kept],
            window_px * settings.refine_radius,
            settings.refine_octaves,
            settings.sharpness,
            out,
        )
    return out[0], out[1], np.exp2(out[2]), out[3]


@njit(**INNER)
def _near(columns, i, j, radius, octaves):
    """Whether window j lies within radius (in pixels of window i) and octaves of window i."""
    dx = columns[0, j] - columns[0, i]
    dy = columns[1, j] - columns[1, i]
    reach = radius * 2.0 ** columns[2, i]
    return dx * dx + dy * dy < reach * reach and abs(columns[2, j] - columns[2, i]) <= octaves + 1e-9


@njit(**LEAF, nogil=True)
def _suppress(columns, radius, octaves, kept, most):
    """Put the windows that no better one suppresses into `kept`; return how many, or -1: too many."""
    n_kept = 0
    for j in range(columns.shape[1]):
        if n_kept * columns.shape[1] > most:  # so many comparisons the refinement would take
            return -1
        free = True
        for t in range(n_kept):
            if _near(columns, kept[t], j, radius, octaves):
                free = False
                break
        if free:
            kept[n_kept] = j
            n_kept += 1
    return n_kept


@njit(**LEAF, nogil=True)
def _refine(columns, kept, radius, octaves, sharpness, out):
    """Replace x, y and log2 scale of the kept windows by means weighted exp(sharpness * score)."""
    for t in range(len(kept)):
        i = kept[t]
        total = x = y = scale = 0.0
        for j in range(columns.shape[1]):
            if j == i or _near(columns, i, j, radius, octaves):
                weight = np.exp(sharpness * (columns[3, j] - columns[3, i]))
                total += weight
                x += weight * columns[0, j]
                y += weight * columns[1, j]
                scale += weight * columns[2, j]
        out[0, t], out[1, t], out[2, t] = x / total, y / total, scale / total
