"""Where a descent is: coefficients, intercept and their momentum (equation 2)."""

import numpy as np
from numba import njit


class Iterate:
    """Coefficients and intercept at Nesterov's look-ahead point, and how they move.

    Attributes
    ----------
    beta, velocity : ndarray of shape (n_outputs, n_features, n_coefficients), float64
    intercept, intercept_velocity : ndarray of shape (n_outputs,), float64
    momentum : float
    n_steps : int
        Steps taken of the pass over the batches in progress.
    """

    STATE = ("beta", "velocity", "intercept", "intercept_velocity", "n_steps")

    def __init__(self, beta: np.ndarray, intercept: np.ndarray, momentum: float) -> None:
        self.beta = beta
        self.velocity = np.zeros_like(beta)
        self.intercept = intercept
        self.intercept_velocity = np.zeros_like(intercept)
        self.momentum = momentum
        self.n_steps = 0

    def move(self, gradient: np.ndarray, intercept_gradient: np.ndarray, step: float) -> float:
        """Take a step; return how far it moves a coefficient, relative to the largest one."""
        arrays = self.beta, self.velocity, gradient
        of_intercept = self.intercept, self.intercept_velocity, intercept_gradient
        relative_move = nesterov_step(*arrays, *of_intercept, step, self.momentum)
        self.n_steps += 1
        return relative_move

    def rest(self) -> None:
        """Forget the velocity."""
        self.velocity[:] = 0
        self.intercept_velocity[:] = 0

    def keep(self, indices: np.ndarray) -> None:
        """Forget all features but those at these positions."""
        self.beta = np.ascontiguousarray(self.beta[:, indices])
        self.velocity = np.ascontiguousarray(self.velocity[:, indices])


@njit(cache=True)
def nesterov_step(
    beta, velocity, gradient, intercept, intercept_velocity, intercept_gradient, step, momentum
):
    """Move the coefficients and the intercept in place; they hold Nesterov's look-ahead point.

    Returns how far the gradient moves a coefficient or an intercept at most, relative to the largest
    coefficient.
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
        push = step * intercept_gradient[o]
        intercept_velocity[o] = momentum * intercept_velocity[o] - push
        intercept[o] += momentum * intercept_velocity[o] - push
        largest_push = max(largest_push, abs(push))
    if largest_push == 0:
        return 0.0
    return largest_push / largest if largest > 0 else np.inf
