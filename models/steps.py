"""The length of a gradient step."""

import numpy as np

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

    STATE = ("vector", "damping", "estimated_at", "undamped", "last")

    def __init__(
        self, design: Design, loss: Loss, penalty: Penalty | None, learning_rate: float | str
    ) -> None:
        self.design = design
        self.loss = loss
        self.penalty = penalty
        self.learning_rate = learning_rate
        self.rows = loss.splits(PROBE_ROWS)[0]
        shape = (loss.n_outputs, design.n_features, design.n_coefficients)
        # A fixed start that is not orthogonal to a common direction, nor to an alternating one.
        self.vector = np.cos(np.arange(np.prod(shape), dtype=np.float64)).reshape(shape) + 1.0
        self.damping = 1.0
        self.estimated_at = 0
        self.undamped = 0.0
        self.last = 0.0

    def current(self) -> float:
        """Return the length of the next steps."""
        if self.learning_rate != "auto":
            self.last = float(self.learning_rate) * self.damping
            return self.last
        if self.estimated_at == 0 or self.design.n_features <= PROBE_SHRINKAGE * self.estimated_at:
            limit = min(max(LEAST_LIMIT, FEATURE_ITERATIONS // self.design.n_features), LARGEST_LIMIT)
            curvature = self._largest_eigenvalue(limit)
            if self.penalty is not None and curvature > 0:
                curvature += self.penalty.curvature(self.design.n_features)
            self.undamped = 1 / curvature if curvature > 0 else 1.0
            self.estimated_at = self.design.n_features
        self.last = self.undamped * self.damping
        return self.last

    def halve(self) -> None:
        """Halve it for good; a DataError after too many times."""
        self.damping /= 2
        if self.damping < 0.5**MAX_HALVINGS:
            raise DataError("training diverges at any step length; are the features scaled?")

    def keep(self, indices: np.ndarray) -> None:
        """Forget all features but those at these positions."""
        self.vector = self.vector[:, indices]

    def _largest_eigenvalue(self, max_iter: int) -> float:
        hessian = self.design.hessian(self.loss, *self.rows)
        # Centred features and the intercept hardly mix, so each starts with a share of its own.
        vector = self.vector / max(np.linalg.norm(self.vector), np.finfo(float).tiny)
        intercept = np.ones(self.loss.n_outputs)
        eigenvalue = 0.0
        for n_done in range(1, max_iter + 1):
            norm = np.sqrt(np.sum(vector**2) + np.sum(intercept**2))
            if not norm > 0:
                break
            vector, intercept = hessian(np.ascontiguousarray(vector / norm), intercept / norm)
            before = eigenvalue
            eigenvalue = float(np.sqrt(np.sum(vector**2) + np.sum(intercept**2)))
            if n_done >= MIN_POWER_ITERATIONS and eigenvalue <= SETTLED * before:
                break
        self.vector = vector
        return eigenvalue
