"""Selection by row-sparse regression: l_p,inf for 0 <= p <= 1, and l_2,1.

    min_W  |Y - X W|_F^2 / (2 n)  +  strength * penalty(W)            (equations 1, 2 and 12)

W has one row per feature and one column per class, label or target; a feature is selected if its row is not
zero. The strength is searched for so that k rows are left. For p < 1 the problem is not convex, and the
result depends on the start: the solution of ridge regression, or the solution for p = 1 followed
through smaller and smaller p.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ...features.errors import DataError, ParameterError
from ..columns import is_constant
from ..target_kinds import encode_classes, holds_classes, signs
from .proximal import LeastSquares, minimize
from .ranked import attainable
from .row_penalties import RowL21, RowLpInf, RowPenalty

STARTS = ("best", "ridge", "continuation")
CONTINUATION = (1.0, 0.75, 0.5, 0.25, 0.1)
CLOSE = 1e-3  # strengths that differ by less than this share are not told apart
SMALLEST_STRENGTH = 1e-6  # of the largest one that is of interest
DESCENT = 4.0
"""Factor by which strengths fall before the search closes in on one."""

GROW = 1.1
"""Lengthening of each first try of a step. The few rows that are left bend the loss far less than all do, and
the step that all allow leaves FISTA short of the optimum after thousands of iterations."""


@dataclass
class RowTrace:
    """Strengths that were tried, the rows each left, and the objective along the last solution."""

    strength: list[float] = field(default_factory=list)
    n_rows: list[int] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)


class RowSparse(LeastSquares):
    """|Y - X W|_F^2 / 2 + strength * penalty(W); the caller divides X and Y by sqrt(n)."""

    def __init__(self, X: np.ndarray, Y: np.ndarray, rows: RowPenalty, strength: float):
        super().__init__(X, Y)
        self.rows = rows
        self.strength = strength

    def respond(self, x):
        used = np.flatnonzero(x.any(axis=1))
        if 2 * len(used) > len(x):
            return self.X @ x
        return self.X[:, used] @ x[used]

    def penalty(self, x):
        return self.strength * self.rows.value(x)

    def prox(self, x, step):
        return self.rows.prox(x, step * self.strength)


class BaseRowSelector(SelectorMixin, BaseEstimator):
    """Base of the row-sparse selectors; see `LpInfSelector` for what they share."""

    k: int
    max_iter: int
    tol: float

    def fit(self, X, y, sample_weight=None):
        """Select features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, a 0/1 column for each label, or real targets.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, ensure_min_samples=2)
        Y = _targets(y)
        k = attainable(self.k, X.shape[1])
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        if not weight.any():
            raise DataError("sample_weight is zero for every sample")
        share = weight / weight.sum()
        mean, target_mean = share @ X, share @ Y
        scale = np.sqrt(share @ (X - mean) ** 2)
        scale[is_constant(scale, mean)] = np.inf  # constant columns become zero
        root = np.sqrt(share)[:, None]
        self.trace_ = RowTrace()
        self.n_iter_ = 0
        kept = self._select(root * ((X - mean) / scale), root * (Y - target_mean), k)
        self._set_fitted(kept, root * (X - mean), root * (Y - target_mean), mean, target_mean)
        return self

    @abstractmethod
    def _select(self, X: np.ndarray, Y: np.ndarray, k: int) -> np.ndarray:
        """Return the selected features, ascending; X and Y are standardised and divided by sqrt(n)."""

    def _search(self, X, Y, rows: RowPenalty, k: int, start: np.ndarray) -> np.ndarray:
        """Return the solution with k rows, or the sparsest one found with more, cut to its k largest rows."""
        step = 1.0
        trace = self.trace_

        def solve(strength: float) -> np.ndarray:
            nonlocal start, step
            problem = RowSparse(X, Y, rows, strength)
            found = minimize(problem, start, step=step, grow=GROW, max_iter=self.max_iter, tol=self.tol)
            step = found.step
            if rows.convex:  # where it starts is of no consequence but for the time it takes
                start = found.x
            self.n_iter_ += len(found.objective) - 1
            trace.strength.append(strength)
            trace.n_rows.append(int(found.x.any(axis=1).sum()))
            trace.objective = found.objective
            return found.x

        return _cut(_search_strength(solve, rows.largest_strength(X.T @ Y), k), k)

    def _set_fitted(self, kept, X, Y, mean, target_mean) -> None:
        """Refit by least squares on the selected features (B in the paper's section on experiments)."""
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[kept] = True
        self.coef_ = np.zeros((Y.shape[1], self.n_features_in_))
        self.coef_[:, kept] = np.linalg.lstsq(X[:, kept], Y, rcond=None)[0].T
        self.intercept_ = target_mean - self.coef_ @ mean

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


class LpInfSelector(BaseRowSelector):
    """Select the k features whose rows survive an l_p,inf penalty.

    For classes, labels and targets alike, features are standardised, the loss is the squared error of the 0/1
    columns (targets: of the columns as they are), and each feature pays its largest coefficient to the
    power of p.

    Parameters
    ----------
    k : int
        Features to select. Fewer are left where no strength keeps as many.
    p : float
        From 0 (a feature costs the same whatever its coefficients) to 1 (convex).
    start : {"best", "ridge", "continuation"}
        Where p < 1 starts from: ridge regression, the solutions for p = 1, 0.75, ... one after the other,
        or both, of which the selection with the smaller residual stays.
    ridge : float
        Penalty of the ridge start, relative to the mean squared error of standardised features.
    max_iter : int
        Iterations of FISTA for each strength.
    tol : float
        FISTA ends once an iteration changes the objective by at most this share of it.

    Attributes
    ----------
    support_ : ndarray of shape (n_features,), bool
    coef_ : ndarray of shape (n_outputs, n_features), float64
        Least squares on the selected features, in the input's units. Two classes have one output.
    intercept_ : ndarray of shape (n_outputs,), float64
    trace_ : RowTrace
    n_iter_ : int
        Iterations of FISTA, over all strengths.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    D. Kong, C. Ding. Non-Convex Feature Learning via l_p,inf Operator. AAAI 2014.
    doi:10.1609/aaai.v28i1.8997

    Examples
    --------
    >>> import numpy as np
    >>> from annealed.models.selection import LpInfSelector
    >>> X = np.random.default_rng(0).standard_normal((200, 30))
    >>> y = 2 * (X[:, 4] > 0) + (X[:, 17] > 0)
    >>> LpInfSelector(k=2).fit(X, y).get_support(indices=True)
    array([ 4, 17])
    """

    def __init__(self, k=10, *, p=0.5, start="best", ridge=1.0, max_iter=500, tol=1e-6):
        self.k = k
        self.p = p
        self.start = start
        self.ridge = ridge
        self.max_iter = max_iter
        self.tol = tol

    def _select(self, X, Y, k):
        if self.start not in STARTS:
            raise ParameterError(f"start must be one of {STARTS}, got {self.start!r}")
        if not isinstance(self.ridge, Real) or not self.ridge > 0:
            raise ParameterError(f"ridge must be positive, got {self.ridge!r}")
        target = RowLpInf(self.p)
        if self.p == 1:
            return self._search(X, Y, target, k, np.zeros((X.shape[1], Y.shape[1])))
        candidates = []
        if self.start != "continuation":
            candidates.append(self._search(X, Y, target, k, _ridge(X, Y, self.ridge)))
        if self.start != "ridge":
            candidates.append(self._follow(X, Y, k))
        return min(candidates, key=lambda kept: residual(X[:, kept], Y))

    def _follow(self, X, Y, k) -> np.ndarray:
        """Solve for p = 1 and then for smaller and smaller p, each from the selection before."""
        W = np.zeros((X.shape[1], Y.shape[1]))
        kept = np.arange(0)
        for p in (*(p for p in CONTINUATION if p > self.p), self.p):
            kept = self._search(X, Y, RowLpInf(p), k, W)
            W = np.zeros_like(W)
            W[kept] = np.linalg.lstsq(X[:, kept], Y, rcond=None)[0]
        return kept


class L21Selector(BaseRowSelector):
    """Select the k features whose rows survive an l_2,1 penalty (equation 12).

    Parameters
    ----------
    k, max_iter, tol
        As for `LpInfSelector`, whose attributes it has, too.

    References
    ----------
    J. Liu, S. Ji, J. Ye. Multi-Task Feature Learning via Efficient l_2,1-Norm Minimization. UAI 2009.
    """

    def __init__(self, k=10, *, max_iter=500, tol=1e-6):
        self.k = k
        self.max_iter = max_iter
        self.tol = tol

    def _select(self, X, Y, k):
        return self._search(X, Y, RowL21(), k, np.zeros((X.shape[1], Y.shape[1])))


def residual(X: np.ndarray, Y: np.ndarray) -> float:
    """Return |Y - X B|_F with B the least-squares solution."""
    return float(np.linalg.norm(Y - X @ np.linalg.lstsq(X, Y, rcond=None)[0]))


def _search_strength(solve: Callable[[float], np.ndarray], largest: float, k: int) -> np.ndarray:
    """Lower the strength until the solution has k rows or more, then bisect its logarithm.

    Without an exact hit, the sparsest solution with more than k rows is returned, or else the densest.
    """

    def count(W: np.ndarray) -> int:
        return int(W.any(axis=1).sum())

    high, low = largest, largest / DESCENT
    best = solve(low)
    while count(best) < k and low > SMALLEST_STRENGTH * largest:
        high, low = low, low / DESCENT
        best = solve(low)
    if count(best) <= k:
        return best
    while high > low * (1 + CLOSE):
        middle = np.sqrt(low * high)
        W = solve(middle)
        n_rows = count(W)
        if n_rows == k:
            return W
        if n_rows > k:
            low = middle
            best = W if n_rows <= count(best) else best
        else:
            high = middle
    return best


def _cut(W: np.ndarray, k: int) -> np.ndarray:
    """Return the (at most k) rows with the largest coefficients, ascending; ties by index."""
    size = np.abs(W).max(axis=1)
    order = np.argsort(-size, kind="stable")[:k]
    return np.sort(order[size[order] > 0])


def _ridge(X: np.ndarray, Y: np.ndarray, strength: float) -> np.ndarray:
    """Return argmin_W |Y - X W|^2 / 2 + strength |W|^2 / 2, by the smaller of the two linear systems."""
    n, m = X.shape
    if n < m:
        return X.T @ np.linalg.solve(X @ X.T + strength * np.eye(n), Y)
    return np.linalg.solve(X.T @ X + strength * np.eye(m), X.T @ Y)


def _targets(y: np.ndarray) -> np.ndarray:
    """Return one column an output: 0/1 for classes (one column for two) and labels, else the targets."""
    if not holds_classes(y):
        return np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    classes, code = encode_classes(y)
    return (signs(code, len(classes)).T > 0).astype(np.float64)
