"""The outer loop (Algorithm 1): generate the most violated set of features, solve, repeat.

With P_T the value of the problem over the sets generated so far, -P_T is the beta_T of equation (18), and
-phi_T of equation (19) is the largest dual value of any alpha so far against *all* features:

    dual(alpha) = loss.dual_value(alpha) - (sum of the `budget` largest scores) / 2

maximised over multiples of each alpha, which is cheap and much tighter than alpha itself at first. Both
bound the optimum of the whole problem (Theorem 2), however exactly the problems in between are solved:
P_T is the value of a feasible model, and every feasible alpha gives a dual bound.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ....features.errors import DataError
from ..proximal import minimize
from .margin_losses import MarginLoss
from .subproblem import L1SquaredProblem

GROW = 1.25
"""Lengthening of each first try of a step: 1 / eta of Algorithm 4."""

LEAST_TOL = 1e-9
"""Exactness of the inner solver beyond which a set that is generated again ends the search."""


class Atoms(Protocol):
    """What is selected: features, groups, products; `atom` is the number of one."""

    @property
    def n_atoms(self) -> int:
        """How many there are."""

    def strongest(self, dual: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the `count` atoms with the largest scores and the scores, largest first, ties by number.

        The score of an atom with columns X_a is |X_a^T dual|_F^2, dual being alpha y (n_samples, n_outputs).
        """

    def columns(self, atoms: np.ndarray):
        """Return their columns side by side, (n_samples, width), an array or csc_array, float64."""

    def widths(self, atoms: np.ndarray) -> np.ndarray:
        """Return how many columns each of them has."""


@dataclass
class FGMTrace:
    """Each cutting-plane iteration: bounds, atoms so far, inner iterations, step, seconds so far.

    `lower` and `upper` are beta_T and phi_T of Theorem 2: bounds on minus the optimal objective. `inner`
    holds the objective after each iteration of the inner solver. As text, it is one line an iteration.
    """

    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    n_atoms: list[int] = field(default_factory=list)
    inner: list[list[float]] = field(default_factory=list)
    step: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.lower)

    def __str__(self) -> str:
        lines = [f"{'cut':>4}{'atoms':>7}{'beta_T':>15}{'phi_T':>15}{'gap':>10}{'seconds':>9}"]
        for t in range(len(self.upper)):
            bounds = f"{self.lower[t]:>15.6g}{self.upper[t]:>15.6g}{self.gap_at(t):>10.2g}"
            lines.append(f"{t + 1:>4}{self.n_atoms[t]:>7}{bounds}{self.seconds[t]:>9.2f}")
        return "\n".join(lines)

    def gap_at(self, t: int) -> float:
        """Return the distance of the bounds after set `t`, relative to the optimum's bound."""
        return (self.upper[t] - self.lower[t]) / max(abs(self.lower[t]), np.finfo(float).tiny)

    @property
    def gap(self) -> float:
        """The relative distance of the last bounds."""
        return self.gap_at(-1)


@dataclass(frozen=True)
class Generated:
    """What the cutting plane leaves.

    Attributes
    ----------
    sets : list of ndarray of int64
        Atoms of each generated set.
    coefs : list of ndarray of shape (width, n_outputs)
        Coefficients of each set's columns.
    intercept : ndarray of shape (n_outputs,)
    dual : ndarray of shape (n_samples, n_outputs)
        alpha y at the end: what the atoms were last scored with.
    trace : FGMTrace
    """

    sets: list[np.ndarray]
    coefs: list[np.ndarray]
    intercept: np.ndarray
    dual: np.ndarray
    trace: FGMTrace


def generate(
    atoms: Atoms,
    loss: MarginLoss,
    budget: int,
    *,
    limit: int | None = None,
    max_cuts: int = 100,
    tol: float = 1e-3,
    inner_tol: float = 1e-4,
    max_inner: int = 500,
    callback: Callable[[FGMTrace], None] | None = None,
) -> Generated:
    """Select atoms and train a model on them.

    Parameters
    ----------
    atoms : Atoms
    loss : MarginLoss
    budget : int
        Atoms in a generated set, B of the paper.
    limit : int, optional
        Ends once so many different atoms are generated; the last set loses the weakest of its new
        atoms, to meet the limit exactly.
    max_cuts : int
        Sets to generate at most.
    tol : float
        Ends once the bounds' relative gap is at most this.
    inner_tol, max_inner : float, int
        Equation (43): the inner solver ends once an iteration changes its objective by at most this share,
        or a tenth of it whenever a set is generated again.
    callback : callable, optional
        Called with the trace after each set.
    """
    started = time.perf_counter()
    y = loss.y
    sets: list[np.ndarray] = []
    blocks: list = []
    coef = np.zeros((0, y.shape[1]))
    trace = FGMTrace()
    upper = np.inf
    used = np.arange(0)
    response = np.zeros_like(y)
    step = 1.0 / (0.1 * float(loss.cost.sum()))  # the paper's first guess of the curvature, 0.1 n C
    while True:
        dual = loss.dual(response)
        strongest, scores = atoms.strongest(dual * y, budget)
        upper = min(upper, -loss.dual_bound(dual, float(scores.sum())))
        if sets:
            trace.upper.append(upper)
            if callback is not None:
                callback(trace)
        full = limit is not None and len(used) >= limit
        if full or len(sets) == max_cuts or (sets and trace.gap <= tol):
            break
        chosen = _within_limit(strongest, used, limit)
        if len(chosen) == 0:  # no atom has a score: rounding has eaten them all
            if not sets:
                raise DataError("no feature is related to the target in a way that float64 can hold")
            break
        if any(np.array_equal(chosen, known) for known in sets):
            if inner_tol <= LEAST_TOL:
                break  # Theorem 3: nothing is violated beyond what the inner solver leaves
            inner_tol /= 10  # the problem over the sets is not solved well enough to tell what is missing
        else:
            sets.append(chosen)
            used = np.union1d(used, chosen)
            blocks.append(atoms.columns(chosen))
            coef = np.concatenate([coef, np.zeros((blocks[-1].shape[1], y.shape[1]))])
        problem = L1SquaredProblem(blocks, loss)
        found = minimize(problem, coef, step=step, grow=GROW, tol=inner_tol, max_iter=max_inner)
        coef, step = found.x, found.step
        response = found.response.sum(axis=0)
        trace.lower.append(-found.objective[-1])
        trace.n_atoms.append(len(used))
        trace.inner.append(found.objective)
        trace.step.append(step)
        trace.seconds.append(time.perf_counter() - started)
    return Generated(sets, problem.split(coef), loss.intercept(response), dual * y, trace)


def _within_limit(strongest: np.ndarray, used: np.ndarray, limit: int | None) -> np.ndarray:
    """Drop the weakest of the new atoms beyond the limit; return the rest, ascending."""
    if limit is not None:
        new = ~np.isin(strongest, used)
        keep = ~new | (np.cumsum(new) <= limit - len(used))
        strongest = strongest[keep]
    return np.sort(strongest)
