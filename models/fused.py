"""An iteration over dense data in one compiled call.

With few features left, a gradient step costs less than the interpreter's way to its kernels. This is
`Annealer._pass_over` for the commonest case, from the same kernels, so with the same result to the
last bit. (Compiled code is cached by file: after a change to one of the kernels imported here, touch
this file.)
"""

import numpy as np
from numba import njit

from .designs.dense import DenseDesign, dense_gradient, dense_response
from .designs.design import CHUNK_ROWS, TASK_VISITS, Design
from .losses import Loss, PointwiseLoss, mean_value, pointwise_derivative
from .penalties import Penalty
from .steps import nesterov_step


def can_fuse(design: Design, loss: Loss, penalty: Penalty | None, batches: list[tuple[int, int]]) -> bool:
    """Whether `fused_pass` can take an iteration: dense, pointwise, unpenalized, and not worth threads."""
    if type(design) is not DenseDesign or not isinstance(loss, PointwiseLoss) or penalty is not None:
        return False
    largest_batch = max(stop - start for start, stop in batches)
    return design.n_features * largest_batch < 2 * TASK_VISITS


def fused_pass(
    design: Design,
    loss: Loss,
    batches: list[tuple[int, int]],
    state: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    good: tuple[np.ndarray, np.ndarray],
    rule: tuple[float, float, float],
) -> tuple[float, float]:
    """Take one gradient step per batch.

    Parameters
    ----------
    design, loss, batches
        For which `can_fuse` holds.
    state : tuple of ndarray
        beta, velocity, intercept and velocity of the intercept; changed in place.
    good : tuple of ndarray
        Take beta and the intercept from before the last step.
    rule : tuple of float
        Step length, momentum, and the loss that counts as divergence: beyond it, the last step is not
        taken and `good` stays.

    Returns
    -------
    value, relative_move : float
        Loss on the last batch before its step, and how far that step's gradient moves a coefficient.
    """
    assert isinstance(design, DenseDesign)
    assert isinstance(loss, PointwiseLoss)
    bounds = np.array([batches[0][0], *(stop for _, stop in batches)])
    data = design.columns.values, design.columns.kept
    return _fused_pass(data, (loss.kind, loss.h, loss.target, loss.weight), bounds, state, good, rule)


@njit(cache=True)
def _fused_pass(data, bound_loss, bounds, state, good, rule):
    columns, rows = data
    kind, h, target, weight = bound_loss
    beta, velocity, intercept, intercept_velocity = state
    step, momentum, worst_value = rule
    gradient = np.empty_like(beta)
    value, relative_move = 0.0, np.inf
    for b in range(len(bounds) - 1):
        start = bounds[b]
        response = np.empty((len(beta), bounds[b + 1] - start))
        n_chunks = len(beta) * ((response.shape[1] + CHUNK_ROWS - 1) // CHUNK_ROWS)
        dense_response(columns, rows, beta, intercept, start, 0, n_chunks, response)
        if b == len(bounds) - 2:
            value = mean_value(kind, h, response, target, weight, start)
            if not value <= worst_value:
                return value, np.inf
            good[0][:] = beta
            good[1][:] = intercept
        residual = np.empty_like(response)
        pointwise_derivative(kind, h, response, target, weight, start, residual)
        dense_gradient(columns, rows, residual, start, 0, len(rows), gradient)
        relative_move = nesterov_step(
            beta, velocity, gradient, intercept, intercept_velocity, residual, step, momentum
        )
    return value, relative_move
