"""Tracks with gaps as complete ones: what is missing, from a common low rank.

The positions of all points of a few rigid motions have low rank (C. Tomasi, T. Kanade. Shape and motion from
image streams under orthography. IJCV 9(2), 1992). Gaps are filled by a singular value decomposition that is
repeated on its own reconstruction (R. Mazumder, T. Hastie, R. Tibshirani. Spectral regularization algorithms
for learning large incomplete matrices. JMLR 11, 2010).
"""

import numpy as np

RANK = 10
N_ITER = 60
TOLERANCE = 1e-4  # of the change of an iteration, in shares of the positions' spread


def filled_tracks(positions: np.ndarray, visible: np.ndarray, rank: int = RANK) -> np.ndarray:
    """Fill the gaps of tracks.

    Parameters
    ----------
    positions : ndarray of shape (P, F, 2)
        Anything where a point is not visible.
    visible : ndarray of shape (P, F), bool
    rank : int
        Largest rank of the positions about their mean.

    Returns
    -------
    ndarray of shape (P, F, 2), float64
        The positions themselves where they are visible. A track that is never visible is put on the mean.
    """
    if visible.all():
        return np.asarray(positions, dtype=np.float64)
    mask = np.repeat(visible, 2, axis=1)
    filled = _carried_along(positions, visible).reshape(len(positions), -1)
    spread = max(float(filled.std()), 1e-12)
    for _ in range(N_ITER):
        mean = filled.mean(axis=0)
        left, values, right = np.linalg.svd(filled - mean, full_matrices=False)
        # What is left beyond the rank is noise, and is taken off the rest too.
        noise = values[rank] if len(values) > rank else 0.0
        kept = np.maximum(values[:rank] - noise, 0)
        new = np.where(mask, filled, mean + (left[:, :rank] * kept) @ right[:rank])
        change = np.sqrt(np.mean((new - filled) ** 2))
        filled = new
        if change < TOLERANCE * spread:
            break
    return filled.reshape(positions.shape)


def _carried_along(positions: np.ndarray, visible: np.ndarray) -> np.ndarray:
    """A first filling: points stand still relative to the median motion of those that are visible."""
    known = np.where(visible[:, :, None], positions, np.nan)
    both = visible[:, 1:] & visible[:, :-1]
    steps = np.zeros((positions.shape[1], 2))
    for f in np.flatnonzero(both.any(axis=0)):
        moved = both[:, f]
        steps[f + 1] = np.median(known[moved, f + 1] - known[moved, f], axis=0)
    path = np.cumsum(steps, axis=0)
    relative = known - path
    frames = np.arange(positions.shape[1])
    seen = visible.any(axis=1)
    middle = np.array([relative[seen][:, :, c][visible[seen]].mean() for c in (0, 1)])
    for i, track in enumerate(relative):
        at = frames[visible[i]]
        for c in (0, 1):
            track[:, c] = np.interp(frames, at, track[at, c]) if len(at) else middle[c]
    return relative + path


def denoised_tracks(filled: np.ndarray) -> np.ndarray:
    """Take the noise off complete tracks: singular values below the optimal hard threshold are dropped.

    Independent noise spreads over all singular values, motions do not. Without noise next to nothing is
    dropped. M. Gavish, D. L. Donoho. The optimal hard threshold for singular values is 4 / sqrt(3). IEEE
    Transactions on Information Theory 60(8), 2014; equation 5 with the approximation of the constant.

    Parameters
    ----------
    filled : ndarray of shape (P, F, 2)

    Returns
    -------
    ndarray of shape (P, F, 2), float64
    """
    vectors = filled.reshape(len(filled), -1)
    mean = vectors.mean(axis=0)
    left, values, right = np.linalg.svd(vectors - mean, full_matrices=False)
    kept = np.where(values > _threshold_to_median(vectors.shape) * np.median(values), values, 0)
    return (mean + (left * kept) @ right).reshape(filled.shape)


def noise_px(filled: np.ndarray) -> float:
    """Return the standard deviation of the noise of complete tracks (P, F, 2) by their singular values.

    Section III-E of the same paper: the median over its threshold, times the threshold for known noise.
    """
    vectors = filled.reshape(len(filled), -1)
    values = np.linalg.svd(vectors - vectors.mean(axis=0), compute_uv=False)
    aspect = min(vectors.shape) / max(vectors.shape)
    known = np.sqrt(2 * (aspect + 1) + 8 * aspect / (aspect + 1 + np.sqrt(aspect**2 + 14 * aspect + 1)))
    median = float(np.median(values)) * _threshold_to_median(vectors.shape)
    return float(median / (known * np.sqrt(max(vectors.shape))))


def _threshold_to_median(shape: tuple[int, ...]) -> float:
    aspect = min(shape) / max(shape)
    return 0.56 * aspect**3 - 0.95 * aspect**2 + 1.82 * aspect + 1.43
