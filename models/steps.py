"""The length of a gradient step."""

import numpy as np

from ..features.errors import DataError
from .designs.base import Design
from .losses import Loss
from .penalties import Penalty

PROBE_ROWS = 256  # rows that the curvature is estimated on
PROBE_SHRINKAGE = 0.8  # estimate the curvature again when this fraction of the features is left
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
        shape = (loss.n_outputs, design.n_features, design.block_size)
        # A fixed start that is not orthogonal to a common direction, nor to an alternating one.
        self.vector = np.cos(np.arange(np.prod(shape), dtype=np.float64)).reshape(shape) + 1.0
        self.intercept = np.ones(loss.n_outputs)
        self.damping = 1.0
        self.estimated_at = 0
        self.last = 0.0

    def current(self) -> float:
        if self.learning_rate != "auto":
            self.last = float(self.learning_rate) * self.damping
            return self.last
        if self.estimated_at == 0 or self.design.n_features <= PROBE_SHRINKAGE * self.estimated_at:
            curvature = self._largest_eigenvalue(n_iter=6 if self.estimated_at == 0 else 3)
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

    def _largest_eigenvalue(self, n_iter: int) -> float:
        start, stop = self.rows
        block = self.design.block(start, stop)
        eigenvalue = 0.0
        for _ in range(n_iter):
            norm = np.sqrt(np.sum(self.vector**2) + np.sum(self.intercept**2))
            if not norm > 0:
                return eigenvalue
            self.vector = np.ascontiguousarray(self.vector / norm)
            self.intercept = self.intercept / norm
            bent = self.loss.curvature(block.response(self.vector, self.intercept), start, stop)
            self.vector = block.gradient(bent)
            self.intercept = bent.sum(axis=1)
            eigenvalue = float(np.sqrt(np.sum(self.vector**2) + np.sum(self.intercept**2)))
        return eigenvalue
