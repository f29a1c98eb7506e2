"""Penalties rho on each feature's coefficient block (sections 2.3 and 2.5.1).

Every penalty knows its value, its gradient and a bound on its curvature (the largest eigenvalue of
its Hessian), which the automatic step takes into account. `beta` has shape (n_outputs, n_features,
n_coefficients) everywhere; neighbours along the last axis are neighbouring knots of one response
function.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from ..features.errors import ParameterError


class Penalty(Protocol):
    """What the annealing loop asks of a penalty."""

    def curvature(self, n_features: int) -> float:
        """Return the largest eigenvalue that the Hessian can have while so many features are kept."""
        ...

    def value(self, beta: np.ndarray) -> float:
        """Return the sum of rho over all blocks."""
        ...

    def add_gradient(self, beta: np.ndarray, gradient: np.ndarray) -> None:
        """Add the gradient at `beta` to `gradient`, in place."""
        ...


@runtime_checkable
class KeepsFeatures(Protocol):
    """A penalty that differs from feature to feature, and so is told which ones are left."""

    def keep(self, indices: np.ndarray) -> None:
        """Forget all features but those at these ascending positions."""
        ...

    def project(self, beta: np.ndarray) -> None:
        """Move coefficients to the nearest ones that are allowed, in place; called after each iteration."""
        ...


def _check_weight(name: str, value: float) -> None:
    if not (np.isfinite(value) and value >= 0):
        raise ParameterError(f"{name} must be a finite number of at least 0, got {value}")


@dataclass(frozen=True)
class Ridge:
    """Shrinkage rho(beta_j) = strength * ||beta_j||^2, equation (16)."""

    strength: float = 0.01

    def __post_init__(self) -> None:
        _check_weight("strength", self.strength)

    def at_size(self, n_features: int) -> float:
        """Return the strength while so many features are kept: always the same."""
        return self.strength

    def curvature(self, n_features: int) -> float:
        return 2 * self.strength

    def value(self, beta: np.ndarray) -> float:
        return self.strength * float(np.sum(beta**2))

    def add_gradient(self, beta: np.ndarray, gradient: np.ndarray) -> None:
        gradient += (2 * self.strength) * beta


@dataclass(frozen=True)
class FadingRidge:
    """Shrinkage that fades as features leave: strength * M_e / n_rows * ||beta_j||^2, M_e features kept.

    While there are more features than rows, their coefficients are mostly noise, and which of them are
    large is decided by chance unless they are shrunk. The shrinkage that predicts best is the ratio of
    noise to signal times the number of features over that of rows; it goes as features leave.

    Parameters
    ----------
    strength : float
        The ratio of noise to signal.
    n_rows : int
    sizes : tuple of int
        Numbers of features at which none is to leave any more (for a while): there `least` takes the place
        of `strength * M_e`.
    least : float
        1 is a prior of unit variance for the coefficients of a likelihood.
    """

    strength: float
    n_rows: int
    sizes: tuple[int, ...] = ()
    least: float = 0.0

    def __post_init__(self) -> None:
        _check_weight("strength", self.strength)
        _check_weight("least", self.least)

    def at_size(self, n_features: int) -> float:
        """Return the strength while so many features are kept."""
        return (self.least if n_features in self.sizes else self.strength * n_features) / self.n_rows

    def curvature(self, n_features: int) -> float:
        return 2 * self.at_size(n_features)

    def value(self, beta: np.ndarray) -> float:
        return self.at_size(beta.shape[1]) * float(np.sum(beta**2))

    def add_gradient(self, beta: np.ndarray, gradient: np.ndarray) -> None:
        gradient += (2 * self.at_size(beta.shape[1])) * beta


@dataclass(frozen=True)
class SecondDifference:
    """Shrinkage and smoothness of piecewise linear responses, equation (13).

    rho(beta_j) = strength * ||beta_j||^2 + smoothness * sum_k (b_{k+1} + b_{k-1} - 2 b_k)^2, the
    sum running over the inner knots.
    """

    strength: float = 0.01
    smoothness: float = 0.01

    def __post_init__(self) -> None:
        _check_weight("strength", self.strength)
        _check_weight("smoothness", self.smoothness)

    def curvature(self, n_features: int) -> float:
        # The rows (1, -2, 1) have norm squared 6 and a symbol of at most 16.
        return 2 * self.strength + 32 * self.smoothness

    def value(self, beta: np.ndarray) -> float:
        bends = np.diff(beta, n=2, axis=-1)
        return self.strength * float(np.sum(beta**2)) + self.smoothness * float(np.sum(bends**2))

    def add_gradient(self, beta: np.ndarray, gradient: np.ndarray) -> None:
        gradient += (2 * self.strength) * beta
        bends = (2 * self.smoothness) * np.diff(beta, n=2, axis=-1)
        gradient[..., :-2] += bends
        gradient[..., 1:-1] -= 2 * bends
        gradient[..., 2:] += bends


@dataclass(frozen=True)
class TotalVariation:
    """Smoothed total variation of piecewise linear responses, equation (14).

    rho(beta_j) = strength * sum_k h(b_k - b_{k-1}) with the Huber function h(d) = d^2 / (2 width) for
    |d| <= width and |d| - width / 2 beyond.
    """

    strength: float = 0.01
    width: float = 0.01

    def __post_init__(self) -> None:
        _check_weight("strength", self.strength)
        if not (np.isfinite(self.width) and self.width > 0):
            raise ParameterError(f"width must be a finite number above 0, got {self.width}")

    def curvature(self, n_features: int) -> float:
        # First differences have eigenvalues below 4.
        return 4 * self.strength / self.width

    def value(self, beta: np.ndarray) -> float:
        jumps = np.abs(np.diff(beta, axis=-1))
        huber = np.where(jumps <= self.width, jumps**2 / (2 * self.width), jumps - self.width / 2)
        return self.strength * float(np.sum(huber))

    def add_gradient(self, beta: np.ndarray, gradient: np.ndarray) -> None:
        slopes = self.strength * np.clip(np.diff(beta, axis=-1) / self.width, -1, 1)
        gradient[..., :-1] -= slopes
        gradient[..., 1:] += slopes
