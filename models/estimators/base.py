"""What the annealed estimators share: parameters, checks, the run itself, and what they selected."""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any
from warnings import warn

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ...features.errors import DataError, ParameterError
from ..additive import LinearModel, Model, PiecewiseModel
from ..annealing import AnnealingResult, anneal_path
from ..losses import Loss
from ..penalties import Penalty, SecondDifference
from ..schedules import InverseSchedule
from .preparation import Prepared, prepare

RESPONSES = ("linear", "piecewise")
# Rows in a batch. A piecewise response builds one table per feature and batch, which wants more rows.
AUTO_BATCH_SIZE = {"linear": 250, "piecewise": 1000}
# More batches than this an iteration only cost time: larger samples get larger batches.
AUTO_BATCHES = 16
DEFAULT_SMOOTHING = SecondDifference(strength=1e-4, smoothness=1e-3)


class BaseFSA(SelectorMixin, BaseEstimator):
    """Base of the annealed estimators; see `FSAClassifier` for the parameters they share."""

    # Set by subclasses' __init__, named here for readers and type checkers.
    k: int
    response: str
    n_bins: int
    n_iter: int
    mu: float
    batch_size: int | str | None
    momentum: float
    learning_rate: float | str
    penalty: Penalty | str | None
    always_keep: Any
    groups: Any
    tol: float
    random_state: Any
    callback: Callable | None
    # A regressor of one target has them without the axis of outputs, as in scikit-learn.
    coef_: Any
    intercept_: Any

    def _validate(self, X, *, reset: bool = True, **options):
        """Check X (and y, if among the options) as scikit-learn does."""
        accept_sparse = ["csr", "csc"] if self.response == "linear" else False
        return validate_data(
            self, X, accept_sparse=accept_sparse, dtype=[np.float64, np.float32], reset=reset, **options
        )

    def _validate_with_weights(self, X, y, sample_weight, **options):
        """Return X, y and positive weights, without the samples that weigh nothing."""
        X, y = self._validate(X, y=y, **options)
        weight = np.asarray(_check_sample_weight(sample_weight, X, ensure_non_negative=True), np.float64)
        if not weight.any():
            raise DataError("sample_weight is zero for every sample")
        if not weight.all():
            counts = weight > 0
            X, y, weight = X[counts], y[counts], weight[counts]
        return X, y, weight

    def _prepare(self, X, weight: np.ndarray, *, shuffle: bool) -> Prepared:
        """Make a table ready, its rows in random order if they are to be shuffled."""
        self._check_parameters()
        order = np.arange(X.shape[0])
        if shuffle:
            order = check_random_state(self.random_state).permutation(order)
        return prepare(X, weight, order, self.response, self.n_bins)

    def _anneal(
        self, prepared: Prepared, loss: Loss, ks: Sequence[int]
    ) -> list[tuple[Model, AnnealingResult]]:
        """Run the annealing once for all sizes of `ks`; one model a size, largest first.

        The loss is bound to the rows in the order of the design.
        """
        always_keep, groups = self.always_keep, self.groups
        design = prepared.new_design()
        sizes = [self._attainable(k, design.n_features) for k in ks]
        path = anneal_path(
            design,
            loss,
            self._resolve_penalty(),
            InverseSchedule(sizes[0], self.n_iter, self.mu),
            sizes,
            batch_size=self._resolve_batch_size(design.n_rows),
            momentum=self.momentum,
            learning_rate=self.learning_rate,
            feature_groups=None if groups is None else np.asarray(groups),
            always_keep=None if always_keep is None else np.asarray(always_keep),
            tol=self.tol,
            callback=self.callback,
        )
        return [(prepared.to_model(result), result) for result in path]

    def _check_parameters(self) -> None:
        if self.response not in RESPONSES:
            raise ParameterError(f"response must be one of {RESPONSES}, got {self.response!r}")
        if not isinstance(self.n_bins, Integral) or not 1 <= self.n_bins <= 255:
            raise ParameterError(f"n_bins must be an integer from 1 to 255, got {self.n_bins!r}")
        if isinstance(self.batch_size, str) and self.batch_size != "auto":
            raise ParameterError(f'batch_size must be "auto", None or an integer, got {self.batch_size!r}')
        known = self.penalty is None or hasattr(self.penalty, "add_gradient")
        if not known and not (isinstance(self.penalty, str) and self.penalty == "auto"):
            raise ParameterError(f'penalty must be "auto", None or a penalty, got {self.penalty!r}')

    def _attainable(self, k: int, n_features: int) -> int:
        if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
            raise ParameterError(f"k must be an integer of at least 1, got {k!r}")
        available = n_features if self.groups is None else len(np.unique(self.groups))
        if k > available:
            what = "features" if self.groups is None else "groups"
            warn(f"k = {k} exceeds the {available} {what} of X; all are kept", stacklevel=4)
        return min(int(k), available)

    def _resolve_batch_size(self, n_samples: int) -> int | None:
        if isinstance(self.batch_size, str):
            return max(AUTO_BATCH_SIZE[self.response], n_samples // AUTO_BATCHES)
        return self.batch_size

    def _resolve_penalty(self) -> Penalty | None:
        if isinstance(self.penalty, str):
            return DEFAULT_SMOOTHING if self.response == "piecewise" else None
        return self.penalty

    def _set_fitted(self, model: Model, result: AnnealingResult) -> None:
        """Set the fitted attributes that all estimators have."""
        self.model_ = model
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[model.features] = True
        self.ranking_ = result.ranking
        self.trace_ = result.trace
        self.n_iter_ = len(result.trace)
        self.intercept_ = model.intercept
        if isinstance(model, LinearModel):
            self.coef_ = np.zeros((len(model.coef), self.n_features_in_))
            self.coef_[:, model.features] = model.coef
        elif isinstance(model, PiecewiseModel):
            self.knots_ = model.knots()
            self.knot_values_ = model.values

    def _respond(self, X) -> np.ndarray:
        """Return f for each sample, shape (n_samples, n_outputs)."""
        check_is_fitted(self)
        return self.model_.respond(self._validate(X, reset=False))

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.response == "linear"
        return tags
