"""Choosing k by cross-validation along the path of one annealing run per fold."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_sample_weight

from ...features.errors import ParameterError
from .classifier import FSAClassifier
from .regressor import FSARegressor

DEFAULT_SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200)


class _SizeByCrossValidation:
    """Fit the path on each fold, score every size on the held-out part, fit the best size on all.

    Mixed into an estimator whose `k` is a sequence of sizes (None: `DEFAULT_SIZES` up to the number
    of features). Among sizes of equal score the smallest wins.
    """

    k: Any
    cv: Any
    scoring: Any
    groups: Any
    _single_class: type

    def _choose_size(self, X, y, sample_weight) -> int:
        sizes = self._sizes(X)
        splits = list(check_cv(self.cv, y, classifier=is_classifier(self)).split(X, y))
        scorer = check_scoring(self, scoring=self.scoring)
        scores = np.array([self._score_fold(X, y, sample_weight, sizes, scorer, *rows) for rows in splits])
        self.cv_results_ = {
            "k": np.array(sizes),
            "split_test_scores": scores,
            "mean_test_score": scores.mean(axis=0),
            "std_test_score": scores.std(axis=0),
        }
        return sizes[int(np.argmax(self.cv_results_["mean_test_score"]))]

    def _sizes(self, X) -> list[int]:
        """Return the sizes to try, ascending."""
        available = np.shape(X)[1] if self.groups is None else len(np.unique(self.groups))
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
        fitted = estimator._fit_sizes(_safe_indexing(X, train), _safe_indexing(y, train), weight, sizes)
        scores = []
        for model, result in reversed(fitted):  # smallest first
            estimator._set_fitted(model, result)
            scores.append(scorer(estimator, _safe_indexing(X, test), _safe_indexing(y, test)))
        return scores

    def _single(self):
        """Return an unfitted estimator of one size with the same parameters."""
        parameters = self.get_params(deep=False)
        del parameters["cv"], parameters["scoring"]
        return clone(self._single_class(**parameters))

    def _fit_best(self, X, y, sample_weight):
        X, y = self._validate(X, y=y, multi_output=not is_classifier(self))
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        self.k_ = self._choose_size(X, y, sample_weight)
        self._set_fitted(*self._fit_sizes(X, y, sample_weight, [self.k_])[0])
        return self


class FSAClassifierCV(_SizeByCrossValidation, FSAClassifier):
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
groups, class_weight, tol, random_state, callback
        See `FSAClassifier`.

    Attributes
    ----------
    k_ : int
        The size chosen.
    cv_results_ : dict of ndarray
        `k` (n_sizes,), `split_test_scores` (n_folds, n_sizes), `mean_test_score`, `std_test_score`.
    """

    _single_class = FSAClassifier

    def __init__(
        self,
        k=None,
        *,
        cv=5,
        scoring=None,
        loss="auto",
        response="linear",
        n_bins=10,
        n_iter=500,
        mu=300,
        batch_size="auto",
        momentum=0.9,
        learning_rate="auto",
        penalty="auto",
        always_keep=None,
        groups=None,
        class_weight=None,
        tol=1e-5,
        random_state=0,
        callback=None,
    ):
        super().__init__(
            k,
            loss=loss,
            response=response,
            n_bins=n_bins,
            n_iter=n_iter,
            mu=mu,
            batch_size=batch_size,
            momentum=momentum,
            learning_rate=learning_rate,
            penalty=penalty,
            always_keep=always_keep,
            groups=groups,
            class_weight=class_weight,
            tol=tol,
            random_state=random_state,
            callback=callback,
        )
        self.cv = cv
        self.scoring = scoring

    def fit(self, X, y, sample_weight=None):
        """Choose k, select features and train; see `FSAClassifier.fit`."""
        return self._fit_best(X, y, sample_weight)


class FSARegressorCV(_SizeByCrossValidation, FSARegressor):
    """`FSARegressor` with k chosen by cross-validation; see `FSAClassifierCV`.

    Parameters
    ----------
    k, cv, scoring
        See `FSAClassifierCV`; the default score is R^2.
    response, n_bins, n_iter, mu, batch_size, momentum, learning_rate, penalty, always_keep, groups, \
tol, random_state, callback
        See `FSARegressor`.

    Attributes
    ----------
    k_, cv_results_
        See `FSAClassifierCV`.
    """

    _single_class = FSARegressor

    def __init__(
        self,
        k=None,
        *,
        cv=5,
        scoring=None,
        response="linear",
        n_bins=10,
        n_iter=500,
        mu=100,
        batch_size=None,
        momentum=0.9,
        learning_rate="auto",
        penalty="auto",
        always_keep=None,
        groups=None,
        tol=1e-5,
        random_state=0,
        callback=None,
    ):
        super().__init__(
            k,
            response=response,
            n_bins=n_bins,
            n_iter=n_iter,
            mu=mu,
            batch_size=batch_size,
            momentum=momentum,
            learning_rate=learning_rate,
            penalty=penalty,
            always_keep=always_keep,
            groups=groups,
            tol=tol,
            random_state=random_state,
            callback=callback,
        )
        self.cv = cv
        self.scoring = scoring

    def fit(self, X, y, sample_weight=None):
        """Choose k, select features and train; see `FSARegressor.fit`."""
        return self._fit_best(X, y, sample_weight)
