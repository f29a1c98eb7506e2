"""What tracks say of their motions before anybody segments them: computed once, used by all candidates."""

from functools import cached_property

import numpy as np

from ...features.completion import denoised_tracks, filled_tracks, noise_px
from ...features.velocities import principal_coordinates, velocities
from .ordered_residuals import PairKernel, frame_pairs, ordered_residual_kernel
from .ssc import sparse_subspace_affinity

MOST_MOTIONS = 6
MODELS = ("affine", "homography", "fundamental")
N_FITTED_PAIRS = 6
MUCH_NOISE_PX = 0.4
LEAST_VISIBLE = 0.75


class MotionCues:
    """Tracks, complete or with gaps, and what follows from them alone.

    Attributes
    ----------
    positions : ndarray of shape (P, F, 2), float64
        Pixels; zero where a point is not visible.
    visible : ndarray of shape (P, F), bool
    """

    def __init__(self, positions: np.ndarray, visible: np.ndarray) -> None:
        self.visible = np.asarray(visible, dtype=bool)
        self.positions = np.where(self.visible[:, :, None], positions, 0.0)

    @property
    def n_frames(self) -> int:
        return self.positions.shape[1]

    @cached_property
    def filled(self) -> np.ndarray:
        """The tracks with their gaps filled, (P, F, 2)."""
        return filled_tracks(self.positions, self.visible)

    @cached_property
    def size(self) -> float:
        """Root mean square distance of the visible points from their mean, in pixels."""
        points = self.positions[self.visible]
        return max(float(np.sqrt(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=1)))), 1e-6)

    @cached_property
    def steady(self) -> np.ndarray:
        """The tracks, (P, F, 2), with their noise taken off where there is much of it and it can be told.

        Where much is missing, what the gaps were filled with would pass for noise.
        """
        if self.visible.mean() < LEAST_VISIBLE or noise_px(self.filled) < MUCH_NOISE_PX:
            return self.positions
        return denoised_tracks(self.filled)

    @cached_property
    def kernels(self) -> dict[str, PairKernel]:
        """Ordered residual kernels of each model, and their mean under "all".

        The affine one is first, and guides the samples of the others.
        """
        n = self.n_frames
        pairs = frame_pairs(n, [gap for gap in self._gaps() if gap < n])
        found: dict[str, PairKernel] = {}
        for model in MODELS:
            guide = found["affine"].similarity if found else None
            found[model] = ordered_residual_kernel(self.steady, self.visible, model, pairs, guide=guide)
        mean = np.mean([kernel.similarity for kernel in found.values()], axis=0)
        return {**found, "all": PairKernel(mean, found["affine"].shared)}

    @cached_property
    def sparse_affinity(self) -> np.ndarray:
        """Affinity of sparse subspace clustering of the filled tracks, (P, P)."""
        return sparse_subspace_affinity(self.filled.reshape(len(self.filled), -1))

    @cached_property
    def velocity_coordinates(self) -> np.ndarray:
        """Principal coordinates of the filled tracks' velocities, for up to six motions."""
        return principal_coordinates(velocities(self.filled), 4 * MOST_MOTIONS)

    def _gaps(self) -> list[int]:
        return [1, max(1, self.n_frames // 8), max(1, self.n_frames // 4)]

    @cached_property
    def fitted_pairs(self) -> list[tuple[int, int]]:
        """Few pairs of frames, a quarter of the clip apart, for fits to whole motions."""
        return frame_pairs(self.n_frames, [max(1, self.n_frames // 4)], N_FITTED_PAIRS)
