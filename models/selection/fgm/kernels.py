"""Additive kernels as groups of columns (sections 4.4 and 7.3): k(x, z) = sum_j k_j(x_j, z_j).

Each feature has an explicit map; only the columns of selected features are ever built, and the worst-case
analysis asks for the norm of each group.
"""

import numpy as np
from numba import njit

from ....features.errors import ParameterError
from ....features.threads import share
from .atoms import top

_TASK_VISITS = 1 << 17
"""Visits of a value that are worth a task of their own."""


class IntersectionAtoms:
    """Histogram intersection, k_j(x, z) = min(x, z), by a thermometer code of each feature.

    A feature is mapped to [0, 1] by its range in training and rounded down to one of `n_levels` levels q; its
    columns are sqrt(1 / n_levels) [q >= b] for b = 1 .. n_levels, whose inner product is the smaller of two
    values. A group's score is found from sums of the dual over each level, without its columns.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    n_levels : int
        From 1 to 255; the paper has 100.
    """

    def __init__(self, X: np.ndarray, n_levels: int = 100):
        self.map = IntersectionMap(X.min(axis=0), X.max(axis=0), n_levels)
        self.codes = np.asfortranarray(self.map.codes(X, np.arange(X.shape[1])))

    @property
    def n_atoms(self) -> int:
        return self.codes.shape[1]

    def scores(self, dual: np.ndarray) -> np.ndarray:
        """Return the score of every feature."""
        scores = np.empty(self.n_atoms)
        dual, n_levels = np.ascontiguousarray(dual), self.map.n_levels
        share(
            self.n_atoms,
            lambda first, last: _thermometer_scores(self.codes, dual, n_levels, first, last, scores),
            least=_TASK_VISITS // dual.size,
        )
        return scores

    def strongest(self, dual: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        return top(self.scores(dual), count)

    def columns(self, atoms: np.ndarray) -> np.ndarray:
        return np.asfortranarray(self.map.expand(self.codes[:, atoms]))

    def widths(self, atoms: np.ndarray) -> np.ndarray:
        return np.full(len(atoms), self.map.n_levels)


class IntersectionMap:
    """Ranges of features in training, and the thermometer code of values in them; values outside clamp."""

    def __init__(self, low: np.ndarray, high: np.ndarray, n_levels: int):
        self.low = low
        self.span = np.where(high > low, high - low, 1.0)
        self.n_levels = n_levels

    def codes(self, X: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Return the level of each value, 0 to n_levels, uint8."""
        position = (X[:, features] - self.low[features]) / self.span[features]
        return np.floor(np.clip(position, 0, 1) * self.n_levels).astype(np.uint8)

    def expand(self, codes: np.ndarray) -> np.ndarray:
        """Return the columns of some features' codes, shape (n_samples, n_features * n_levels)."""
        levels = np.arange(1, self.n_levels + 1)
        columns = (codes[:, :, None] >= levels) / np.sqrt(self.n_levels)
        return columns.reshape(len(codes), -1)

    def __call__(self, X: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Return the columns of some features."""
        return self.expand(self.codes(X, features))


@njit(cache=True, nogil=True)
def _thermometer_scores(codes, dual, n_levels, first, last, scores):
    """Write |columns^T dual|^2 of some features: sums over each level, added up from the top level down."""
    n, n_outputs = dual.shape
    for j in range(first, last):
        sums = np.zeros((n_levels + 1, n_outputs))
        for i in range(n):
            for o in range(n_outputs):
                sums[codes[i, j], o] += dual[i, o]
        total = 0.0
        for o in range(n_outputs):
            above = 0.0
            for level in range(n_levels, 0, -1):
                above += sums[level, o]
                total += above * above
        scores[j] = total / n_levels


class GaussianMap:
    """Fourier columns whose inner product is nearly exp(-theta (x - z)^2) for features mapped to [0, 1].

    The kernel, made periodic, is the series c_0 + sum_h c_h cos(h w (x - z)); the columns of harmonic h are
    sqrt(c_h) cos(h w x) and sqrt(c_h) sin(h w x). The constant is left to the intercept. Values outside the
    range of training clamp.

    Parameters
    ----------
    low, high : ndarray of shape (n_features,)
    theta : float
    n_harmonics : int
        5 gives, with the constant, the paper's 11 columns a feature.

    References
    ----------
    A. Vedaldi, A. Zisserman. Efficient Additive Kernels via Explicit Feature Maps. CVPR 2010.
    doi:10.1109/CVPR.2010.5539949
    """

    def __init__(self, low: np.ndarray, high: np.ndarray, theta: float = 4.0, n_harmonics: int = 5):
        self.low = low
        self.span = np.where(high > low, high - low, 1.0)
        # A period of the range, 1, and the distance beyond which the kernel is below exp(-9).
        period = 1.0 + 3.0 / np.sqrt(theta)
        self.frequency = 2 * np.pi / period
        harmonic = np.arange(n_harmonics + 1)
        spectrum = np.sqrt(np.pi / theta) * np.exp(-((harmonic * self.frequency) ** 2) / (4 * theta)) / period
        self.constant = float(spectrum[0])
        self.amplitude = np.sqrt(2 * spectrum[1:])

    @property
    def width(self) -> int:
        return 2 * len(self.amplitude)

    def __call__(self, X: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Return the columns of some features, shape (n_samples, n_features * width), float64."""
        position = np.clip((X[:, features] - self.low[features]) / self.span[features], 0, 1)
        angle = position[:, :, None] * (self.frequency * np.arange(1, len(self.amplitude) + 1))
        columns = np.concatenate([np.cos(angle) * self.amplitude, np.sin(angle) * self.amplitude], axis=2)
        return columns.reshape(len(X), -1)


class GaussianAtoms:
    """The additive Gaussian kernel: one group of Fourier columns a feature, made when they are asked for.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    theta, n_harmonics
        As for `GaussianMap`.
    block_size : int
        Features expanded together for scoring.
    """

    def __init__(self, X: np.ndarray, theta: float = 4.0, n_harmonics: int = 5, block_size: int = 64):
        self.X = X
        self.map = GaussianMap(X.min(axis=0), X.max(axis=0), theta, n_harmonics)
        self.block_size = block_size

    @property
    def n_atoms(self) -> int:
        return self.X.shape[1]

    def scores(self, dual: np.ndarray) -> np.ndarray:
        """Return the score of every feature."""
        scores = []
        for first in range(0, self.n_atoms, self.block_size):
            features = np.arange(first, min(first + self.block_size, self.n_atoms))
            products = self.map(self.X, features).T @ dual
            scores.append((products**2).reshape(len(features), -1).sum(axis=1))
        return np.concatenate(scores)

    def strongest(self, dual: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        return top(self.scores(dual), count)

    def columns(self, atoms: np.ndarray) -> np.ndarray:
        return np.asfortranarray(self.map(self.X, atoms))

    def widths(self, atoms: np.ndarray) -> np.ndarray:
        return np.full(len(atoms), self.map.width)


def check_kernel_parameters(n_levels, n_harmonics, theta) -> None:
    """Raise ParameterError unless the maps' parameters can be used."""
    for name, value, largest in (("n_levels", n_levels, 255), ("n_harmonics", n_harmonics, 1000)):
        if not isinstance(value, int | np.integer) or not 1 <= value <= largest:
            raise ParameterError(f"{name} must be an integer from 1 to {largest}, got {value!r}")
    if not (np.isfinite(theta) and theta > 0):
        raise ParameterError(f"theta must be positive, got {theta!r}")
