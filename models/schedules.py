"""How many features are kept after each iteration.

Any slow enough schedule works (section 2.2); the cost of a run is the area under its curve.
"""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from ..features.errors import ParameterError


@dataclass(frozen=True)
class InverseSchedule:
    """The inverse schedule, equation (3).

    Parameters
    ----------
    k : int
        Features kept at the end.
    n_iter : int
        Iterations; the first half anneals, the second half trains the k survivors.
    mu : float
        Annealing rate: the larger, the faster features leave. Zero removes them linearly.
    """

    k: int
    n_iter: int = 500
    mu: float = 300.0

    def __post_init__(self) -> None:
        for name, value in (("k", self.k), ("n_iter", self.n_iter)):
            if not isinstance(value, Integral) or value < 1:
                raise ParameterError(f"{name} must be an integer of at least 1, got {value!r}")
        if not (isinstance(self.mu, Real) and np.isfinite(self.mu) and self.mu >= 0):
            raise ParameterError(f"mu must be a finite number of at least 0, got {self.mu!r}")

    def features_kept(self, n_features: int) -> np.ndarray:
        """Return M_e for e = 1 .. n_iter.

        Parameters
        ----------
        n_features : int
            M, the number of features at the start.

        Returns
        -------
        ndarray of shape (n_iter,), int64
            Never increasing, at most M; the last value is min(k, M), even for a single iteration.
        """
        target = min(self.k, n_features)
        e = np.arange(1, self.n_iter + 1)
        left = np.maximum(0.0, (self.n_iter - 2 * e) / (2 * e * self.mu + self.n_iter))
        kept = target + ((n_features - target) * left).astype(np.int64)
        kept[-1] = target
        return kept

    def cost(self, n_features: int) -> float:
        """Return the visits per sample: the area under the schedule (Table 1).

        Iteration e visits the features that the one before left, so the first visits all M and the
        area runs over M_0 = M, M_1, ... For k much smaller than M this is the table's
        c * M + k * n_iter, with c = 125 at mu = 0 and 5 at mu = 300 (n_iter = 500).
        """
        return float(n_features + self.features_kept(n_features)[:-1].sum())
