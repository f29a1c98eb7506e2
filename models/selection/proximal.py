"""Proximal gradient methods: ISTA and FISTA, with a constant step or with backtracking.

Minimises F(x) = f(x) + g(x), where f is smooth and g has a cheap proximal operator:

    x+ = prox(v - step * gradient f(v), step)          prox(u, s) = argmin_x |x - u|^2 / 2 + s g(x)

ISTA takes v = x. FISTA extrapolates, v = x + m (x - x_before), with the momentum of Nesterov. The smooth
part has the form f(x) = loss(respond(x)) with a linear `respond`, so that the responses at v follow from
those at x and x_before without another pass over the data.

References
----------
A. Beck, M. Teboulle. A Fast Iterative Shrinkage-Thresholding Algorithm for Linear Inverse Problems.
SIAM J. Imaging Sciences 2(1), 2009. doi:10.1137/080716542

B. O'Donoghue, E. Candes. Adaptive Restart for Accelerated Gradient Schemes. Foundations of Computational
Mathematics 15, 2015. doi:10.1007/s10208-013-9150-3
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...features.errors import ParameterError

MAX_HALVINGS = 200
ROUNDING = 1e-13
"""Differences of the objective below this share of it are rounding."""

Move = Callable[[float], tuple[np.ndarray, np.ndarray]]


class Composite(ABC):
    """F(x) = loss(respond(x)) + penalty(x).

    `x` and the responses are float64 arrays of any shape; `respond` is linear.
    """

    @abstractmethod
    def respond(self, x: np.ndarray) -> np.ndarray:
        """Return the responses of the model `x`."""

    @abstractmethod
    def loss(self, response: np.ndarray) -> float:
        """Return the smooth part."""

    @abstractmethod
    def gradient(self, response: np.ndarray) -> np.ndarray:
        """Return the gradient of the smooth part with respect to x."""

    @abstractmethod
    def penalty(self, x: np.ndarray) -> float:
        """Return the other part."""

    @abstractmethod
    def prox(self, x: np.ndarray, step: float) -> np.ndarray:
        """Return argmin_u |u - x|^2 / 2 + step * penalty(u)."""

    def moves(self, x: np.ndarray, response: np.ndarray, gradient: np.ndarray) -> Move:
        """Return a function from a step to the next point and its responses.

        A line search calls it several times; a problem that can share work between the calls overrides this.
        """

        def move(step: float) -> tuple[np.ndarray, np.ndarray]:
            point = self.prox(x - step * gradient, step)
            return point, self.respond(point)

        return move


@dataclass(frozen=True)
class Minimum:
    """Where a proximal gradient method ended.

    Attributes
    ----------
    x : ndarray
    response : ndarray
    objective : list of float
        F at the start and after each iteration.
    step : float
        The last step.
    converged : bool
        Whether the tolerance was met within `max_iter`.
    """

    x: np.ndarray
    response: np.ndarray
    objective: list[float]
    step: float
    converged: bool


def minimize(
    problem: Composite,
    start: np.ndarray,
    *,
    step: float,
    accelerated: bool = True,
    line_search: bool = True,
    restart: bool = True,
    shrink: float = 0.5,
    grow: float = 1.0,
    max_iter: int = 1000,
    tol: float = 1e-6,
) -> Minimum:
    """Minimise a smooth function plus one with a proximal operator.

    Parameters
    ----------
    problem : Composite
    start : ndarray
    step : float
        The constant step (at most the inverse of the gradient's Lipschitz constant), or the first one tried.
    accelerated : bool
        FISTA if true, ISTA if false.
    line_search : bool
        Shorten a step until the quadratic bound at the extrapolated point holds.
    restart : bool
        Drop the momentum and repeat an iteration that raised F. With a line search F then never rises, with
        non-convex penalties too.
    shrink : float
        Factor of a step that was too long, in (0, 1).
    grow : float
        Factor, at least 1, by which each iteration first tries a longer step. Beck and Teboulle have 1.
    max_iter : int
    tol : float
        Ends when an iteration changes F by at most this share of it.

    Returns
    -------
    Minimum

    Examples
    --------
    >>> import numpy as np
    >>> from annealed.models.selection.proximal import Lasso, minimize
    >>> minimize(Lasso(np.eye(2), np.array([3.0, 0.5]), 1.0), np.zeros(2), step=1.0).x
    array([2., 0.])
    """
    if not step > 0:
        raise ParameterError(f"step must be positive, got {step!r}")
    if not 0 < shrink < 1 or grow < 1:
        raise ParameterError(f"shrink must be in (0, 1) and grow at least 1, got {shrink!r} and {grow!r}")
    x, response = start, problem.respond(start)
    before, response_before = x, response
    objective = [problem.loss(response) + problem.penalty(x)]
    t_before = t = 1.0

    def advance(momentum: float, step: float):
        v, response_v = x, response
        if momentum > 0:
            v = x + momentum * (x - before)
            response_v = response + momentum * (response - response_before)
        return _step(problem, v, response_v, step, shrink if line_search else None)

    for _ in range(max_iter):
        momentum = (t_before - 1) / t if accelerated else 0.0
        point, response_point, value, step = advance(momentum, step * grow)
        if restart and value > objective[-1]:
            t = 1.0
            if momentum > 0:
                point, response_point, value, step = advance(0.0, step)
            if line_search and value > objective[-1]:
                return Minimum(x, response, objective, step, True)  # what is left to gain is rounding
        if not np.isfinite(value):
            raise ParameterError(f"step = {step:g} is too long: the objective grew without bound")
        before, response_before = x, response
        x, response = point, response_point
        t_before, t = t, (1 + np.sqrt(1 + 4 * t * t)) / 2
        objective.append(value)
        if abs(objective[-2] - value) <= tol * abs(objective[-2]):
            return Minimum(x, response, objective, step, True)
    return Minimum(x, response, objective, step, False)


def _step(problem: Composite, v, response_v, step: float, shrink: float | None):
    """Take one proximal step from `v`; return the point, its responses, F there, and the step."""
    gradient = problem.gradient(response_v)
    move = problem.moves(v, response_v, gradient)
    point, response = move(step)
    loss = problem.loss(response)
    if shrink is not None:
        loss_v = problem.loss(response_v)
        for _ in range(MAX_HALVINGS):
            difference = point - v
            bound = loss_v + np.vdot(gradient, difference) + np.vdot(difference, difference) / (2 * step)
            if loss <= bound + ROUNDING * abs(loss_v):
                break
            step *= shrink
            point, response = move(step)
            loss = problem.loss(response)
    return point, response, loss + problem.penalty(point), step


def soft_threshold(x: np.ndarray, threshold) -> np.ndarray:
    """Return sign(x) max(|x| - threshold, 0), the proximal operator of threshold |x|_1."""
    return np.sign(x) * np.maximum(np.abs(x) - threshold, 0.0)


def shrink_rows(X: np.ndarray, threshold: float) -> np.ndarray:
    """Shorten each row of X by `threshold`, or to zero: the proximal operator of threshold * l_2,1."""
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return X * np.maximum(1 - threshold / np.where(length > 0, length, 1.0), 0.0)


class LeastSquares(Composite):
    """|y - X w|^2 / 2 plus a penalty that subclasses give.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float64
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs), float64
    """

    def __init__(self, X: np.ndarray, y: np.ndarray):
        self.X = X
        self.y = y

    def respond(self, x):
        return self.X @ x

    def loss(self, response):
        gap = response - self.y
        return 0.5 * float(np.vdot(gap, gap))

    def gradient(self, response):
        return self.X.T @ (response - self.y)


class Lasso(LeastSquares):
    """|y - X w|^2 / 2 + strength |w|_1."""

    def __init__(self, X: np.ndarray, y: np.ndarray, strength: float):
        super().__init__(X, y)
        self.strength = strength

    def penalty(self, x):
        return self.strength * float(np.abs(x).sum())

    def prox(self, x, step):
        return soft_threshold(x, step * self.strength)
