"""A gradient step and its length."""

import numpy as np
from numba import njit

from ..features.errors import DataError
from .designs.design import Design
from .losses import Loss
from .penalties import Penalty

PROBE_ROWS = 256  # rows that the curvature is estimated on
PROBE_SHRINKAGE = 0.65  # estimate the curvature again when this fraction of the features is left
SETTLED = 1.01  # a power iteration that gains less than this factor is the last
MIN_POWER_ITERATIONS = 3
# While there are many features an iteration is costly, and its estimate serves few steps.
FEATURE_ITERATIONS = 3000  # iterations times features, within the following bounds
LEAST_LIMIT, LARGEST_LIMIT = 4, 30
MAX_HALVINGS = 40


class StepLength:
    """The step length: 1 / L, with L estimated by power iterations on a bound of the Hessian.

    The Hessian of the loss is at most A' H A, with A the design (and a column of ones for the
    intercept) and H the loss's curvature in response space. Its largest eigenvalue only falls as
    features leave, so an estimate stays safe; it is renewed, from the eigenvector at hand, when
    enough of them have left to be worth it.
    """

    def __init__(
        self, design: Design, loss: Loss, penalty: Penalty | None, learning_rate: float | str
    ) -> None:
        self.design = design
        self.loss = loss
        self.penalty_curvature = 0.0 if penalty is None else penalty.curvature
        self.learning_rate = learning_rate
        self.rows = loss.splits(PROBE_ROWS)[0]
        shape = (loss.n_outputs, design.n_features, design.n_coefficients)
        # A fixed start that is not orthogonal to a common direction, nor to an alternating one.
        self.vector = np.cos(np.arange(np.prod(shape), dtype=np.float64)).reshape(shape) + 1.0
        self.damping = 1.0
        self.estimated_at = 0
        self.last = 0.0

    def current(self) -> float:
        if self.learning_rate != "auto":
            self.last = float(self.learning_rate) * self.damping
            return self.last
        if self.estimated_at == 0 or self.design.n_features <= PROBE_SHRINKAGE * self.estimated_at:
            limit = min(max(LEAST_LIMIT, FEATURE_ITERATIONS // self.design.n_features), LARGEST_LIMIT)
            curvature = self._largest_eigenvalue(limit)
            self.estimated_at = self.design.n_features
            self.undamped = 1 / (curvature + self.penalty_curvature) if curvature > 0 else 1.0
        self.last = self.undamped * self.damping
        return self.last

    def halve(self) -> None:
        self.damping /= 2
        if self.damping < 0.5**MAX_HALVINGS:
            raise DataError("training diverges at any step length; are the features scaled?")

    def keep(self, indices: np.ndarray) -> None:
        self.vector = self.vector[:, indices]

    def _largest_eigenvalue(self, max_iter: int) -> float:
        start, stop = self.rows
        block = self.design.block(start, stop)
        # Centred features and the intercept hardly mix, so each starts with a share of its own.
        self.vector = self.vector / max(np.linalg.norm(self.vector), np.finfo(float).tiny)
        intercept = np.ones(self.loss.n_outputs)
        eigenvalue = 0.0
        for n_done in range(1, max_iter + 1):
            norm = np.sqrt(np.sum(self.vector**2) + np.sum(intercept**2))
            if not norm > 0:
                return eigenvalue
            self.vector = np.ascontiguousarray(self.vector / norm)
            bent = self.loss.curvature(block.response(self.vector, intercept / norm), start, stop)
            self.vector = block.gradient(bent)
            intercept = bent.sum(axis=1)
            before = eigenvalue
            eigenvalue = float(np.sqrt(np.sum(self.vector**2) + np.sum(intercept**2)))
            if n_done >= MIN_POWER_ITERATIONS and eigenvalue <= SETTLED * before:
                break
        return eigenvalue


@njit(cache=True)
def nesterov_step(beta, velocity, gradient, intercept, intercept_velocity, residual, step, momentum):
    """Move the coefficients and the intercept in place; they hold Nesterov's look-ahead point.

    The gradient of an intercept is the sum of its residuals. Returns how far the gradient moves a
    coefficient or an intercept at most, relative to the largest coefficient.
    """
    largest_push = 0.0
    largest = 0.0
    for o in range(beta.shape[0]):
        for j in range(beta.shape[1]):
            for k in range(beta.shape[2]):
                push = step * gradient[o, j, k]
                velocity[o, j, k] = momentum * velocity[o, j, k] - push
                beta[o, j, k] += momentum * velocity[o, j, k] - push
                largest_push = max(largest_push, abs(push))
                largest = max(largest, abs(beta[o, j, k]))
        push = 0.0
        for i in range(residual.shape[1]):
            push += residual[o, i]
        push *= step
        intercept_velocity[o] = momentum * intercept_velocity[o] - push
        intercept[o] += momentum * intercept_velocity[o] - push
        largest_push = max(largest_push, abs(push))
    if largest_push == 0:
        return 0.0
    return largest_push / largest if largest > 0 else np.inf
