"""Choosing k by cross-validation along the path of one annealing run per fold."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
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
from ..row_protocol import RowSource
from ..row_subset import RowSubset
from .base import fitting
from .classifier import FSAClassifier
from .regressor import FSARegressor
from .row_inputs import as_rows, names_among

DEFAULT_SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200)


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

    constraints: ClassVar[dict] = {
        "k": ["array-like", None],
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
        with fitting(self):
            self.k_ = self._choose_size(X, y, sample_weight, self._split_parameters(sample_weight, groups))
            self._set_fitted(*self._fit_sizes(X, y, sample_weight, [self.k_])[0])
        return self

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

    def _choose_size(self, X, y, sample_weight, split_parameters) -> int:
        sizes = self._sizes()
        splitter = check_cv(self.cv, y, classifier=is_classifier(self))
        splits = list(splitter.split(np.empty((len(y), 0)), y, **split_parameters))
        if isinstance(X, RowSource):  # which are read in their order
            splits = [(np.sort(train), np.sort(test)) for train, test in splits]
        scorer = check_scoring(self, scoring=self.scoring)
        scores = np.array([self._score_fold(X, y, sample_weight, sizes, scorer, *rows) for rows in splits])
        self.cv_results_ = {
            "k": np.array(sizes),
            "split_test_scores": scores,
            "mean_test_score": scores.mean(axis=0),
            "std_test_score": scores.std(axis=0),
        }
        return sizes[int(np.argmax(self.cv_results_["mean_test_score"]))]

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

    def _score_fold(self, X, y, sample_weight, sizes, scorer, train, test) -> list[float]:
        weight = None if sample_weight is None else _safe_indexing(sample_weight, train)
        estimator = self._single()
        fitted = estimator._fit_sizes(_rows_of(X, train), _safe_indexing(y, train), weight, sizes)
        scores = []
        for one in reversed(fitted):  # smallest first
            estimator._set_fitted(*one)
            scores.append(scorer(estimator, _rows_of(X, test), _safe_indexing(y, test)))
        return scores

    def _single(self):
        """Return an unfitted estimator of one size with the same parameters."""
        parameters = self.get_params(deep=False)
        del parameters["cv"], parameters["scoring"]
        return clone(self._single_class(**parameters))


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
        As in scikit-learn; accuracy by default.
    loss, response, n_bins, n_iter, mu, batch_size, momentum, learning_rate, penalty, always_keep, \
feature_groups, class_weight, tol, random_state, callback
        See `FSAClassifier`.

    Attributes
    ----------
    k_ : int
        The size chosen.
    cv_results_ : dict of ndarray
        `k` (n_sizes,), `split_test_scores` (n_folds, n_sizes), `mean_test_score`, `std_test_score`.
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
    k, cv, scoring
        See `FSAClassifierCV`; the default score is R^2.
    loss, response, n_bins, n_iter, mu, batch_size, momentum, learning_rate, penalty, always_keep, \
feature_groups, tol, random_state, callback
        See `FSARegressor`.

    Attributes
    ----------
    k_, cv_results_
        See `FSAClassifierCV`.
    """

    _single_class = FSARegressor

    _parameter_constraints: ClassVar[dict] = {
        **FSARegressor._parameter_constraints,
        **SizeByCrossValidation.constraints,
    }
