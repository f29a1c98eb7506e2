"""A penalty of one's own: piecewise linear responses that may rise and must hardly fall.

Below, the response to feature 3 rises and then falls slightly. Without the penalty its curve falls too.

>>> import numpy as np
>>> from annealed.models import FSARegressor
>>> X = np.random.default_rng(0).uniform(size=(500, 20))
>>> y = np.where(X[:, 3] < 0.5, 4 * X[:, 3], 2.2 - 0.4 * X[:, 3])
>>> free = FSARegressor(k=1, response="piecewise").fit(X, y)
>>> rising = FSARegressor(k=1, response="piecewise", penalty=Rising(100.0)).fit(X, y)
>>> free.get_support(indices=True), rising.get_support(indices=True)
(array([3]), array([3]))
>>> bool(np.diff(free.knot_values_).min() < -0.02)
True
>>> bool(np.diff(rising.knot_values_).min() > -0.001)
True
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Rising:
    """rho(beta_j) = strength * sum over k of max(b_k - b_{k+1}, 0)^2."""

    strength: float = 1.0

    def curvature(self, n_features: int) -> float:
        # The matrix of first differences has eigenvalues below 4, and the square a second derivative of 2.
        return 8 * self.strength

    def value(self, beta: np.ndarray) -> float:
        falls = np.minimum(np.diff(beta, axis=-1), 0)
        return self.strength * float(np.sum(falls**2))

    def add_gradient(self, beta: np.ndarray, gradient: np.ndarray) -> None:
        falls = (2 * self.strength) * np.minimum(np.diff(beta, axis=-1), 0)
        gradient[..., 1:] += falls
        gradient[..., :-1] -= falls
