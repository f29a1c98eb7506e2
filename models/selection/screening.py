"""The lasso with screening: few features are ever loaded, and the solution is that of all of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from numbers import Integral, Real
from time import perf_counter

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.linear_model import Lasso
from sklearn.utils.validation import check_is_fitted, validate_data

from ...features.errors import ParameterError
from ..columns import check_target
from .dictionary import Dictionary
from .ranked import attainable
from .screening_rules import MARGIN, Step, edpp_bound, feedback, sphere_bound, strong_bound

RULES = ("dass", "dome", "sphere", "sequential-dome", "strong", "edpp", "none")
ONE_SHOT = ("dome", "sphere", "none")
CHECKED = ("strong", "edpp")  # not safe, or safe only if the solutions in between are exact
SOLVERS = ("auto", "scikit-learn", "celer")
Solver = Callable[[np.ndarray, np.ndarray, float, np.ndarray], np.ndarray]


@dataclass
class ScreeningTrace:
    """Each lasso that was solved: strength, features left, diameter of the region, seconds, repairs.

    `violations` counts the features that had to be taken back: zero for safe rules.
    """

    strength: list[float] = field(default_factory=list)
    n_kept: list[int] = field(default_factory=list)
    diameter: list[float] = field(default_factory=list)
    screening_seconds: list[float] = field(default_factory=list)
    solving_seconds: list[float] = field(default_factory=list)
    violations: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.strength)

    def rejection(self, n_features: int) -> float:
        """Return the share of the features that the last screening discarded."""
        return 1 - self.n_kept[-1] / n_features


class ScreenedLasso(RegressorMixin, SelectorMixin, BaseEstimator):
    """Lasso at one strength (or for k features), solved on the few features that screening leaves.

    ::

        min_w |y - X w|^2 / 2 + strength |w|_1,   strength = ratio * max_i |x_i' y|

    Parameters
    ----------
    k : int, optional
        Features to select, along a path of falling strengths; `ratio` is then where the path ends.
    ratio : float
        strength / strength_max, in (0, 1].
    rule : {"dass", "dome", "sphere", "sequential-dome", "strong", "edpp", "none"}
        "sphere" and "dome" screen once. The others go through a sequence of strengths and screen with the
        solution before: "sequential-dome", "strong" and "edpp" through `n_steps` in geometric spacing,
        "dass" through as many as feedback asks for. "none" solves on all features.
    diameter : float
        For "dass": bound on the diameter of the dual region, times the largest norm of a feature. Smaller
        screens harder and takes more steps.
    n_steps : int
        Strengths of the open-loop rules.
    fit_intercept, standardize : bool
        Whether features and targets are centred, and features scaled to norm 1.
    solver : {"auto", "scikit-learn", "celer"}
        "auto" is celer where it is installed.
    tol : float
        Duality gap at which the solver ends, relative to ``|y|^2``.
    max_iter : int
    memory_bytes : int
        Bound on the working memory: X may be a `numpy.memmap` far larger, of which one segment and the
        surviving features are held at a time.

    Attributes
    ----------
    support_ : ndarray of shape (n_features,), bool
    coef_ : ndarray of shape (n_features,), float64
    intercept_ : float
    strength_, strength_max_ : float
    trace_ : ScreeningTrace
    n_iter_ : int
        Lassos solved.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    See `annealed.models.selection.screening_rules`.

    Examples
    --------
    >>> import numpy as np
    >>> from annealed.models.selection import ScreenedLasso
    >>> X = np.random.default_rng(0).standard_normal((100, 500))
    >>> model = ScreenedLasso(ratio=0.5).fit(X, 3 * X[:, 4] - 2 * X[:, 17])
    >>> model.get_support(indices=True)
    array([ 4, 17])
    """

    def __init__(
        self,
        k=None,
        *,
        ratio=0.1,
        rule="dass",
        diameter=0.5,
        n_steps=10,
        fit_intercept=True,
        standardize=True,
        solver="auto",
        tol=1e-8,
        max_iter=20_000,
        memory_bytes=1 << 30,
    ):
        self.k = k
        self.ratio = ratio
        self.rule = rule
        self.diameter = diameter
        self.n_steps = n_steps
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.memory_bytes = memory_bytes

    def fit(self, X, y):
        """Screen and solve.

        Parameters
        ----------
        X : array-like or memmap of shape (n_samples, n_features)
            A memmap is read in segments, in the order of the file.
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        check_target(y)
        k = None if self.k is None else attainable(self.k, X.shape[1])
        mean = float(y.mean()) if self.fit_intercept else 0.0
        dictionary = Dictionary(
            X, memory_bytes=self.memory_bytes, center=self.fit_intercept, scale=self.standardize
        )
        path = _Path(dictionary, y - mean, self)
        self.trace_ = path.trace
        self.strength_max_ = path.largest
        w = path.follow(self.ratio) if k is None else self._select_k(path, dictionary.n_features, k)
        self.strength_ = path.strength
        self.n_iter_ = len(path.trace)
        self.coef_ = w / dictionary.scale
        self.support_ = self.coef_ != 0
        self.intercept_ = float(mean - dictionary.mean @ self.coef_)
        return self

    def _select_k(self, path: "_Path", n_features: int, k: int) -> np.ndarray:
        """Lower the strength until k features are active, and keep the k largest coefficients."""
        w = np.zeros(n_features)
        for ratio in np.geomspace(1, self.ratio, 50)[1:]:
            w = path.follow(ratio)
            if np.count_nonzero(w) >= k:
                break
        w[np.argsort(-np.abs(w), kind="stable")[k:]] = 0.0
        return w

    def _check_parameters(self) -> None:
        if self.rule not in RULES:
            raise ParameterError(f"rule must be one of {RULES}, got {self.rule!r}")
        if self.solver not in SOLVERS:
            raise ParameterError(f"solver must be one of {SOLVERS}, got {self.solver!r}")
        if not isinstance(self.ratio, Real) or not 0 < float(self.ratio) <= 1:
            raise ParameterError(f"ratio must be in (0, 1], got {self.ratio!r}")
        if not isinstance(self.diameter, Real) or not float(self.diameter) > 0:
            raise ParameterError(f"diameter must be positive, got {self.diameter!r}")
        if not isinstance(self.n_steps, Integral) or self.n_steps < 1:
            raise ParameterError(f"n_steps must be an integer of at least 1, got {self.n_steps!r}")

    def predict(self, X):
        """Return the prediction for each sample, shape (n_samples,)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return X[:, self.support_] @ self.coef_[self.support_] + self.intercept_

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_


class _Path:
    """The state of sequential screening: the last strength, its solution, and what follows from both."""

    def __init__(self, dictionary: Dictionary, y: np.ndarray, options: ScreenedLasso):
        self.dictionary = dictionary
        self.y = y
        self.rule = options.rule
        self.n_steps = int(options.n_steps)
        self.solve = make_solver(options.solver, options.tol, options.max_iter)
        self.trace = ScreeningTrace()
        self.on_y = dictionary.correlate(y)
        self.on_residual: np.ndarray | None
        self.on_normal: np.ndarray | None
        self.largest = self.strength = float(np.abs(self.on_y).max())
        # the dual's unit of length: a feature of norm d sees a region of width s as d * s
        self.diameter = options.diameter / max(float(dictionary.norms.max()), np.finfo(float).tiny)
        self._restart()

    def _restart(self) -> None:
        """Begin at the largest strength: no feature is active, and theta = y / strength."""
        self.strength = self.largest
        self.w = np.zeros(self.dictionary.n_features)
        if self.largest == 0:
            return
        best = int(np.argmax(np.abs(self.on_y)))
        column = self.dictionary.columns(np.array([best]))[:, 0] * np.sign(self.on_y[best])
        norm = self.dictionary.norms[best]
        self.normal, self.offset = column / norm, 1 / norm
        self.residual, self.on_residual = self.y, self.on_y
        self.on_normal = None

    def follow(self, ratio: float) -> np.ndarray:
        """Return the solution at ratio * largest strength."""
        target = ratio * self.largest
        if self.largest == 0 or target >= self.strength:
            return self.w
        if self.rule in ONE_SHOT and len(self.trace):
            self._restart()
        steps = self.n_steps if self.rule not in ("dass", *ONE_SHOT) else 1
        factor = (target / self.strength) ** (1 / steps)
        while self.strength > target:
            strength = max(target, self.strength * factor)
            if self.rule == "dass":
                strength = feedback(self.y, self.normal, self.strength, target, self.diameter)
            if strength < target * (1 + 1e-9):
                strength = target
            self._advance(strength, last=strength == target)
        return self.w

    def _advance(self, strength: float, last: bool) -> None:
        """Screen, solve and, where the rule is not safe, repair."""
        begin = perf_counter()
        bound, diameter = self._bound(strength)
        kept = np.flatnonzero(bound >= 1 - MARGIN)
        screened = len(kept)
        solving = self._solve_on(kept, strength)
        while self.rule in CHECKED:
            violated = np.abs(self._residual_products()) > strength * (1 + 1e-6)
            violated[kept] = False
            if not violated.any():
                break
            kept = np.union1d(kept, np.flatnonzero(violated))
            solving += self._solve_on(kept, strength)
        trace = self.trace
        trace.strength.append(strength)
        trace.n_kept.append(len(kept))
        trace.diameter.append(diameter)
        trace.screening_seconds.append(perf_counter() - begin - solving)
        trace.solving_seconds.append(solving)
        trace.violations.append(len(kept) - screened)

    def _solve_on(self, kept: np.ndarray, strength: float) -> float:
        """Solve on some features, and return the seconds the solver took."""
        columns = self.dictionary.columns(kept)
        begin = perf_counter()
        w = self.solve(columns, self.y, strength, self.w[kept])
        seconds = perf_counter() - begin
        response = columns @ w
        self.strength = strength
        self.w = np.zeros(self.dictionary.n_features)
        self.w[kept] = w
        self.residual, self.on_residual = self.y - response, None
        length = float(np.linalg.norm(response))
        if length > 0:
            self.normal, self.offset, self.on_normal = (
                response / length,
                float(np.abs(w).sum()) / length,
                None,
            )
        return seconds

    def _residual_products(self) -> np.ndarray:
        """Return the inner products of all features with the residual: the one pass over the dictionary."""
        if self.on_residual is None:
            self.on_residual = self.dictionary.correlate(self.residual)
        return self.on_residual

    def _normal_products(self) -> np.ndarray:
        """Return those with the normal, which follow from the others as soon as a feature is active."""
        if self.on_normal is None and self.w.any():
            length = float(np.linalg.norm(self.y - self.residual))
            self.on_normal = (self.on_y - self._residual_products()) / length
        elif self.on_normal is None:
            self.on_normal = self.dictionary.correlate(self.normal)
        return self.on_normal

    def _bound(self, strength: float) -> tuple[np.ndarray, float]:
        """Return the bound on |d' theta| for each feature, and the diameter of the region."""
        norms = self.dictionary.norms
        if self.rule == "none":
            return np.ones_like(norms), np.inf
        on_residual = self._residual_products()
        if self.rule == "strong":
            return strong_bound(on_residual, self.strength, strength), np.inf
        # the residual, shortened until it is feasible
        divisor = max(self.strength, float(np.abs(on_residual).max()))
        step = Step.of(self.y, self.residual / divisor, self.normal, self.offset, strength)
        if self.rule == "sphere":
            return sphere_bound(self.on_y / strength, step.radius, norms), 2 * step.radius
        on_normal = self._normal_products()
        if self.rule == "edpp":
            return edpp_bound(on_residual / divisor, self.on_y, on_normal, norms, step), step.across
        return step.dome.bound(self.on_y / strength, on_normal, norms), step.dome.diameter


def make_solver(name: str, tol: float, max_iter: int) -> Solver:
    """Return solve(columns, y, strength, start) -> coefficients."""
    if name == "celer" or (name == "auto" and find_spec("celer") is not None):
        try:
            from celer import Lasso as CelerLasso
        except ImportError:
            raise ParameterError('solver "celer" needs the package celer; it is not installed') from None
        make: type = CelerLasso
    else:
        make = Lasso

    def solve(columns: np.ndarray, y: np.ndarray, strength: float, start: np.ndarray) -> np.ndarray:
        if columns.shape[1] == 0:
            return np.zeros(0)
        # both divide the squared error by the number of samples
        model = make(
            alpha=strength / len(y), fit_intercept=False, tol=tol, max_iter=max_iter, warm_start=True
        )
        model.coef_ = start.copy()
        return model.fit(columns, y).coef_

    return solve
