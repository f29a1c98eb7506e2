"""When a descent has diverged, and where it goes back to."""

import numpy as np

from .iterate import Iterate
from .losses import Loss

DIVERGED = 2.0  # a loss of this many times that of the empty model is a failure, not a phase


class DivergenceGuard:
    """Knows which losses are a failure, and the last point that was none.

    Attributes
    ----------
    bound : float
        The largest loss, of the batch watched, that is not taken for divergence.
    beta, intercept : ndarray
        The last good point.
    """

    STATE = ("bound", "beta", "intercept")

    def __init__(self, loss: Loss, iterate: Iterate) -> None:
        self.loss = loss
        self.bound = np.inf
        self.beta, self.intercept = iterate.beta.copy(), iterate.intercept.copy()

    def watch(self, start: int, stop: int) -> None:
        """Expect losses of these rows: a multiple of that without any feature is too much."""
        self.bound = DIVERGED * self.loss.empty_value(start, stop) + np.finfo(float).tiny

    def accepts(self, value: float) -> bool:
        """Whether this loss is none of a descent that diverged; what is not a number is."""
        return value <= self.bound

    def remember(self, iterate: Iterate) -> None:
        """Take the point for a good one."""
        np.copyto(self.beta, iterate.beta)
        np.copyto(self.intercept, iterate.intercept)

    def restore(self, iterate: Iterate, value: float) -> None:
        """Go back to the last good point, at rest; `value` is the loss there.

        Features that left since may have made that point worse than the bound: then the bound gives way,
        because no step is to blame.
        """
        iterate.beta, iterate.intercept = self.beta.copy(), self.intercept.copy()
        iterate.rest()
        iterate.n_steps = 0
        self.bound = max(self.bound, DIVERGED * value)

    def keep(self, indices: np.ndarray) -> None:
        """Forget all features but those at these positions."""
        self.beta = np.ascontiguousarray(self.beta[:, indices])
