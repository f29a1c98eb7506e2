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
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ..features.errors import DataError, ParameterError
from .additive import AdditiveModel
from .batches import Batches
from .designs.design import Design
from .divergence import DivergenceGuard
from .iterate import Iterate
from .losses import Loss
from .penalties import KeepsFeatures, Penalty
from .schedules import InverseSchedule
from .steps import StepLength
from .survivors import Survivors


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

    STATE = ("loss", "features_kept", "step", "seconds")

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


@dataclass(frozen=True, eq=False)
class AnnealingConfig:
    """How to anneal, whatever the problem.

    Attributes
    ----------
    batch_size : int or None
        Rows in a batch while features leave; None for all rows.
    batches_per_iteration : int or None
        Batches that an iteration takes, after those that the one before took; None for all.
    momentum : float
        Nesterov momentum, at least 0 and below 1.
    learning_rate : "auto" or float
    feature_groups : ndarray of shape (n_features,), int, optional
        Group numbers from 0; the features of a group stay or leave together, scored by the root mean
        square of their coefficients.
    always_keep : ndarray of int, optional
        Features that never leave. They count among the k.
    tol : float
        Training of the survivors ends once a gradient step moves no coefficient by more than `tol`
        times the largest; 0 runs all iterations.
    callback : callable, optional
        Called with a `Progress` after each iteration.
    checkpoint : callable, optional
        Called with `Annealer.state()` after each iteration, before `callback`.
    """

    batch_size: int | None = 250
    batches_per_iteration: int | None = None
    momentum: float = 0.9
    learning_rate: float | str = "auto"
    feature_groups: np.ndarray | None = None
    always_keep: np.ndarray | None = None
    tol: float = 1e-5
    callback: Callable[[Progress], None] | None = None
    checkpoint: Callable[[dict[str, np.ndarray]], None] | None = None

    def __post_init__(self) -> None:
        for name in ("batch_size", "batches_per_iteration"):
            count: Any = getattr(self, name)
            if count is not None and (not isinstance(count, Integral) or int(count) < 1):
                raise ParameterError(f"{name} must be None or an integer of at least 1, got {count!r}")
        if not (isinstance(self.momentum, Real) and 0 <= self.momentum < 1):
            raise ParameterError(
                f"momentum must be a number of at least 0 and below 1, got {self.momentum!r}"
            )
        if not (isinstance(self.tol, Real) and self.tol >= 0):
            raise ParameterError(f"tol must be a number of at least 0, got {self.tol!r}")
        rate = self.learning_rate
        if rate != "auto" and not (isinstance(rate, Real) and np.isfinite(rate) and rate > 0):
            raise ParameterError(f'learning_rate must be "auto" or a number above 0, got {rate!r}')


@dataclass(frozen=True, eq=False)
class AnnealingResult:
    """What an annealing run leaves.

    Attributes
    ----------
    model : AdditiveModel
        Of the selected features, in the units of the design's columns.
    kept : ndarray of shape (n_kept,), int64
        The selected features, ascending.
    beta : ndarray of shape (n_outputs, n_kept, n_coefficients), float64
        Coefficients of the design's own basis, standardised or centred as it is.
    intercept : ndarray of shape (n_outputs,), float64
    ranking : ndarray of shape (n_features,), int64
        1 for the selected features, then 2, 3, ... for the others, those that left last first.
    trace : Trace
    """

    model: AdditiveModel
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
    config: AnnealingConfig | None = None,
    *,
    resume_from: dict[str, np.ndarray] | None = None,
    **options: Any,
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
        Counts features, or groups of features where the config has `feature_groups`.
    config : AnnealingConfig, optional
    resume_from : dict, optional
        What a run on the same data with the same parameters gave its `checkpoint`: this one goes on from
        there and ends with the same bits. The design holds all features again.
    options
        Attributes of `AnnealingConfig`, in place of or on top of `config`.

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
    >>> result.model.respond(X[:1]).round(3) == y[0].round(3)
    array([[ True]])
    """
    annealer = Annealer(design, loss, penalty, config, **options)
    if resume_from is not None:
        annealer.load(resume_from)
    return annealer.run(schedule)


def anneal_path(
    design: Design,
    loss: Loss,
    penalty: Penalty | None,
    schedule: InverseSchedule,
    ks: Sequence[int],
    config: AnnealingConfig | None = None,
    **options: Any,
) -> list[AnnealingResult]:
    """Select nested sets of features of several sizes in one run.

    Parameters
    ----------
    design, loss, penalty, config, options
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
    annealer = Annealer(design, loss, penalty, config, **options)
    path = [annealer.run(InverseSchedule(sizes[0], schedule.n_iter, schedule.mu))]
    for k in sizes[1:]:
        path.append(annealer.run(InverseSchedule(k, max(1, schedule.n_iter // 5), schedule.mu)))
    return path


class Annealer:
    """A run of Algorithm 1: a descent, and which features are still there.

    Parameters are those of `anneal`. `run` may be called again with a smaller k, to go on from where
    the run before ended; or again with the same schedule after it was left by an exception.
    """

    STATE = ("iteration", "n_units_at_start", "is_converged", "are_joined")

    def __init__(
        self,
        design: Design,
        loss: Loss,
        penalty: Penalty | None,
        config: AnnealingConfig | None = None,
        **options: Any,
    ) -> None:
        if design.n_rows != loss.n_rows:
            raise DataError(f"the design has {design.n_rows} rows, the loss {loss.n_rows}")
        self.config = replace(config or AnnealingConfig(), **options)
        self.design = design
        self.loss = loss
        self.penalty = penalty
        self.steps = StepLength(design, loss, penalty, self.config.learning_rate)
        self.survivors = Survivors(design.n_features, self.config.feature_groups, self.config.always_keep)
        beta = np.zeros((loss.n_outputs, design.n_features, design.n_coefficients))
        self.iterate = Iterate(beta, loss.initial_intercept(), self.config.momentum)
        self.guard = DivergenceGuard(loss, self.iterate)
        self.trace = Trace()
        self.schedule: InverseSchedule | None = None  # of the run in progress
        self.iteration = 0  # those done of that run
        self.n_units_at_start = 0
        self.are_joined = False
        # What the pass of the iteration in progress gave, once it is over.
        self.passed: tuple[float, float] | None = None
        self.is_converged = False
        self.started = time.perf_counter()

    def run(self, schedule: InverseSchedule) -> AnnealingResult:
        """Anneal down to the schedule's k and train the survivors."""
        batches = self._begin(schedule)
        sizes = schedule.features_kept(self.n_units_at_start)
        for e in range(self.iteration + 1, 1 if self.is_converged else schedule.n_iter + 1):
            size = int(sizes[e - 1])
            if self.survivors.n_units == sizes[-1] and batches.are_split:
                self._join(batches)
            if self.passed is None:
                self.passed = self._pass_over(batches.of_iteration(e))
            if size < self.survivors.n_units:
                self._keep(size)
            value, relative_move = self.passed
            self.is_converged = self.survivors.n_units == sizes[-1] and relative_move <= self.config.tol
            self.passed, self.iteration = None, e
            self._report(value)
            if self.is_converged:
                break
        self.schedule = None
        return self._result()

    def _begin(self, schedule: InverseSchedule) -> Batches:
        """Begin the run, or go on with the one in progress."""
        batches = Batches(self.loss, self.config.batch_size, self.config.batches_per_iteration)
        if self.schedule is None:
            self.survivors.check_size(min(schedule.k, self.survivors.n_units))
            self.schedule, self.iteration = schedule, 0
            self.n_units_at_start = self.survivors.n_units
            self.are_joined = self.is_converged = False
            self.guard.watch(*batches.last)
        elif self.schedule != schedule:
            raise ParameterError(f"the run in progress has {self.schedule}, got {schedule}")
        elif self.are_joined:
            batches.join()
        return batches

    def _join(self, batches: Batches) -> None:
        """Take all rows at once from now on, and start from rest."""
        batches.join()
        self.guard.watch(*batches.last)
        self.iterate.rest()
        self.are_joined = True

    def _pass_over(self, batches: list[tuple[int, int]]) -> tuple[float, float]:
        """Take one gradient step per batch (equation 2), again with half the step if the loss diverges.

        Returns the loss on the last batch before its step, and how far that step's gradient moves a
        coefficient, relative to the largest one.
        """
        while True:
            step = self.steps.current()
            problem = self.loss, self.penalty, batches
            value, relative_move = self.design.descend(*problem, self.iterate, step, self.guard)
            if self.guard.accepts(value):
                self.iterate.n_steps = 0
                if isinstance(self.penalty, KeepsFeatures):
                    self.penalty.project(self.iterate.beta)
                return value, relative_move
            self._back_off(*batches[-1])

    def _back_off(self, start: int, stop: int) -> None:
        """Return to the last point with an acceptable loss, with half the step."""
        value = self.design.value(self.loss, self.guard.beta, self.guard.intercept, start, stop)
        if self.penalty is not None:
            value += self.penalty.value(self.guard.beta)
        self.steps.halve()
        self.guard.restore(self.iterate, value)

    def _keep(self, size: int) -> None:
        """Keep the features with the largest coefficients (equation 3)."""
        choice = self.survivors.choose(_norms(self.iterate.beta), size)
        self.design.keep(choice.indices)
        for part in (self.iterate, self.guard, self.steps):
            part.keep(choice.indices)
        if isinstance(self.penalty, KeepsFeatures):
            self.penalty.keep(choice.indices)
        self.survivors.keep(choice)
        assert self.passed is not None
        self.passed = self.passed[0], np.inf

    def _report(self, value: float) -> None:
        assert self.schedule is not None
        n_kept, seconds = self.design.n_features, time.perf_counter() - self.started
        progress = Progress(self.iteration, self.schedule.n_iter, n_kept, value, self.steps.last, seconds)
        self.trace.append(progress)
        if self.config.checkpoint is not None:
            self.config.checkpoint(self.state())
        if self.config.callback is not None:
            self.config.callback(progress)

    def _result(self) -> AnnealingResult:
        kept, beta, intercept = self.survivors.kept, self.iterate.beta.copy(), self.iterate.intercept.copy()
        model = self.design.to_model(kept, beta, intercept)
        return AnnealingResult(model, kept, beta, intercept, self.survivors.ranking(), self.trace)

    def state(self) -> dict[str, np.ndarray]:
        """Return all that a run needs to go on, bit for bit, as arrays that `numpy.savez` can store.

        It may be asked for at any moment, after an exception of the design or the loss, too: what the
        iteration in progress has done is part of it. The data, the loss, the penalty and the config are not.
        """
        state = {
            f"{name}.{attribute}": np.array(getattr(part, attribute))
            for name, part in self._parts().items()
            for attribute in part.STATE
        }
        schedule = self.schedule
        state["schedule"] = np.array([] if schedule is None else [schedule.k, schedule.n_iter, schedule.mu])
        state["passed"] = np.array([] if self.passed is None else self.passed)
        return state

    def load(self, state: dict[str, np.ndarray]) -> None:
        """Go back to a state of a run on the same data, with the same parameters.

        The design must hold all features, as it did when this object was made.
        """
        parts = self._parts()
        expected = {f"{name}.{attribute}" for name, part in parts.items() for attribute in part.STATE}
        missing = sorted((expected | {"schedule", "passed"}) - set(state))
        if missing:
            raise DataError(f"this is no state of an annealing run: it lacks {', '.join(missing)}")
        self._check_fits(state)
        for name, part in parts.items():
            for attribute in part.STATE:
                array = np.array(state[f"{name}.{attribute}"])
                setattr(part, attribute, array.item() if array.ndim == 0 else array)
        for attribute in Trace.STATE:
            setattr(self.trace, attribute, getattr(self.trace, attribute).tolist())
        self.survivors.renumber_groups()
        k_n_mu = np.array(state["schedule"])
        self.schedule = InverseSchedule(int(k_n_mu[0]), int(k_n_mu[1]), k_n_mu[2]) if len(k_n_mu) else None
        passed = np.array(state["passed"]).tolist()
        self.passed = (passed[0], passed[1]) if passed else None
        if len(self.survivors.kept) < self.design.n_features:
            self.design.keep(self.survivors.kept)
            if isinstance(self.penalty, KeepsFeatures):
                self.penalty.keep(self.survivors.kept)
        self.started = time.perf_counter() - (self.trace.seconds[-1] if len(self.trace) else 0.0)

    def _parts(self) -> dict[str, Any]:
        return {
            "run": self,
            "iterate": self.iterate,
            "guard": self.guard,
            "steps": self.steps,
            "survivors": self.survivors,
            "trace": self.trace,
        }

    def _check_fits(self, state: dict[str, np.ndarray]) -> None:
        kept, left = np.array(state["survivors.kept"]), np.array(state["survivors.left"])
        shape = self.loss.n_outputs, len(kept), self.design.n_coefficients
        numbers = np.sort(np.concatenate([kept, left]))
        fits = np.array_equal(numbers, np.arange(self.design.n_features))
        if not fits or np.shape(state["iterate.beta"]) != shape:
            raise DataError("the state is that of a run on other data")


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
