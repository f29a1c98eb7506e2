"""Choosing k, and if asked loss and ridge, by cross-validation along one annealing run per fold."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from itertools import product
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.base import _fit_context, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _check_sample_weight

from ...features.errors import ParameterError
from ..penalties import FadingRidge
from ..row_protocol import RowSource
from ..row_subset import RowSubset
from .base import fitting
from .classifier import FSAClassifier
from .regressor import FSARegressor
from .row_inputs import as_rows, names_among

DEFAULT_SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200)
LEAST_PROBABILITY = 1e-15


@dataclass(eq=False, repr=False)
class SizeByCrossValidation:
    """Fit the path on each fold, score every size on the held-out part, fit the best size on all.

    Mixed into an estimator whose `k` is a sequence of sizes (None: `DEFAULT_SIZES` up to the number
    of features). Among sizes of equal score the smallest wins.
    """

    k: Any = None
    _: KW_ONLY
    cv: Any = 5
    scoring: Any = None
    losses: Any = None
    ridges: Any = None

    constraints: ClassVar[dict] = {
        "k": ["array-like", None],
        "losses": ["array-like", None],
        "ridges": ["array-like", None],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
    }
    # `groups` are the splitter's; it says itself whether it wants them.
    __metadata_request__fit: ClassVar[dict] = {"groups": UNUSED}

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, groups=None):
        """Choose k, select features and train.

        Parameters
        ----------
        X, y, sample_weight
            See the estimator of a single k.
        groups : array-like of shape (n_samples,), optional
            Groups of samples, for a splitter that keeps them together, such as `GroupKFold`.

        Returns
        -------
        self
        """
        X, y, sample_weight = self._validate_all(X, y, sample_weight)
        with fitting(self), self._tell_columns():
            split_parameters = self._split_parameters(sample_weight, groups)
            self.k_, loss, self.ridge_ = self._choose(X, y, sample_weight, split_parameters)
            settings = self._settings(loss, self.ridge_, len(y), [self.k_])
            with self._with(settings | {"warm_start": False}):  # the folds know no model before, either
                self._set_fitted(*self._fit_sizes(X, y, sample_weight, [self.k_])[0])
        return self

    @contextmanager
    def _tell_columns(self) -> Iterator[None]:
        """Tell the fits what is known of the columns of a table that has become numbers without names."""
        names = getattr(self, "feature_names_in_", None)
        self._known_columns = self._columns_known()  # type: ignore[attr-defined]
        try:
            yield
        finally:
            del self._known_columns
            if names is not None:
                self.feature_names_in_ = names

    @contextmanager
    def _with(self, settings: dict[str, Any]) -> Iterator[None]:
        """Let settings take the place of parameters for a while."""
        stated = {name: getattr(self, name) for name in settings}
        try:
            vars(self).update(settings)
            yield
        finally:
            vars(self).update(stated)

    def _settings(self, loss, ridge: float | None, n_rows: int, sizes: list[int]) -> dict[str, Any]:
        """Return the parameters of a fit with this loss and ridge, which go with all rows in a batch."""
        if ridge is None:
            return {"loss": loss}
        least = 1.0 if is_classifier(self) else 0.0
        settings = {"loss": loss, "penalty": FadingRidge(ridge, n_rows, tuple(sizes), least)}
        return settings | ({"batch_size": None} if isinstance(self.batch_size, str) else {})  # type: ignore[attr-defined]

    def _validate_all(self, X, y, sample_weight):
        """Return the table, in memory or as rows that stay where they are, the targets and the weights."""
        multi_output = not is_classifier(self)
        names = names_among(y, sample_weight)
        rows = as_rows(X, self.memory_budget, names)  # type: ignore[attr-defined]
        if rows is not None:
            return self._validate_rows(rows, y, sample_weight, multi_output=multi_output)
        X, y = self._validate(X, y=y, multi_output=multi_output)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        return X, y, sample_weight

    def _split_parameters(self, sample_weight, groups) -> dict[str, Any]:
        """Return what the splitter is given: by scikit-learn's routing where that is switched on."""
        given = {"sample_weight": sample_weight, "groups": groups}
        given = {name: value for name, value in given.items() if value is not None}
        if get_config().get("enable_metadata_routing"):
            return process_routing(self, "fit", **given).splitter.split
        return {"groups": groups}

    def get_metadata_routing(self):
        """Return which metadata go where: sample_weight to this estimator, the rest to the splitter."""
        splitter = check_cv(self.cv, classifier=is_classifier(self))
        to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(splitter=splitter, method_mapping=to_split)

    def _choose(self, X, y, sample_weight, split_parameters) -> tuple[int, Any, float | None]:
        """Return the size, the loss and the ridge with the best mean score."""
        sizes, candidates = self._sizes(), self._candidates()
        splitter = check_cv(self.cv, y, classifier=is_classifier(self))
        splits = list(splitter.split(np.empty((len(y), 0)), y, **split_parameters))
        if isinstance(X, RowSource):  # which are read in their order
            splits = [(np.sort(train), np.sort(test)) for train, test in splits]
        scorer = self._scorer()
        scores = np.array(
            [
                [
                    score
                    for loss, ridge in candidates
                    for score in self._score_fold(X, y, sample_weight, sizes, scorer, loss, ridge, *rows)
                ]
                for rows in splits
            ]
        )
        tried = [(k, loss, ridge) for loss, ridge in candidates for k in sizes]
        self.cv_results_ = {
            "k": np.array([k for k, _, _ in tried]),
            "split_test_scores": scores,
            "mean_test_score": scores.mean(axis=0),
            "std_test_score": scores.std(axis=0),
        }
        if self.losses is not None:
            self.cv_results_["loss"] = np.array([str(loss) for _, loss, _ in tried])
        if self.ridges is not None:
            self.cv_results_["ridge"] = np.array([ridge for _, _, ridge in tried])
        return tried[int(np.argmax(self.cv_results_["mean_test_score"]))]

    def _candidates(self) -> list[tuple[Any, float | None]]:
        """Return the pairs of loss and ridge to try; no ridge is that of the parameter `penalty`."""
        losses = [self.loss] if self.losses is None else list(self.losses)  # type: ignore[attr-defined]
        ridges = [None] if self.ridges is None else list(self.ridges)
        for ridge in ridges if self.ridges is not None else []:
            if not isinstance(ridge, Real) or not 0 <= float(ridge) < np.inf:
                raise ParameterError(f"ridges must hold finite numbers of at least 0, got {ridge!r}")
        if not losses or not ridges or isinstance(self.losses, str):
            raise ParameterError("losses and ridges must be sequences with something to try, or None")
        return list(product(losses, ridges))

    def _scorer(self):
        """Return the scorer; by default log loss where the loss is logistic or one of several."""
        logistic = self.losses is not None or self.loss == "logistic"  # type: ignore[attr-defined]
        if self.scoring is None and is_classifier(self) and logistic:
            return log_likelihood
        return check_scoring(self, scoring=self.scoring)

    def _sizes(self) -> list[int]:
        """Return the sizes to try, ascending."""
        groups = self.feature_groups  # type: ignore[attr-defined]
        n_features = self.n_features_in_  # type: ignore[attr-defined]
        available = n_features if groups is None else len(np.unique(groups))
        wanted = DEFAULT_SIZES if self.k is None else self.k
        if not isinstance(wanted, Sequence | np.ndarray) or isinstance(wanted, str) or len(wanted) == 0:
            raise ParameterError(f"k must be a sequence of sizes or None, got {self.k!r}")
        for k in wanted:
            if not isinstance(k, Integral) or k < 1:
                raise ParameterError(f"k must hold integer sizes of at least 1, got {k!r}")
        sizes = sorted({int(k) for k in wanted if k <= available})
        if not sizes:
            raise ParameterError(f"k must hold a size of at most {available}, got {list(wanted)}")
        return sizes

    def _score_fold(self, X, y, sample_weight, sizes, scorer, loss, ridge, train, test) -> list[float]:
        weight = None if sample_weight is None else _safe_indexing(sample_weight, train)
        settings = self._settings(loss, ridge, len(train), sizes)
        estimator = self._single().set_params(**settings)
        estimator._known_columns = self._known_columns
        fitted = estimator._fit_sizes(_rows_of(X, train), _safe_indexing(y, train), weight, sizes)
        scores = []
        for one in reversed(fitted):  # smallest first
            estimator._set_fitted(*one)
            held_out = _rows_of(X, test), _safe_indexing(y, test)
            scores.append(scorer(estimator, *held_out, **self._weights_of(sample_weight, test)))
        return scores

    def _weights_of(self, sample_weight, test) -> dict[str, Any]:
        """Return the argument by which the default score takes the held-out samples' weights."""
        weight = None if sample_weight is None else _safe_indexing(sample_weight, test)
        counts = weight is not None and self.scoring is None and weight.any()
        return {"sample_weight": weight} if counts else {}

    def _single(self):
        """Return an unfitted estimator of one size with the same parameters."""
        parameters = self.get_params(deep=False)
        for name in ("cv", "scoring", "losses", "ridges"):
            del parameters[name]
        return clone(self._single_class(**parameters))


def log_likelihood(estimator, X, y, sample_weight=None) -> float:
    """Return the mean logarithm of the probability of each sample's class; one never met counts as 1e-15."""
    probability = np.maximum(estimator.predict_proba(X), LEAST_PROBABILITY)
    classes = estimator.classes_
    number = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    of_class = probability[np.arange(len(number)), number]
    logarithms = np.log(np.where(classes[number] == y, of_class, LEAST_PROBABILITY))
    return float(np.average(logarithms, weights=sample_weight))


def _rows_of(X, rows: np.ndarray):
    """Return some rows of a table; those that stay on disk stay there."""
    return RowSubset(X, rows) if isinstance(X, RowSource) else _safe_indexing(X, rows)


@dataclass(eq=False, repr=False)
class FSAClassifierCV(SizeByCrossValidation, FSAClassifier):
    """`FSAClassifier` with k chosen by cross-validation.

    Each fold costs one annealing run, whatever the number of sizes: the run to the largest size goes
    on to the smaller ones.

    Parameters
    ----------
    k : sequence of int, optional
        Sizes to try; by default 1, 2, 3, 5, 8, ... 200 as far as there are features.
    cv : int, splitter or iterable
        As in scikit-learn; an integer makes stratified folds.
    scoring : str or callable, optional
        As in scikit-learn. By default accuracy; the mean logarithm of the probability of the right class
        if the loss is "logistic", or several are tried; these count the samples' weights.
    losses : sequence, optional
        Losses to try, in place of `loss`, each with every size.
    ridges : sequence of float, optional
        Strengths of a `FadingRidge` to try, in place of `penalty`, each with every loss and size. A batch is
        then all rows, unless `batch_size` says otherwise.
    loss, response, n_bins, n_iter, mu, batch_size, momentum, learning_rate, penalty, always_keep, \
feature_groups, class_weight, tol, random_state, callback
        See `FSAClassifier`.

    Attributes
    ----------
    k_ : int
        The size chosen.
    loss_, ridge_
        The loss and the ridge chosen; the latter is None where none was tried.
    cv_results_ : dict of ndarray
        `k` (n_tried,), `split_test_scores` (n_folds, n_tried), `mean_test_score`, `std_test_score`; `loss`
        and `ridge` where they were tried.
    """

    _single_class = FSAClassifier

    _parameter_constraints: ClassVar[dict] = {
        **FSAClassifier._parameter_constraints,
        **SizeByCrossValidation.constraints,
    }


@dataclass(eq=False, repr=False)
class FSARegressorCV(SizeByCrossValidation, FSARegressor):
    """`FSARegressor` with k chosen by cross-validation; see `FSAClassifierCV`.

    Parameters
    ----------
    k, cv, scoring, losses, ridges
        See `FSAClassifierCV`; the default score is R^2.
    loss, response, n_bins, n_iter, mu, batch_size, momentum, learning_rate, penalty, always_keep, \
feature_groups, tol, random_state, callback
        See `FSARegressor`.

    Attributes
    ----------
    k_, ridge_, cv_results_
        See `FSAClassifierCV`.
    """

    _single_class = FSARegressor

    _parameter_constraints: ClassVar[dict] = {
        **FSARegressor._parameter_constraints,
        **SizeByCrossValidation.constraints,
    }
