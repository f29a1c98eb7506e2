"""What tracks say of their motions before anybody segments them: computed once, used by all candidates."""

from functools import cached_property

import numpy as np

from ...features.completion import denoised_tracks, filled_tracks, noise_px
from ...features.velocities import principal_coordinates, velocities
from .adaptive_graphs import adaptive_graph
from .ordered_residuals import PairKernel, frame_pairs, ordered_residual_kernel
from .spectral import least_eigenvalues, spectral_clustering
from .ssc import sparse_subspace_affinity

MOST_MOTIONS = 6
MODELS = ("affine", "homography", "fundamental")
NEAR = "near fundamental"
SUMS = {"all": MODELS, "near all": ("affine", "homography", NEAR)}
N_FITTED_PAIRS = 6
N_BEST = 5  # agreements of a track, whose mean is its strength
STRAY_SHARE = 0.55  # of the median strength
N_STRAY_PASSES = 3
LEAST_STRAYS = 0.02  # of the tracks; fewer do no harm
LEAST_KEPT = 0.5  # of the tracks; with more strays than others there is no telling which is which
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
        self._graphs: dict[tuple[str, float], np.ndarray] = {}
        self._eigenvalues: dict[tuple[str, float], np.ndarray] = {}
        self._cuts: dict[tuple[str, float, int], np.ndarray] = {}

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
    def _affine(self) -> PairKernel:
        return ordered_residual_kernel(self.steady, self.visible, "affine", self._pairs())

    def _pairs(self) -> list[tuple[int, int]]:
        return frame_pairs(self.n_frames, [gap for gap in self._gaps() if gap < self.n_frames])

    @cached_property
    def kernels(self) -> dict[str, PairKernel]:
        """Ordered residual kernels of each model, and their mean under "all".

        Samples are drawn from all tracks. Eight tracks at random are seldom of one small motion, so there is
        a second kernel of fundamental matrices, `NEAR`, with samples of tracks that agree by affine maps.
        """
        pairs = self._pairs()
        found = {"affine": self._affine} | {
            model: ordered_residual_kernel(self.steady, self.visible, model, pairs) for model in MODELS[1:]
        }
        mean = np.mean([kernel.similarity for kernel in found.values()], axis=0)
        guide = found["affine"].similarity
        found[NEAR] = ordered_residual_kernel(self.steady, self.visible, "fundamental", pairs, guide=guide)
        return {**found, "all": PairKernel(mean, found["affine"].shared)}

    @cached_property
    def strays(self) -> np.ndarray:
        """Tracks that agree with hardly any other, (P,) bool: their best agreements are far below the usual.

        On Hopkins 155 with a fifth of the tracks replaced by random walks, inliers have 0.6 of the median or
        more but for a few, random walks 0.3 to 0.6.
        """
        similarity = self._affine.similarity.copy()
        np.fill_diagonal(similarity, 0)
        strength = np.sort(similarity, axis=1)[:, -N_BEST:].mean(axis=1)
        return np.asarray(strength < STRAY_SHARE * np.median(strength))

    def without_strays(self) -> tuple["MotionCues", np.ndarray]:
        """Leave out strays, and those that then stand out.

        Returns
        -------
        cues : MotionCues
            Of the tracks that are kept.
        kept : ndarray of shape (P,), bool
            At least the share `LEAST_KEPT`.
        """
        cues, kept = self, np.ones(len(self.positions), dtype=bool)
        for _ in range(N_STRAY_PASSES):
            left = ~cues.strays
            if left.mean() > 1 - LEAST_STRAYS or left.sum() < LEAST_KEPT * len(kept):
                break
            cues = MotionCues(cues.positions[left], cues.visible[left])
            kept[kept] = left
        return cues, kept

    def graph(self, name: str, power: float) -> np.ndarray:
        """Return the adaptive graph of a kernel, or the sum of several by a name of `SUMS`, (P, P)."""
        key = (name, power)
        if key not in self._graphs:
            parts = SUMS.get(name)
            self._graphs[key] = (
                np.sum([self.graph(part, power) for part in parts], axis=0)
                if parts
                else adaptive_graph(self.kernels[name], power)
            )
        return self._graphs[key]

    def cut(self, name: str, power: float, n_motions: int) -> np.ndarray:
        """Cut such a graph into motions, (P,) int64 from 0."""
        key = (name, power, n_motions)
        if key not in self._cuts:
            self._cuts[key] = spectral_clustering(self.graph(name, power), n_motions)
        return self._cuts[key]

    def eigengap(self, name: str, power: float, n_motions: int) -> float:
        """Return how much more it takes to cut such a graph into one more motion.

        The gap after the K-th eigenvalue of its normalised Laplacian, which is largest for the right K where
        the graph has K clear parts (U. von Luxburg. A tutorial on spectral clustering. Statistics and
        Computing 17(4), 2007; section 8.3).
        """
        key = (name, power)
        if key not in self._eigenvalues:
            most = min(MOST_MOTIONS + 1, len(self.positions))
            self._eigenvalues[key] = least_eigenvalues(self.graph(name, power), most)
        values = self._eigenvalues[key]
        return float(values[n_motions] - values[n_motions - 1]) if n_motions < len(values) else 0.0

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
