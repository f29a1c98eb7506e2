"""Classification losses with their duals, and the best intercept for given responses.

For responses f (n_samples, n_outputs), labels y of -1 and +1 and costs c (n_samples, 1) the loss is

    p(f) = sum_ij c_i l(y_ij (f_ij + b_j)),      b_j the best intercept (or 0)

with l(m) = max(1 - m, 0)^2 / 2 for the squared hinge and log(1 + exp(-m)) for the logistic loss. Its dual
form is p(f) = max_alpha dual_value(alpha) - sum alpha y f, reached at alpha = -c l'(m) (Theorem 4), with
sum_i alpha_ij y_ij = 0 where there is an intercept. The paper's equations (7) and (35) leave out the sum of
alpha that belongs to the squared hinge, and (37) has the logistic loss without its constants.
"""

from abc import ABC, abstractmethod

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, xlogy

MAX_NEWTON = 200
INTERCEPT_TOL = 1e-12


class MarginLoss(ABC):
    """A loss of margins, bound to labels and costs.

    Parameters
    ----------
    y : ndarray of shape (n_samples, n_outputs), float64
        -1 or +1.
    cost : ndarray of shape (n_samples,), float64
        Positive; C times the sample's weight.
    fit_intercept : bool
    """

    def __init__(self, y: np.ndarray, cost: np.ndarray, fit_intercept: bool):
        self.y = y
        self.cost = cost[:, None]
        self.fit_intercept = fit_intercept
        self._intercept = np.zeros(y.shape[1])
        # Both classes are there for every output; beyond this, one of them decides the derivative's sign.
        positive = np.where(y > 0, self.cost, 0.0).sum(axis=0)
        self._reach = 1.0 + np.abs(np.log(positive / (self.cost.sum() - positive))) if fit_intercept else 0.0

    @abstractmethod
    def _losses(self, margin: np.ndarray) -> np.ndarray:
        """Return l for each margin."""

    @abstractmethod
    def _slopes(self, margin: np.ndarray) -> np.ndarray:
        """Return -l' for each margin."""

    @abstractmethod
    def _curvatures(self, margin: np.ndarray) -> np.ndarray:
        """Return l'' for each margin."""

    @abstractmethod
    def dual_value(self, alpha: np.ndarray) -> float:
        """Return the part of the dual objective that does not depend on the features."""

    @abstractmethod
    def dual_bound(self, alpha: np.ndarray, square: float) -> float:
        """Return max_s dual_value(s alpha) - s^2 square / 2 over feasible s, a bound on an optimum.

        `square` is the square of the features' dual norm of alpha y.
        """

    def value(self, response: np.ndarray) -> float:
        """Return p."""
        return float(np.sum(self.cost * self._losses(self._margin(response))))

    def dual(self, response: np.ndarray) -> np.ndarray:
        """Return alpha, shape (n_samples, n_outputs). The gradient of p is -alpha y."""
        return self.cost * self._slopes(self._margin(response))

    def intercept(self, response: np.ndarray) -> np.ndarray:
        """Return the intercept that minimises the loss, shape (n_outputs,).

        The derivative rises with the intercept, and its zero lies where the larger of the two classes cannot
        outweigh the other: Newton's method is kept inside that bracket. It starts from the last call's
        result, which is near during an optimisation.
        """
        if not self.fit_intercept:
            return np.zeros(self.y.shape[1])
        high = np.abs(response).max(axis=0) + self._reach
        low = -high
        b = np.clip(self._intercept, low, high)
        for _ in range(MAX_NEWTON):
            margin = self.y * (response + b)
            slope = -np.sum(self.y * self.cost * self._slopes(margin), axis=0)
            if np.all(np.abs(slope) <= INTERCEPT_TOL * self.cost.sum()):
                break
            low, high = np.where(slope < 0, b, low), np.where(slope > 0, b, high)
            curvature = np.sum(self.cost * self._curvatures(margin), axis=0)
            with np.errstate(over="ignore"):  # a flat loss proposes infinity, which lies outside
                newton = b - slope / np.maximum(curvature, np.finfo(float).tiny)
            inside = (newton > low) & (newton < high)
            b = np.where(inside, newton, (low + high) / 2)
        self._intercept = b
        return b

    def _margin(self, response: np.ndarray) -> np.ndarray:
        return self.y * (response + self.intercept(response))


class SquaredHinge(MarginLoss):
    """l(m) = max(1 - m, 0)^2 / 2 (PROX-FGM)."""

    def _losses(self, margin):
        return 0.5 * np.maximum(1 - margin, 0.0) ** 2

    def _slopes(self, margin):
        return np.maximum(1 - margin, 0.0)

    def _curvatures(self, margin):
        return (margin < 1).astype(np.float64)

    def dual_value(self, alpha):
        return float(np.sum(alpha - alpha**2 / (2 * self.cost)))

    def dual_bound(self, alpha, square):
        curvature = float(np.sum(alpha**2 / self.cost)) + square
        return 0.5 * float(alpha.sum()) ** 2 / curvature if curvature > 0 else 0.0


class Logistic(MarginLoss):
    """l(m) = log(1 + exp(-m)) (PROX-SLR)."""

    def _losses(self, margin):
        return np.logaddexp(0.0, -margin)

    def _slopes(self, margin):
        return expit(-margin)

    def _curvatures(self, margin):
        slope = expit(-margin)
        return slope * (1 - slope)

    def dual_value(self, alpha):
        share = alpha / self.cost
        return float(-np.sum(self.cost * (xlogy(share, share) + xlogy(1 - share, 1 - share))))

    def dual_bound(self, alpha, square):
        largest = float(np.max(alpha / self.cost))
        found = minimize_scalar(
            lambda s: 0.5 * s * s * square - self.dual_value(s * alpha),
            bounds=(0.0, 1 / largest),
            method="bounded",
        )
        return max(-float(found.fun), self.dual_value(alpha) - 0.5 * square)
