"""Linear responses on a dense matrix, kept feature by feature."""

from functools import cache

import numpy as np
from numba import njit

from ...features.threads import share
from ..iterate import nesterov_step
from ..loss_kernels import mean_slopes, mean_value
from ..losses import PointwiseLoss
from .design import CHUNK_ROWS, REASSOCIATE, TASK_VISITS, KeptColumns, ResidentDesign, row_sums


class DenseDesign(ResidentDesign):
    """A dense matrix in memory.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_rows), float32 or float64, C order
        Feature-major: one contiguous row per feature. Read, never written.
    """

    n_coefficients = 1

    def __init__(self, columns: np.ndarray) -> None:
        self.columns = KeptColumns(columns)
        self.n_features, self.n_rows = columns.shape

    def keep(self, indices: np.ndarray) -> None:
        self.columns.keep(indices)
        self.n_features = len(indices)

    def response(self, beta: np.ndarray, intercept: np.ndarray, start: int, stop: int) -> np.ndarray:
        out = np.empty((len(beta), stop - start))
        data = self.columns.values, self.columns.kept
        share(
            len(beta) * -(-(stop - start) // CHUNK_ROWS),
            lambda first, last: dense_response(*data, beta, intercept, start, first, last, out),
            least=TASK_VISITS // (CHUNK_ROWS * self.n_features),
        )
        return out

    def gradient(self, residual: np.ndarray, start: int, stop: int) -> np.ndarray:
        out = np.empty((len(residual), self.n_features, 1))
        data = self.columns.values, self.columns.kept
        share(
            self.n_features,
            lambda first, last: dense_gradient(*data, residual, start, first, last, out),
            least=TASK_VISITS // residual.size,
        )
        return out

    def descend(self, loss, penalty, batches, iterate, step, guard) -> tuple[float, float]:
        """Take the steps in one compiled call, where they are not worth threads.

        With few features left, a gradient step costs less than the interpreter's way to its kernels. The
        kernels are the same, and so is the result to the last bit.
        """
        largest = self.n_features * max(stop - start for start, stop in batches)
        compiled = type(self) is DenseDesign and isinstance(loss, PointwiseLoss) and loss.is_compiled
        if not compiled or penalty is not None or largest >= 2 * TASK_VISITS:
            return super().descend(loss, penalty, batches, iterate, step, guard)
        assert isinstance(loss, PointwiseLoss)
        starts = [start for start, _ in batches[iterate.n_steps :]]
        value, relative_move = _descent_of(loss.pair)(
            (self.columns.values, self.columns.kept),
            (loss.parameters, loss.target, loss.weight),
            np.array([*starts, batches[-1][1]]),
            (iterate.beta, iterate.velocity, iterate.intercept, iterate.intercept_velocity),
            (guard.beta, guard.intercept),
            (step, iterate.momentum, guard.bound),
        )
        iterate.n_steps = len(batches) - (not guard.accepts(value))
        return value, relative_move


@njit(cache=True, fastmath=REASSOCIATE)
def _respond_chunk(columns, kept, beta, start, out):
    """out += sum_j beta_j * column_j, four features a sweep so that `out` is loaded once for four."""
    n = len(out)
    m = len(kept)
    quads = m - m % 4
    for j in range(0, quads, 4):
        a, b, c, d = beta[j, 0], beta[j + 1, 0], beta[j + 2, 0], beta[j + 3, 0]
        p = columns[kept[j]][start : start + n]
        q = columns[kept[j + 1]][start : start + n]
        r = columns[kept[j + 2]][start : start + n]
        s = columns[kept[j + 3]][start : start + n]
        for i in range(n):
            out[i] += a * p[i] + b * q[i] + c * r[i] + d * s[i]
    for j in range(quads, m):
        a = beta[j, 0]
        p = columns[kept[j]][start : start + n]
        for i in range(n):
            out[i] += a * p[i]


@njit(cache=True, nogil=True)
def dense_response(columns, kept, beta, intercept, start, first_chunk, last_chunk, out):
    """Fill some chunks of `out`, which are counted through one output after another."""
    n_chunks = (out.shape[1] + CHUNK_ROWS - 1) // CHUNK_ROWS
    for number in range(first_chunk, last_chunk):
        o, first = number // n_chunks, number % n_chunks * CHUNK_ROWS
        chunk = out[o][first : first + CHUNK_ROWS]
        chunk[:] = intercept[o]
        _respond_chunk(columns, kept, beta[o], start + first, chunk)


@njit(cache=True, fastmath=REASSOCIATE)
def _dot(column, residual):
    total = 0.0
    for i in range(len(residual)):
        total += column[i] * residual[i]
    return total


@njit(cache=True, nogil=True)
def dense_gradient(columns, kept, residual, start, first_feature, last_feature, out):
    n = residual.shape[1]
    for j in range(first_feature, last_feature):
        column = columns[kept[j]][start : start + n]
        for o in range(out.shape[0]):
            out[o, j, 0] = _dot(column, residual[o])


@cache
def _descent_of(pair):
    """Return `_descend` for a loss: entering a kernel takes longer where the pair is an argument."""

    @njit(cache=True, nogil=True)
    def descend(data, of_loss, bounds, state, good, rule):
        return _descend(pair, data, of_loss, bounds, state, good, rule)

    return descend


@njit(cache=True, nogil=True)
def _descend(pair, data, of_loss, bounds, state, good, rule):
    """Do what `Design.descend` does, for the batches between the bounds."""
    columns, kept = data
    parameters, target, weight = of_loss
    beta, velocity, intercept, intercept_velocity = state
    step, momentum, largest_value = rule
    gradient = np.empty_like(beta)
    value, relative_move = 0.0, np.inf
    for b in range(len(bounds) - 1):
        start, n = bounds[b], bounds[b + 1] - bounds[b]
        response = np.empty((len(beta), n))
        n_chunks = len(beta) * ((n + CHUNK_ROWS - 1) // CHUNK_ROWS)
        dense_response(columns, kept, beta, intercept, start, 0, n_chunks, response)
        if b == len(bounds) - 2:
            value = mean_value(pair, parameters, response, target, weight, start, n)
            if not value <= largest_value:
                return value, np.inf
            good[0][:] = beta
            good[1][:] = intercept
        residual = np.empty_like(response)
        mean_slopes(pair, parameters, response, target, weight, start, n, residual)
        dense_gradient(columns, kept, residual, start, 0, len(kept), gradient)
        relative_move = nesterov_step(
            beta, velocity, gradient, intercept, intercept_velocity, row_sums(residual), step, momentum
        )
    return value, relative_move
