"""Feature selection with annealing: Algorithm 1, for any loss, penalty, schedule and design.

    beta = 0
    for e = 1 .. n_iter:
        take gradient steps on the loss over the features still kept      (equation 2)
        keep the M_e features with the largest coefficients                (equation 3)

Where this departs from the letter of the algorithm, and why:

- An iteration passes over the data in mini-batches while features leave, and in one batch once the k
  survivors only have to be trained. `batch_size=None` passes in one batch throughout;
  `batches_per_iteration` passes over some of the data in an iteration, and over others in the next.
- Steps have Nesterov momentum. `momentum=0` with `batch_size=None` is the algorithm as printed.
- The step is 1 / (largest eigenvalue of a bound on the Hessian), which is estimated again as features
  leave; `learning_rate` takes a number instead. An iteration that diverges is repeated from the last
  good state with half the step.
- Training ends early once the k survivors have converged.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from numba import njit

from ..features.errors import DataError, ParameterError
from .designs.design import Design
from .fused import can_fuse, fused_pass
from .losses import Loss
from .penalties import Penalty
from .schedules import InverseSchedule
from .steps import StepLength, nesterov_step
from .survivors import Survivors

DIVERGED = 2.0  # a loss of this many times that of the empty model is a failure, not a phase


class Progress(NamedTuple):
    """What a callback is told after each iteration."""

    iteration: int
    n_iter: int
    features_kept: int
    loss: float
    step: float
    seconds: float


@dataclass
class Trace:
    """Each iteration: loss on its last batch (before that step), features kept, step, seconds."""

    loss: list[float] = field(default_factory=list)
    features_kept: list[int] = field(default_factory=list)
    step: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.loss)

    def append(self, progress: Progress) -> None:
        self.loss.append(progress.loss)
        self.features_kept.append(progress.features_kept)
        self.step.append(progress.step)
        self.seconds.append(progress.seconds)


@dataclass(frozen=True)
class AnnealingResult:
    """What an annealing run leaves.

    Attributes
    ----------
    kept : ndarray of shape (n_kept,), int64
        The selected features, ascending.
    beta : ndarray of shape (n_outputs, n_kept, n_coefficients), float64
    intercept : ndarray of shape (n_outputs,), float64
    ranking : ndarray of shape (n_features,), int64
        1 for the selected features, then 2, 3, ... for the others, those that left last first.
    trace : Trace
    """

    kept: np.ndarray
    beta: np.ndarray
    intercept: np.ndarray
    ranking: np.ndarray
    trace: Trace


def anneal(
    design: Design,
    loss: Loss,
    penalty: Penalty | None,
    schedule: InverseSchedule,
    *,
    batch_size: int | None = 250,
    batches_per_iteration: int | None = None,
    momentum: float = 0.9,
    learning_rate: float | str = "auto",
    groups: np.ndarray | None = None,
    always_keep: np.ndarray | None = None,
    tol: float = 1e-5,
    callback: Callable[[Progress], None] | None = None,
) -> AnnealingResult:
    """Select features and train a model on them (Algorithm 1).

    Parameters
    ----------
    design : Design
        The data. It is consumed: afterwards it holds the selected features only. Rows should come in
        random order, because a batch is a range of rows.
    loss : Loss
        Bound to the targets of the design's rows.
    penalty : Penalty or None
    schedule : InverseSchedule
        Counts features, or groups of features where `groups` is given.
    batch_size : int or None
        Rows in a batch while features leave; None for all rows.
    batches_per_iteration : int or None
        Batches that an iteration takes, after those that the one before took; None for all.
    momentum : float
        Nesterov momentum, at least 0 and below 1.
    learning_rate : "auto" or float
    groups : ndarray of shape (n_features,), int, optional
        Group numbers from 0; the features of a group stay or leave together, scored by the root mean
        square of their coefficients.
    always_keep : ndarray of int, optional
        Features that never leave. They count among the k.
    tol : float
        Training of the survivors ends once a gradient step moves no coefficient by more than `tol`
        times the largest; 0 runs all iterations.
    callback : callable, optional
        Called with a `Progress` after each iteration.

    Returns
    -------
    AnnealingResult

    Examples
    --------
    >>> import numpy as np
    >>> from annealed.models.designs import DenseDesign
    >>> from annealed.models.losses import SquaredError
    >>> X = np.random.default_rng(0).standard_normal((200, 30))
    >>> y = 3 * X[:, 4] - 2 * X[:, 17]
    >>> design = DenseDesign(np.ascontiguousarray(X.T))
    >>> result = anneal(design, SquaredError(y), None, InverseSchedule(k=2))
    >>> result.kept, result.beta.round(3).ravel()
    (array([ 4, 17]), array([ 3., -2.]))
    """
    annealer = Annealer(
        design,
        loss,
        penalty,
        batch_size=batch_size,
        batches_per_iteration=batches_per_iteration,
        momentum=momentum,
        learning_rate=learning_rate,
        groups=groups,
        always_keep=always_keep,
        tol=tol,
        callback=callback,
    )
    return annealer.run(schedule)


def anneal_path(
    design: Design,
    loss: Loss,
    penalty: Penalty | None,
    schedule: InverseSchedule,
    ks: Sequence[int],
    **options,
) -> list[AnnealingResult]:
    """Select nested sets of features of several sizes in one run.

    Parameters
    ----------
    design, loss, penalty, options
        As for `anneal`.
    schedule : InverseSchedule
        Its `n_iter` and `mu` serve the largest size; every smaller one is annealed from the one before
        in a fifth of the iterations. Its `k` is not used.
    ks : sequence of int
        Sizes of the path, in any order.

    Returns
    -------
    list of AnnealingResult
        One per distinct size, largest first.
    """
    sizes = sorted(set(ks), reverse=True)
    annealer = Annealer(design, loss, penalty, **options)
    path = [annealer.run(InverseSchedule(sizes[0], schedule.n_iter, schedule.mu))]
    for k in sizes[1:]:
        path.append(annealer.run(InverseSchedule(k, max(1, schedule.n_iter // 5), schedule.mu)))
    return path


class Annealer:
    """The state of a run: coefficients, velocities, and which features are still there.

    Parameters are those of `anneal`. `run` may be called again with a smaller k, to go on from where
    the run before ended.
    """

    def __init__(
        self,
        design: Design,
        loss: Loss,
        penalty: Penalty | None,
        *,
        batch_size: int | None = 250,
        batches_per_iteration: int | None = None,
        momentum: float = 0.9,
        learning_rate: float | str = "auto",
        groups: np.ndarray | None = None,
        always_keep: np.ndarray | None = None,
        tol: float = 1e-5,
        callback: Callable[[Progress], None] | None = None,
    ) -> None:
        _check_options(batch_size, batches_per_iteration, momentum, learning_rate, tol)
        if design.n_rows != loss.n_rows:
            raise DataError(f"the design has {design.n_rows} rows, the loss {loss.n_rows}")
        self.design = design
        self.loss = loss
        self.penalty = penalty
        self.batch_size = batch_size
        self.batches_per_iteration = batches_per_iteration
        self.momentum = momentum
        self.tol = tol
        self.callback = callback
        self.steps = StepLength(design, loss, penalty, learning_rate)
        self.survivors = Survivors(design.n_features, groups, always_keep)
        self.beta = np.zeros((loss.n_outputs, design.n_features, design.n_coefficients))
        self.velocity = np.zeros_like(self.beta)
        self.intercept = loss.initial_intercept()
        self.intercept_velocity = np.zeros_like(self.intercept)
        self.good = self.beta.copy(), self.intercept.copy()
        self.trace = Trace()
        self.started = time.perf_counter()

    def run(self, schedule: InverseSchedule) -> AnnealingResult:
        """Anneal down to the schedule's k and train the survivors."""
        sizes = schedule.features_kept(self.survivors.n_units)
        self.survivors.check_size(int(sizes[-1]))
        batches = self.loss.splits(self.batch_size)
        self.worst_loss = self._worst_loss(*batches[-1])
        for e, size in enumerate(sizes, start=1):
            if self.survivors.n_units == sizes[-1] and len(batches) > 1:
                batches = self.loss.splits(None)
                self.worst_loss = self._worst_loss(*batches[-1])
                self._forget_velocity()
            value, relative_move = self._pass_over(self._batches_of_iteration(batches, e))
            if size < self.survivors.n_units:
                self._keep(self.survivors.choose(_norms(self.beta), int(size)))
                relative_move = np.inf
            self._report(e, schedule.n_iter, value)
            if self.survivors.n_units == sizes[-1] and relative_move <= self.tol:
                break
        return AnnealingResult(
            self.survivors.kept.copy(),
            self.beta.copy(),
            self.intercept.copy(),
            self.survivors.ranking(),
            self.trace,
        )

    def _batches_of_iteration(self, batches: list[tuple[int, int]], e: int) -> list[tuple[int, int]]:
        """Return the batches that iteration e = 1, 2, ... takes."""
        n = self.batches_per_iteration or len(batches)
        first = (e - 1) % -(-len(batches) // n) * n
        return batches[first : first + n]

    def _pass_over(self, batches: list[tuple[int, int]]) -> tuple[float, float]:
        """Take one gradient step per batch (equation 2), again with half the step if the loss diverges.

        Returns the loss on the last batch before its step, and how far that step's gradient moves a
        coefficient, relative to the largest one.
        """
        fused = can_fuse(self.design, self.loss, self.penalty, batches)
        while True:
            step = self.steps.current()
            value, relative_move = self._fused_steps(batches, step) if fused else self._steps(batches, step)
            if value <= self.worst_loss:
                return value, relative_move
            self._back_off(*batches[-1])

    def _steps(self, batches: list[tuple[int, int]], step: float) -> tuple[float, float]:
        """Take the steps, but the last one only if the loss is not worse than it may be."""
        for start, stop in batches:
            block = self.design.block(start, stop)
            response = block.response(self.beta, self.intercept)
            if stop == batches[-1][1]:
                value = self._penalized_value(response, start, stop)
                if not value <= self.worst_loss:
                    return value, np.inf
                self.good = self.beta.copy(), self.intercept.copy()
            residual = self.loss.derivative(response, start, stop)
            gradient = block.gradient(residual)
            if self.penalty is not None:
                self.penalty.add_gradient(self.beta, gradient)
            relative_move = nesterov_step(
                self.beta,
                self.velocity,
                gradient,
                self.intercept,
                self.intercept_velocity,
                residual,
                step,
                self.momentum,
            )
        return value, relative_move

    def _fused_steps(self, batches: list[tuple[int, int]], step: float) -> tuple[float, float]:
        """Do what `_steps` does in one compiled call."""
        state = self.beta, self.velocity, self.intercept, self.intercept_velocity
        rule = step, self.momentum, self.worst_loss
        return fused_pass(self.design, self.loss, batches, state, self.good, rule)

    def _penalized_value(self, response: np.ndarray, start: int, stop: int) -> float:
        value = self.loss.value(response, start, stop)
        return value if self.penalty is None else value + self.penalty.value(self.beta)

    def _worst_loss(self, start: int, stop: int) -> float:
        """Loss of these rows that counts as divergence: a multiple of that without any feature."""
        response = np.repeat(self.loss.initial_intercept()[:, None], stop - start, axis=1)
        return DIVERGED * self.loss.value(response, start, stop) + np.finfo(float).tiny

    def _back_off(self, start: int, stop: int) -> None:
        """Return to the last state with an acceptable loss, with half the step.

        Features that left since may have made that state worse than the bound: then the bound gives
        way, because no step is to blame.
        """
        self.beta, self.intercept = self.good[0].copy(), self.good[1].copy()
        self._forget_velocity()
        self.steps.halve()
        response = self.design.block(start, stop).response(self.beta, self.intercept)
        value = self._penalized_value(response, start, stop)
        self.worst_loss = max(self.worst_loss, DIVERGED * value)

    def _keep(self, indices: np.ndarray) -> None:
        self.design.keep(indices)
        self.beta = np.ascontiguousarray(self.beta[:, indices])
        self.velocity = np.ascontiguousarray(self.velocity[:, indices])
        self.good = np.ascontiguousarray(self.good[0][:, indices]), self.good[1]
        self.steps.keep(indices)

    def _forget_velocity(self) -> None:
        self.velocity[:] = 0
        self.intercept_velocity[:] = 0

    def _report(self, e: int, n_iter: int, value: float) -> None:
        seconds = time.perf_counter() - self.started
        progress = Progress(e, n_iter, self.design.n_features, value, self.steps.last, seconds)
        self.trace.append(progress)
        if self.callback is not None:
            self.callback(progress)


@njit(cache=True)
def _norms(beta):
    """Norm of each feature's coefficients over outputs and block, shape (n_features,)."""
    n_outputs, n_features, n_coefficients = beta.shape
    norms = np.zeros(n_features)
    for o in range(n_outputs):
        for j in range(n_features):
            for k in range(n_coefficients):
                norms[j] += beta[o, j, k] ** 2
    return np.sqrt(norms)


def _check_options(
    batch_size: int | None,
    batches_per_iteration: int | None,
    momentum: float,
    learning_rate: float | str,
    tol: float,
) -> None:
    for name, count in (("batch_size", batch_size), ("batches_per_iteration", batches_per_iteration)):
        if count is not None and not (isinstance(count, Integral) and count >= 1):
            raise ParameterError(f"{name} must be None or an integer of at least 1, got {count!r}")
    if not (isinstance(momentum, Real) and 0 <= momentum < 1):
        raise ParameterError(f"momentum must be a number of at least 0 and below 1, got {momentum!r}")
    if not (isinstance(tol, Real) and tol >= 0):
        raise ParameterError(f"tol must be a number of at least 0, got {tol!r}")
    if learning_rate == "auto":
        return
    if not (isinstance(learning_rate, Real) and np.isfinite(learning_rate) and learning_rate > 0):
        raise ParameterError(f'learning_rate must be "auto" or a number above 0, got {learning_rate!r}')
