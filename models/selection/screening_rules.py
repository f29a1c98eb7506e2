"""Rules that discard features before a lasso is solved.

    primal    min_w |y - D w|^2 / 2 + strength |w|_1
    dual      theta = projection of y / strength onto F = {theta: |d_i' theta| <= 1 for all i}
    link      strength * theta = y - D w,   and w_i = 0 wherever |d_i' theta| < 1

A region that holds theta bounds |d_i' theta|; where the bound is below 1 the feature is not needed. All
rules see the features only through inner products, so that one pass over the dictionary serves a step.

The regions come from two facts that hold for *any* feasible point t and *any* coefficients w:

    sphere        |theta - y / strength| <= |t - y / strength|    (theta is the nearest feasible point)
    half space    (D w)' theta <= |w|_1                           (sum of w_i d_i' theta, each at most |w_i|)

Where w is the exact solution at an earlier strength, the half space is the one through its dual point,
orthogonal to y / strength - theta, of the sequential dome; where it is approximate the half space still
holds, so that a solver's tolerance never discards a needed feature.

References
----------
L. El Ghaoui, V. Viallon, T. Rabbani. Safe Feature Elimination for the Lasso. Pacific J. Optimization 8, 2012.

Z. J. Xiang, P. J. Ramadge. Fast Lasso Screening Tests Based on Correlations. ICASSP 2012 (the dome).

R. Tibshirani et al. Strong Rules for Discarding Predictors in Lasso-Type Problems. JRSS B 74, 2012.

J. Wang, P. Wonka, J. Ye. Lasso Screening Rules via Dual Polytope Projection. JMLR 16, 2015 (EDPP).

Y. Wang, X. Chen, P. J. Ramadge. Feedback-Controlled Sequential Lasso Screening. arXiv 1608.06010, 2016.
"""

from dataclasses import dataclass

import numpy as np

MARGIN = 1e-9  # bounds are rounded numbers; a feature is discarded only if they clear 1 by this much


@dataclass(frozen=True)
class Dome:
    """A sphere cut by a half space: |theta - center| <= radius and normal' theta <= offset, |normal| = 1.

    Attributes
    ----------
    radius : float
    height : float
        (normal' center - offset) / radius: -1 or less where the half space cuts nothing off, 0 where it
        goes through the center, 1 where only one point is left.
    """

    radius: float
    height: float

    @classmethod
    def of(cls, radius: float, excess: float) -> "Dome":
        """Make the dome whose center lies `excess` outside the half space."""
        if radius <= 0:
            return cls(0.0, -1.0)
        return cls(radius, float(np.clip(excess / radius, -1.0, 1.0)))

    @property
    def diameter(self) -> float:
        """The largest distance between two points of the dome."""
        if self.height <= 0:
            return 2 * self.radius
        return 2 * self.radius * float(np.sqrt(1 - self.height**2))

    def bound(self, on_center: np.ndarray, on_normal: np.ndarray, norms: np.ndarray) -> np.ndarray:
        """Return the largest |d' theta| over the dome, for each feature d.

        Parameters
        ----------
        on_center, on_normal : ndarray of shape (n_features,)
            Inner products of the features with the center and with the normal.
        norms : ndarray of shape (n_features,)
        """
        return np.maximum(
            self._largest(on_center, on_normal, norms), self._largest(-on_center, -on_normal, norms)
        )

    def _largest(self, on_center, on_normal, norms):
        whole = on_center + self.radius * norms
        across = np.sqrt(np.maximum(norms**2 - on_normal**2, 0.0))
        cut = on_center + self.radius * (across * np.sqrt(1 - self.height**2) - self.height * on_normal)
        # the sphere's own maximum is reached where it lies within the half space
        return np.where(on_normal <= -self.height * norms, whole, cut)


def sphere_bound(on_center: np.ndarray, radius: float, norms: np.ndarray) -> np.ndarray:
    """Return the largest |d' theta| over a sphere, for each feature."""
    return np.abs(on_center) + radius * norms


def strong_bound(on_residual: np.ndarray, before: float, strength: float) -> np.ndarray:
    """Return what |d' theta| would be at most if d' (y - D w) changed no faster than the strength does.

    The sequential strong rule discards where |d' residual| < 2 strength - before. That is no theorem:
    what it discards must be checked against the conditions of optimality.
    """
    return (np.abs(on_residual) + before - strength) / strength


def edpp_bound(
    on_theta: np.ndarray, on_y: np.ndarray, on_normal: np.ndarray, norms: np.ndarray, geometry: "Step"
) -> np.ndarray:
    """Return the bound of the enhanced dual polytope projection: a sphere between theta and its ray's image.

    theta at the next strength lies within |v| / 2 of theta_before + v / 2, with v the part of
    y / strength - theta_before that is orthogonal to the ray y / before - theta_before.
    """
    on_v = on_y / geometry.strength - on_theta - geometry.along * on_normal
    return sphere_bound(on_theta + on_v / 2, geometry.across / 2, norms)


@dataclass(frozen=True)
class Step:
    """How y / strength lies to a feasible point t and a half space with the unit vector `normal`.

    Attributes
    ----------
    strength : float
    radius : float
        |y / strength - t|.
    excess : float
        How far y / strength lies outside the half space.
    along, across : float
        Length of y / strength - t along `normal`, and of what is left.
    """

    strength: float
    radius: float
    excess: float
    along: float
    across: float

    @classmethod
    def of(cls, y: np.ndarray, t: np.ndarray, normal: np.ndarray, offset: float, strength: float) -> "Step":
        """Measure it."""
        center = y / strength
        gap = center - t
        along = float(normal @ gap)
        across = float(np.linalg.norm(gap - along * normal))
        return cls(strength, float(np.linalg.norm(gap)), float(normal @ center) - offset, along, across)

    @property
    def dome(self) -> Dome:
        """The region of the (sequential) dome test."""
        return Dome.of(self.radius, self.excess)


def feedback(y: np.ndarray, normal: np.ndarray, before: float, target: float, diameter: float) -> float:
    """Return the next strength: the smallest whose dome is no wider than `diameter`, or the target.

    With t the dual point at `before` and the half space through it, the part of y / strength - t that is
    orthogonal to the normal is (1 / strength - 1 / before) times that of y, and the dome's diameter is
    twice its length. Each step therefore raises 1 / strength by at least diameter / (2 |y|), which bounds
    the number of steps.
    """
    across = float(np.linalg.norm(y - (normal @ y) * normal))
    if across <= 1e-12 * float(np.linalg.norm(y)):  # y and the dual point are aligned: the dome is a point
        return target
    return max(target, 1 / (1 / before + diameter / (2 * across)))
