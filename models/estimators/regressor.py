"""Regression by annealed feature selection."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from ..columns import check_target, varying_columns
from ..losses import VALUE_LOSSES, find_loss
from ..penalties import FadingRidge
from ..responses import Linear
from ..row_protocol import RowSource
from ..row_subset import samples_that_count
from ..target_kinds import are_labels
from .adaptive import adapt_to_quantities
from .base import BaseFSA, LossFactory, fitting
from .swapping import can_swap, ridges_of, swapped


@dataclass(eq=False, repr=False)
class FSARegressor(RegressorMixin, BaseFSA):
    """Select k features and regress with a linear or piecewise linear model on them.

    With several targets, all share the k features.

    Parameters
    ----------
    k, response, n_bins, n_iter, momentum, learning_rate, penalty, always_keep, feature_groups, tol, \
memory_budget, warm_start, random_state, callback
        See `FSAClassifier`. Penalties are relative to targets of unit variance. Columns of labels, 0 or 1,
        have one unit for all: by its own, a rare label would weigh as much as a frequent one. For linear
        responses and the squared error, `penalty="auto"` is a ridge by the noise found, which fades as
        features leave (see `adaptive.py`); the coefficients are those of least squares.
    loss : {"squared", "huber_error"} or callable
        The squared error, equation (4), or one that grows linearly far from the target, which a few wrong
        targets disturb less. Else (targets, sample_weight) -> loss, such as a class of
        `annealed.models.losses`; it meets targets of mean zero and unit variance.
    max_swaps : int
        After the annealing of a linear model by the squared error, the best exchange of a selected feature
        for another is made, exactly, as long as the error on the training samples falls, at most so many
        times; 0 makes none. Not with `feature_groups` or another penalty than a ridge. All columns take part
        in each: a table past memory is looked through once more for every few selected columns.
    mu : float
        As for `FSAClassifier`, but 100 by default: without the noise of small batches a schedule that is
        slower at first detects more (Table 4, N = 300: all 30 variables in 93 % of the runs, not in 73 %).
    batch_size : int, "auto" or None
        As for `FSAClassifier`, but all rows (None) by default: the squared error is convex and quadratic,
        so that the noise of small batches only costs detection (Table 4, N = 1000).

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features), float64
        Linear responses only; zero for features not selected.
    intercept_ : float or ndarray of shape (n_targets,)
    support_, ranking_, knots_, knot_values_, trace_, n_iter_, n_features_in_, feature_names_in_
        See `FSAClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from annealed.models import FSARegressor
    >>> X, y = make_regression(300, 50, n_informative=3, shuffle=False, random_state=0)
    >>> FSARegressor(k=3, random_state=0).fit(X, y).get_support(indices=True)
    array([0, 1, 2])
    """

    loss: str | LossFactory = "squared"
    mu: float = 100
    batch_size: int | str | None = None
    max_swaps: int = 100
    random_state: Any = 0

    _parameter_constraints: ClassVar[dict] = {
        **BaseFSA._parameter_constraints,
        "loss": [StrOptions(set(VALUE_LOSSES)), callable],
        "max_swaps": [Interval(Integral, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Select features and train.

        Parameters
        ----------
        X : array-like, sparse matrix, path, rows or Dask collection, of shape (n_samples, n_features)
            What can be a path is told at `annealed.open_rows`.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), or str
            Values, or the column of the table at X that has them.
        sample_weight : array-like of shape (n_samples,), or str, optional

        Returns
        -------
        self
        """
        with fitting(self):
            self._set_fitted(*self._fit_sizes(X, y, sample_weight, [self.k])[0])
        return self

    def _fit_sizes(self, X, y, sample_weight, ks):
        """Fit one model per size of `ks`, largest first, in one run."""
        X, y, weight = self._validate_with_weights(
            X, y, sample_weight, multi_output=True, y_numeric=True, ensure_min_samples=2
        )
        targets = np.atleast_2d(y.T.astype(np.float64))
        check_target(targets)
        mean = targets @ weight / weight.sum()
        variance = (targets - mean[:, None]) ** 2 @ weight / weight.sum()
        if are_labels(targets):
            variance = np.full_like(variance, variance.mean())
        scale = np.sqrt(np.where(variance > 0, variance, 1.0))
        standard = (targets - mean[:, None]) / scale[:, None]
        prepared = self._prepare(X, weight, shuffle=True, n_outputs=len(targets))
        make_loss = find_loss(self.loss)
        rows = standard[:, prepared.order], weight[prepared.order]
        ridge = self._adapt(X, standard, weight, ks)
        fitted = self._anneal(prepared, make_loss(*rows), ks, penalty=ridge)
        fitted = self._swap(X, prepared, rows, fitted, ridge)
        self._one_target = y.ndim == 1
        return [(model.rescaled(scale, mean), result) for model, result in fitted]

    def _adapt(self, X, targets, weight, ks) -> FadingRidge | None:
        """Return the ridge that `penalty="auto"` stands for, if it stands for one."""
        stated = not isinstance(self.penalty, str) or not isinstance(self._resolve_response(), Linear)
        if stated or self.loss != "squared":
            return None
        return adapt_to_quantities(*samples_that_count(X, targets, weight), self._sizes_of_models(ks))

    def _swap(self, X, prepared, rows, fitted, adapted):
        """Exchange features of the models where that is possible."""
        penalty = self._resolve_penalty()
        linear = isinstance(self._resolve_response(), Linear)
        possible = linear and self.loss == "squared" and self.feature_groups is None and can_swap(penalty)
        if not possible or self.max_swaps == 0 or self._continues:
            return fitted
        options = {
            "varying": None if isinstance(X, RowSource) else varying_columns(X),
            "max_swaps": self.max_swaps,
            "always_keep": self.always_keep,
        }
        results = []
        for _, result in fitted:
            ridges = ridges_of(penalty, adapted, len(result.kept))
            results.append(swapped(result, prepared, *rows, ridges=ridges, **options))
        return [(prepared.to_model(result), result) for result in results]

    def _set_fitted(self, model, result) -> None:
        super()._set_fitted(model, result)
        if self._one_target:
            self.intercept_ = float(self.intercept_[0])
            if hasattr(self, "coef_"):
                self.coef_ = self.coef_[0]

    def predict(self, X):
        """Return the prediction for each sample, shape (n_samples,) or (n_samples, n_targets)."""
        response = self._respond(X)
        return response[:, 0] if self._one_target else response

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
