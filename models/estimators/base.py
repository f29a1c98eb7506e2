"""What the annealed estimators share: parameters, checks, the run itself, and what they selected."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar
from warnings import warn

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, InvalidParameterError, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ...features.errors import DataError, ParameterError
from ..additive import LinearModel, PiecewiseModel
from ..annealing import AnnealingConfig, AnnealingResult, anneal, anneal_path
from ..cluster.context import current_client, one_fit_at_a_time
from ..cluster.workers import ClusterShards
from ..columns import varying_columns
from ..curves import CurveModel, knot_arrays
from ..designs.device import moved
from ..losses import Loss
from ..model_kinds import Model
from ..penalties import KeepsFeatures, Penalty
from ..responses import QUANTILES, Linear, Piecewise, Prepared, Response
from ..row_preparation import RowSettings, prepare_rows
from ..row_protocol import RowSource, respond_to_rows
from ..run_states import current_states
from ..schedules import InverseSchedule
from .callbacks import CallbackSupport, each_iteration, followed
from .explaining import Explains
from .row_inputs import (
    as_rows,
    budget_bytes,
    feature_columns,
    names_among,
    read_target,
    read_weight,
    tell_left_out,
)
from .table_inputs import (
    check_missing,
    code_categories,
    column_means,
    columns_without_values,
    find_categories,
    resolve_monotone,
)

# More batches than this an iteration only cost time: larger samples get larger batches.
AUTO_BATCHES = 16
LossFactory = Callable[[np.ndarray, np.ndarray], Loss]
"""(targets, sample_weight) -> loss; targets have shape (n_outputs, n_samples)."""
Fitted = tuple[Model, AnnealingResult]
COUNT = Interval(Integral, 1, None, closed="left")


@contextmanager
def fitting(estimator: "BaseFSA") -> Iterator[None]:
    """Surround a fit: who follows it is told, and a cluster is its alone."""
    with one_fit_at_a_time(), followed(estimator):
        yield


def _restricted(always_keep, feature_groups, candidates: np.ndarray, n_features: int):
    """Return the features that must stay, and the groups of all, by their positions among the candidates."""
    forced = None if always_keep is None else np.asarray(always_keep)
    groups = None if feature_groups is None else np.asarray(feature_groups)
    if len(candidates) == n_features:
        return forced, groups
    if forced is not None:
        if missing := sorted(set(forced.tolist()) - set(candidates.tolist())):
            raise ParameterError(f"always_keep names features that have left before: {missing}")
        forced = np.searchsorted(candidates, forced)
    return forced, None if groups is None else groups[candidates]


def _among_all(result: AnnealingResult, candidates: np.ndarray, before: np.ndarray) -> AnnealingResult:
    """Return the result of a run on some features by the numbers of all; the others have left before."""
    ranking = np.empty(len(before), dtype=np.int64)
    others = np.setdiff1d(np.arange(len(before)), candidates)
    ranking[candidates] = result.ranking
    ranking[others[np.argsort(before[others], kind="stable")]] = (
        result.ranking.max() + 1 + np.arange(len(others))
    )
    kept = candidates[result.kept]
    return replace(result, model=result.model.with_features(kept), kept=kept, ranking=ranking)


class FittedAttributes:
    """What `fit` sets, named here for readers and type checkers."""

    model_: Model
    support_: np.ndarray
    ranking_: np.ndarray
    n_features_in_: int
    # A regressor of one target has them without the axis of outputs, as in scikit-learn.
    coef_: Any
    intercept_: Any


@dataclass(eq=False, repr=False)
class BaseFSA(FittedAttributes, Explains, CallbackSupport, SelectorMixin, BaseEstimator):
    """Base of the annealed estimators; see `FSAClassifier` for the parameters they share.

    Estimators are data classes: their fields are their parameters, of which a subclass states only its own
    and other defaults. Nothing is checked before `fit`.
    """

    k: Any = 10
    _: KW_ONLY
    response: str | Response = "linear"
    n_bins: int = 20
    n_iter: int = 500
    mu: float = 300
    batch_size: int | str | None = "auto"
    momentum: float = 0.9
    learning_rate: float | str = "auto"
    penalty: Penalty | str | None = "auto"
    always_keep: Any = None
    feature_groups: Any = None
    tol: float = 1e-5
    memory_budget: int | str | None = None
    warm_start: bool = False
    monotone: Any = None
    n_pairs: int = 0
    missing: str = "auto"
    categories: Any = "auto"
    unseen: str = "missing"
    callback: Callable | None = None

    _parameter_constraints: ClassVar[dict] = {
        "k": [COUNT],
        "response": [StrOptions({"linear", "piecewise"}), Response],
        "n_bins": [Interval(Integral, 1, 255, closed="both")],
        "n_iter": [COUNT],
        "mu": [Interval(Real, 0, None, closed="left")],
        "batch_size": [StrOptions({"auto"}), COUNT, None],
        "momentum": [Interval(Real, 0, 1, closed="left")],
        "learning_rate": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "penalty": [StrOptions({"auto"}), HasMethods("add_gradient"), None],
        "always_keep": ["array-like", None],
        "feature_groups": ["array-like", None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "memory_budget": [COUNT, str, None],
        "warm_start": ["boolean"],
        "monotone": [dict, None],
        "n_pairs": [Interval(Integral, 0, None, closed="left")],
        "missing": [StrOptions({"auto", "error", "mean"})],
        "categories": [StrOptions({"auto", "text"}), "array-like"],
        "unseen": [StrOptions({"missing", "error"})],
        "callback": [callable, None],
    }

    def _validate_params(self) -> None:
        """Check the parameters as scikit-learn does, with an error of ours, in one line."""
        try:
            super()._validate_params()
        except InvalidParameterError as error:
            raise ParameterError(str(error)) from None

    def save(self, path: str | os.PathLike, metadata: dict[str, Any] | None = None) -> None:
        """Write the fitted estimator to a model file, which `annealed.load_model` reads.

        Parameters
        ----------
        path : path-like
        metadata : dict, optional
            JSON values to keep along: data, scores, seed.
        """
        from .persistence import save  # it knows all estimators

        save(self, path, metadata)

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return the fitted model as JSON: its terms by the names of their columns.

        What stands in it is told at `annealed.models.exports.description`.
        """
        from ..exports.description import to_json

        return to_json(self, indent=indent)

    def to_sql(self, *, quote: str = '"') -> str | list[str]:
        """Return the fitted model as an SQL expression over the columns of a table, one for each output.

        Parameters
        ----------
        quote : str
            What is put around the names of columns; MySQL wants a backtick.
        """
        from ..exports.sql import to_sql

        return to_sql(self, quote=quote)

    def to_onnx(self, path: str | os.PathLike) -> None:
        """Write the fitted model as an ONNX graph of float64, which needs the package `onnx`.

        Parameters
        ----------
        path : path-like
        """
        from ..exports.onnx_graph import to_onnx

        to_onnx(self, path)

    def _resolve_response(self) -> Response:
        if isinstance(self.response, Response):
            return self.response
        return Piecewise(self.n_bins) if self.response == "piecewise" else Linear()

    def _validate(self, X, *, reset: bool = True, **options):
        """Check X (and y, if among the options) as scikit-learn does."""
        response = self._resolve_response()
        X = self._code_categories(X, response, reset)
        checked = validate_data(
            self,
            X,
            accept_sparse=["csr", "csc"] if response.takes_sparse else False,
            dtype=[np.float64, np.float32],
            reset=reset,
            ensure_all_finite=True if sparse.issparse(X) else "allow-nan",
            **options,
        )
        if "y" in options:
            return self._complete(checked[0], reset), checked[1]
        return self._complete(checked, reset)

    def _code_categories(self, X, response: Response, reset: bool):
        """Return a table whose categories are numbers; those of a training table are found and remembered."""
        if hasattr(self, "_known_columns"):  # of a fold, whose table has been coded before
            self.categories_ = self._known_columns[0]
            return X
        if reset:
            self.categories_ = find_categories(X, self.categories)
            if self.categories_ and not _has_bins(response):
                raise DataError(
                    f"X has {len(self.categories_)} columns of categories, which a linear response cannot "
                    'take; response="piecewise" can'
                )
        return code_categories(X, getattr(self, "categories_", {}), self.unseen)

    def _complete(self, X, reset: bool):
        """Return a checked table without missing values, unless these have bins."""
        if sparse.issparse(X):
            return X
        if self.missing == "mean":
            if reset:
                self.fill_values_ = column_means(X, self._column_names())
            missing = np.isnan(X)
            return np.where(missing, self.fill_values_.astype(X.dtype), X) if missing.any() else X
        if self.missing == "error" or not _has_bins(self._resolve_response()):
            check_missing(X, self._column_names())
        elif reset and np.isnan(X.min()) and len(empty := columns_without_values(X)):
            names = [self._column_names()[j] for j in empty[:5]]
            warn(f"{len(empty)} columns of X have no value at all and are left out: {names}", stacklevel=4)
        return X

    def _column_names(self) -> list[str]:
        """Return the features' names, or their numbers."""
        names = getattr(self, "feature_names_in_", None)
        return [f"column {j}" for j in range(self.n_features_in_)] if names is None else list(names)

    def _validate_with_weights(self, X, y, sample_weight, **options):
        """Return X, y and positive weights, without the samples that weigh nothing.

        Rows that are not held in memory come back as they are, with weights that may be zero.
        """
        rows = as_rows(X, self.memory_budget, names_among(y, sample_weight))
        if rows is not None:
            return self._validate_rows(rows, y, sample_weight, **options)
        X, y = self._validate(X, y=y, **options)
        weight = np.asarray(_check_sample_weight(sample_weight, X, ensure_non_negative=True), np.float64)
        if not weight.any():
            raise DataError("sample_weight is zero for every sample")
        if not weight.all():
            counts = weight > 0
            X, y, weight = X[counts], y[counts], weight[counts]
        return X, y, weight

    def _validate_rows(self, rows: RowSource, y, sample_weight=None, **options):
        """Check what belongs to rows, and note which features they have."""
        y, weight = read_target(rows, y, **options), read_weight(rows, sample_weight)
        tell_left_out(rows)
        self.n_features_in_ = rows.n_features
        self.categories_ = {}
        self.__dict__.pop("feature_names_in_", None)
        if rows.feature_names is not None:
            self.feature_names_in_ = np.array(rows.feature_names, dtype=object)
        # Rows that weigh nothing take part in nothing; nor may their targets.
        if not weight.all():
            y = np.array(y)
            y[weight == 0] = y[np.argmax(weight > 0)]
        return rows, y, weight

    def _prepare(
        self,
        X,
        weight: np.ndarray,
        *,
        shuffle: bool,
        n_outputs: int = 1,
        part_ends: np.ndarray | None = None,
    ) -> Prepared:
        """Make a table ready, its rows in random order if they are to be shuffled.

        If they are not, `part_ends` says where rows may be divided.
        """
        if isinstance(X, RowSource):
            return self._prepare_rows(X, weight, n_outputs, part_ends)
        varying_columns(X)  # an error if there is none
        order = np.arange(X.shape[0])
        if shuffle:
            order = check_random_state(self.random_state).permutation(order)
        return self._bound_response().prepare(X, weight, order)

    def _bound_response(self) -> Response:
        """Return the response with what it has to know of the columns."""
        response = self._resolve_response()
        categories, signs = getattr(self, "_known_columns", None) or self._columns_known()
        if not _has_bins(response):
            if signs or self.n_pairs:
                raise ParameterError(
                    'monotone and n_pairs need response="piecewise", with knots at quantiles'
                )
            return response
        n_features = self.n_features_in_
        if self.n_pairs > (most := n_features * (n_features - 1) // 2):
            raise ParameterError(f"n_pairs = {self.n_pairs} exceeds the {most} pairs of {n_features} columns")
        counts = {j: len(labels) for j, labels in categories.items()}
        return replace(response, categories=counts, monotone=signs)  # type: ignore[type-var]

    def _columns_known(self) -> tuple[dict[int, list], dict[int, int]]:
        """Return the labels of the columns of categories, and the signs of those that must be monotone."""
        categories = getattr(self, "categories_", {})
        names = getattr(self, "feature_names_in_", None)
        return categories, resolve_monotone(self.monotone, names, self.n_features_in_, categories)

    def _prepare_rows(
        self, rows: RowSource, weight: np.ndarray, n_outputs: int, part_ends: np.ndarray | None
    ) -> Prepared:
        """Make rows ready within the memory budget, on the workers of a cluster if there is one."""
        n_rows = int(np.count_nonzero(weight))
        batch_size, client = self._resolve_batch_size(n_rows), current_client()
        settings = RowSettings(
            self._bound_response(),
            n_batches=1 if batch_size is None or part_ends is not None else max(1, n_rows // batch_size),
            n_outputs=n_outputs,
            memory_budget=budget_bytes(self.memory_budget),
        )
        new_shards = None if client is None else partial(ClusterShards, client)
        rng = None if part_ends is not None else check_random_state(self.random_state)
        return prepare_rows(rows, weight, settings, rng, new_shards, part_ends)

    def _anneal(
        self,
        prepared: Prepared,
        loss: Loss,
        ks: Sequence[int],
        *,
        penalty: Penalty | None = None,
        all_rows: bool = False,
    ) -> list[Fitted]:
        """Run the annealing once for all sizes of `ks`; one model per size, largest first.

        The loss is bound to the rows in the order of the design. A penalty, or batches of all rows, take the
        place of what "auto" stands for.
        """
        if penalty is None or not isinstance(self.penalty, str):
            penalty = self._resolve_penalty()
        design = prepared.new_design()
        candidates = self._starting_features(design.n_features)
        always_keep, groups = _restricted(
            self.always_keep, self.feature_groups, candidates, design.n_features
        )
        bound_penalty = prepared.new_penalty(penalty)
        if len(candidates) < design.n_features:
            design.keep(candidates)
            if isinstance(bound_penalty, KeepsFeatures):
                bound_penalty.keep(candidates)
        all_rows = all_rows and isinstance(self.batch_size, str)
        sizes = [self._attainable(k, design.n_features) for k in ks]
        is_exact = prepared.fits_exactly(sizes, loss, penalty)
        design = design if is_exact else moved(design)
        schedule = InverseSchedule(sizes[0], self.n_iter, self.mu)
        config = AnnealingConfig(
            batch_size=None if all_rows else self._resolve_batch_size(design.n_rows),
            momentum=self.momentum,
            learning_rate=self.learning_rate,
            feature_groups=groups,
            always_keep=always_keep,
            tol=np.inf if is_exact else self.tol,
            callback=each_iteration(self),
        )
        problem = design, loss, bound_penalty, schedule
        states = current_states()
        if states is None or len(set(sizes)) > 1:
            path = anneal_path(*problem, sizes, config)
        else:
            state = states.begin((design.n_rows, design.n_features, *self._told_apart(), schedule), loss)
            config = replace(config, checkpoint=state.write)
            path = [anneal(*problem, config, resume_from=state.found)]
        if len(candidates) < len(getattr(self, "ranking_", candidates)):
            path = [_among_all(result, candidates, self.ranking_) for result in path]
        if not is_exact:
            if self.n_pairs:
                raise ParameterError(
                    "n_pairs needs the squared error or the logistic loss, the default penalty, and few "
                    "enough features and rows"
                )
            return [(prepared.to_model(result), result) for result in path]
        return [(prepared.fit_curves(result, loss, self.n_pairs), result) for result in path]

    @property
    def _continues(self) -> bool:
        """Whether a fit goes on from the model at hand."""
        return self.warm_start and hasattr(self, "model_")

    def _starting_features(self, n_features: int) -> np.ndarray:
        """Return the features that a fit begins with: all, or those of the model that it goes on from."""
        if not self._continues:
            return np.arange(n_features)
        if len(self.ranking_) != n_features:
            raise DataError(
                f"warm_start goes on from a model of {len(self.ranking_)} features; X has {n_features}"
            )
        return np.flatnonzero(self.support_)

    def _told_apart(self) -> list[str]:
        """Return the parameters that a model depends on, as text."""
        parameters = self.get_params(deep=False)
        return [f"{name}={value!r}" for name, value in sorted(parameters.items()) if name != "callback"]

    def _sizes_of_models(self, ks: Sequence[int]) -> tuple[int, ...]:
        """Return how many features the models will have; nothing where they are kept by groups."""
        return () if self.feature_groups is not None else tuple(min(int(k), self.n_features_in_) for k in ks)

    def _attainable(self, k: int, n_features: int) -> int:
        if isinstance(k, bool):
            raise ParameterError(f"k must be an integer of at least 1, got {k!r}")
        available = n_features if self.feature_groups is None else len(np.unique(self.feature_groups))
        if k > available:
            what = "features" if self.feature_groups is None else "feature groups"
            warn(f"k = {k} exceeds the {available} {what} of X; all are kept", stacklevel=4)
        return min(int(k), available)

    def _resolve_batch_size(self, n_samples: int) -> int | None:
        if isinstance(self.batch_size, str):
            return max(self._resolve_response().batch_rows, n_samples // AUTO_BATCHES)
        return self.batch_size

    def _resolve_penalty(self) -> Penalty | None:
        return self._resolve_response().smoothing if isinstance(self.penalty, str) else self.penalty

    def _set_fitted(self, model: Model, result: AnnealingResult) -> None:
        """Set the fitted attributes that all estimators have."""
        self._set_model(model)
        self.ranking_ = np.where(self.support_, 1, result.ranking)
        self.trace_ = result.trace
        self.n_iter_ = len(result.trace)

    def _set_model(self, model: Model) -> None:
        """Set what follows from the model alone."""
        self.model_ = model
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[model.features] = True
        self.intercept_ = model.intercept
        if isinstance(model, LinearModel):
            self.coef_ = np.zeros((len(model.coef), self.n_features_in_))
            self.coef_[:, model.features] = model.coef
        elif isinstance(model, PiecewiseModel):
            self.knots_ = model.knots()
            self.knot_values_ = model.values
        elif isinstance(model, CurveModel):
            self.knots_, self.knot_values_ = knot_arrays(model)
        if not isinstance(model, LinearModel):
            self.feature_importances_ = np.zeros(self.n_features_in_)
            strength = model.importance()
            self.feature_importances_[model.features] = strength / max(strength.sum(), np.finfo(float).tiny)

    def _respond(self, X) -> np.ndarray:
        """Return f for each sample, shape (n_samples, n_outputs)."""
        check_is_fitted(self)
        rows = as_rows(X, self.memory_budget)
        if rows is not None:
            names = getattr(self, "feature_names_in_", None)
            columns = feature_columns(rows, names, self.n_features_in_)
            return respond_to_rows(self.model_.with_features(columns[self.model_.features]), rows)
        return self.model_.respond(self._validate(X, reset=False))

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        bins = self.missing == "auto" and _has_bins(self._resolve_response())
        tags.input_tags.allow_nan = self.missing == "mean" or bins
        tags.input_tags.sparse = isinstance(self.response, str) and self.response == "linear"
        if isinstance(self.response, Response):
            tags.input_tags.sparse = self.response.takes_sparse
        return tags


def _has_bins(response: Response) -> bool:
    """Whether a response has a place for missing values and categories."""
    return isinstance(response, Piecewise) and response.ranges == QUANTILES
