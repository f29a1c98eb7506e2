"""K subspaces: move every track to the motion that it is nearest to, fit again, repeat.

P. S. Bradley, O. L. Mangasarian. k-Plane clustering. Journal of Global Optimization 16, 2000; here the
subspaces are affine, of dimension three (one rigid motion under an affine camera), and tracks may have gaps.
"""

from dataclasses import dataclass

import numpy as np

from ...features.subspaces import MOTION_DIMENSIONS, Subspace, fit_subspace, squared_distances

N_ITER = 10
N_FILLINGS = 3
LEAST_NOISE_PX = 0.05
LEAST_SLACK = 0.05
LEAST_MEMBERS = 5  # four tracks fit a subspace of three dimensions whatever they do


def refine(
    positions: np.ndarray,
    visible: np.ndarray,
    filled: np.ndarray,
    labels: np.ndarray,
    n_dimensions: int = MOTION_DIMENSIONS,
) -> np.ndarray:
    """Improve a segmentation by alternating subspaces and labels.

    Parameters
    ----------
    positions : ndarray of shape (P, F, 2)
    visible : ndarray of shape (P, F), bool
    filled : ndarray of shape (P, F, 2)
        The tracks with their gaps filled, from which the first subspaces are fitted.
    labels : ndarray of shape (P,), int, from 0
    n_dimensions : int
        Of the subspaces; a fourth takes in some perspective.

    Returns
    -------
    ndarray of shape (P,), int64
        As many motions; the given labels where a motion would die out.
    """
    n_motions = int(labels.max()) + 1
    current = labels
    for _ in range(N_ITER):
        new = np.argmin(_costs(positions, visible, filled, current, n_dimensions), axis=0)
        if np.bincount(new, minlength=n_motions).min() < LEAST_MEMBERS:
            break
        if np.array_equal(new, current):
            break
        current = new
    return current.astype(np.int64)


def _costs(
    positions: np.ndarray, visible: np.ndarray, filled: np.ndarray, labels: np.ndarray, n_dimensions: int
) -> np.ndarray:
    """Cost of each track under each motion, shape (K, P)."""
    motions = [
        FittedMotion.of(positions[own], visible[own], filled[own], n_dimensions)
        for own in (labels == label for label in range(int(labels.max()) + 1))
    ]
    return np.stack([motion.costs(positions, visible) for motion in motions])


@dataclass(frozen=True, eq=False)
class FittedMotion:
    """The subspace of a motion's tracks, and how far they are from it.

    Attributes
    ----------
    subspace : Subspace
    deviation_px : float
        Root mean square distance of the tracks per degree of freedom. Every motion has its own: perspective
        bends the subspace of one more than that of another, and the plain nearest subspace would give its
        tracks away.
    n_tracks : int
        That it was fitted to.
    """

    subspace: Subspace
    deviation_px: float
    n_tracks: int

    @classmethod
    def of(
        cls,
        positions: np.ndarray,
        visible: np.ndarray,
        filled: np.ndarray,
        n_dimensions: int = MOTION_DIMENSIONS,
    ) -> "FittedMotion":
        """Fit to the tracks of a motion, whose gaps are filled for a start."""
        subspace = fit_with_gaps(positions, visible, filled, n_dimensions)
        squared = squared_distances(positions, visible, subspace)
        freedom = _freedom(visible, n_dimensions)
        deviation = float(np.sqrt(squared.sum() / freedom.sum()))
        return cls(subspace, max(deviation, LEAST_NOISE_PX), len(positions))

    def residuals(self, positions: np.ndarray, visible: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Root mean square distance of tracks per degree of freedom, (P,), in pixels.

        Of the motion's own tracks, `own` (P,) bool, to the subspace that the others would have had, to first
        order: a track that is far from all the others turns the subspace its way.
        """
        places, squared = self.subspace.coordinates(positions, visible)
        leverage = np.where(own, (1 + np.sum(places**2, axis=1)) / self.n_tracks, 0.0)
        plain = np.sqrt(squared / _freedom(visible, self.subspace.directions.shape[2]))
        return plain / np.maximum(1 - leverage, LEAST_SLACK)

    def costs(self, positions: np.ndarray, visible: np.ndarray) -> np.ndarray:
        """Minus twice the log likelihood of tracks, (P,), but for a constant of each track."""
        freedom = _freedom(visible, self.subspace.directions.shape[2])
        squared = squared_distances(positions, visible, self.subspace)
        return squared / self.deviation_px**2 + 2 * freedom * np.log(self.deviation_px)


def _freedom(visible: np.ndarray, n_dimensions: int) -> np.ndarray:
    return np.maximum(2 * visible.sum(axis=1) - n_dimensions, 1)


def fit_with_gaps(
    positions: np.ndarray, visible: np.ndarray, filled: np.ndarray, n_dimensions: int = MOTION_DIMENSIONS
) -> Subspace:
    """Fit one subspace to tracks with gaps: fit to the filled tracks, fill from the fit, repeat."""
    subspace = fit_subspace(filled, n_dimensions)
    if visible.all():
        return subspace
    for _ in range(N_FILLINGS):
        nearest = subspace.nearest(positions, visible)
        subspace = fit_subspace(np.where(visible[:, :, None], positions, nearest), n_dimensions)
    return subspace
