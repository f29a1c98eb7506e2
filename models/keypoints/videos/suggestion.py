"""Which frames to label next: those on which a detector is least sure or jumps, each unlike the others.

Every frame has a priority: how unlikely its keypoints are, plus how far they are from the smoothed
trajectories. The worthiest frames are clustered by appearance (k-means on small grey pictures, as
DeepLabCut does on all frames), and the worthiest of each cluster is taken, as far from those already
taken as the clip allows.
"""

import cv2
import numpy as np
from sklearn.cluster import KMeans

from ....features.errors import ParameterError
from .object_tracks import ObjectTracks

THUMBNAIL_PX = 24
"""Height and width of the pictures by which frames are compared."""

POOL = 5
"""Times the wanted number of frames that are clustered: the worthiest."""

_FARTHEST = 0.5  # sizes that a keypoint is from its smoothed trajectory; farther counts no more


def thumbnail(image: np.ndarray) -> np.ndarray:
    """Return a frame as a small grey picture, (THUMBNAIL_PX ** 2,) float32 in [0, 1].

    Parameters
    ----------
    image : ndarray of shape (H, W, 3), uint8
    """
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    small = cv2.resize(grey, (THUMBNAIL_PX, THUMBNAIL_PX), interpolation=cv2.INTER_AREA)
    return small.astype(np.float32).ravel() / 255


def frame_priority(found: ObjectTracks, smoothed: ObjectTracks) -> np.ndarray:
    """How much is to be learned from each frame: 0 where all is sure and smooth, up to 2; (n_frames,).

    Parameters
    ----------
    found : ObjectTracks
        As found.
    smoothed : ObjectTracks
        The same, smoothed.

    Notes
    -----
    An object that is in the frames around but not in this one counts as not seen at all.
    """
    if not len(found):
        return np.empty(0)
    expected = np.isfinite(smoothed.points).all(axis=3).any(axis=2) | found.there
    n_expected = np.maximum(expected.sum(axis=1), 1)
    unlikely = np.where(expected[..., None], 1 - np.nan_to_num(found.likelihood), 0.0).mean(axis=2)
    away = np.linalg.norm(found.points - smoothed.points, axis=3)
    sizes = np.where(np.isfinite(found.sizes), np.maximum(found.sizes, 1.0), 1.0)
    jump = np.minimum(np.nan_to_num(away) / sizes[..., None], _FARTHEST).max(axis=2) / _FARTHEST
    priority = (unlikely + jump).sum(axis=1) / n_expected
    nobody = ~expected.any(axis=1)
    return np.where(nobody, 1.0 if nobody.all() else 0.5, priority)


def suggest_frames(priority: np.ndarray, looks: np.ndarray, n: int, *, seed: int = 0) -> np.ndarray:
    """Choose frames of high priority that differ in appearance and lie apart.

    Parameters
    ----------
    priority : ndarray of shape (n_frames,), float64
    looks : ndarray of shape (n_frames, n_values), float32
        Appearances, such as `thumbnail` gives them.
    n : int
        Frames to choose; all of them if there are no more.
    seed : int
        Of k-means.

    Returns
    -------
    ndarray of shape (n,), int64
        Places of the frames, rising.
    """
    if n < 1:
        raise ParameterError(f"the number of frames to suggest must be at least 1, got {n}")
    if len(priority) <= n:
        return np.arange(len(priority))
    apart = max(1, len(priority) // (2 * n))
    pool = _apart(np.argsort(-priority, kind="stable"), max(1, apart // 2), POOL * n)
    groups = _clusters(looks[pool], n, seed)
    chosen: list[int] = []
    for places in sorted((pool[groups == g] for g in np.unique(groups)), key=lambda p: -priority[p].max()):
        chosen += _apart(places, apart, 1, chosen).tolist()
    # clusters whose frames all lie near others leave places, which the worthiest of all take
    for distance in (apart, apart // 2, 1):
        if len(chosen) < n:
            left = np.setdiff1d(np.argsort(-priority, kind="stable"), chosen, assume_unique=True)
            chosen += _apart(left, distance, n - len(chosen), chosen).tolist()
    return np.sort(np.array(chosen[:n], dtype=np.int64))


def _apart(places: np.ndarray, distance: int, n: int, taken: list[int] | None = None) -> np.ndarray:
    """Take at most n of the places in their order that lie so far from one another and from those taken."""
    kept: list[int] = []
    others = list(taken or [])
    for place in places.tolist():
        if len(kept) == n:
            break
        if all(abs(place - other) >= distance for other in others):
            kept.append(place)
            others.append(place)
    return np.array(kept, dtype=np.int64)


def _clusters(looks: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Cluster of each appearance; fewer clusters than asked for if there are fewer appearances."""
    n_unique = len(np.unique(looks, axis=0))
    means = KMeans(min(n, n_unique), n_init=3, random_state=seed)
    return np.asarray(means.fit(looks).labels_)
