"""Scores of selectors by cross-validation: the selection is made anew on each training part."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, get_tags

from ...features.errors import AnnealedError, DataError
from ..columns import varying_columns
from ..target_kinds import REGRESSION, kind_of
from .judging import TASKS, folds, make_judge, measure
from .multi_target import selects_jointly, target_weights, varying_targets, votes
from .registry import make_selector


@dataclass(frozen=True)
class Score:
    """What one method reached with k features.

    Attributes
    ----------
    method : str
    k : int
    scores : ndarray of shape (n_folds,)
        Of a ridge model on the selected features, see `judging`.
    stability : float
        Of the folds' selections, from 0 (as by chance) to 1 (always the same): see `stability`.
    seconds : float
        Median time of one selection; the first one may have to load compiled code.
    """

    method: str
    k: int
    scores: np.ndarray
    stability: float
    seconds: float

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(self.scores.mean())


def compare_each(
    X, y: np.ndarray, methods: Sequence[str], ks: Sequence[int], *, n_folds: int, seed: int
) -> Iterator[tuple[str, list[Score], str]]:
    """Score methods over k by cross-validation, one method after the other.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,) or (n_samples, n_targets)
    methods : sequence of str
        Names of the registry, and "all" (every feature) and "random" (k features drawn at random).
    ks : sequence of int
    n_folds, seed : int

    Yields
    ------
    method : str
    scores : list of Score
        By k; "all" once.
    problem : str
        Why the method could not be used, or ""; that does not end the others' comparison.
    """
    kind = kind_of(y)
    parts = folds(X, y, kind, n_folds, seed)
    varying_columns(X)  # complains if there is none
    if y.ndim == 2:
        varying_targets(y)  # so does this
    for method in methods:
        scores: list[Score] = []
        problem = ""
        try:
            for k in [X.shape[1]] if method == "all" else ks:
                scores.append(_score(X, y, kind, method, int(k), parts, seed))
        except (AnnealedError, ValueError) as error:
            problem = str(error).splitlines()[0]
        yield method, scores, problem


def _score(X, y, kind, method, k, parts, seed) -> Score:
    scores, masks, seconds = [], [], []
    for fold, (train, test) in enumerate(parts):
        begin = time.perf_counter()
        drawn = seed + fold if method == "random" else seed
        features = select(X[train], y[train], TASKS[kind], method, k, drawn)
        seconds.append(time.perf_counter() - begin)
        model = make_judge(X, kind).fit(X[train][:, features], y[train])
        scores.append(measure(kind, y[test], model.predict(X[test][:, features])))
        mask = np.zeros(X.shape[1], dtype=bool)
        mask[features] = True
        masks.append(mask)
    return Score(method, k, np.array(scores), stability(np.array(masks)), float(np.median(seconds)))


def select(X, y, task: str, method: str, k: int, seed: int) -> np.ndarray:
    """Return the features that a method selects, best first where it has an order.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Several targets are selected for jointly by the methods that can, and by votes by the others.
    task : {"classification", "regression"}
        What each target is.
    method : str
        Of the registry, or "all" or "random".
    k, seed : int
    """
    return fit_selection(X, y, task, method, k, seed)[0]


def fit_selection(X, y, task: str, method: str, k: int, seed: int) -> tuple[np.ndarray, BaseEstimator | None]:
    """Return the features as `select` does, and the fitted selector where there is a single one."""
    if method == "all":
        return np.arange(X.shape[1]), None
    if method == "random":
        return np.sort(check_random_state(seed).permutation(X.shape[1])[:k]), None
    if y.ndim == 1:
        features, selector = _fit_order(X, y, task, method, k, seed)
    elif selects_jointly(method):
        features, selector = _fit_order(X, y.astype(np.float64), REGRESSION, method, k, seed)
    else:
        varying = y[:, varying_targets(y)]
        orders = [_fit_order(X, target, task, method, k, seed)[0] for target in varying.T]
        features, selector = votes(orders, target_weights(varying), X.shape[1], k), None
    if len(features) == 0:
        raise DataError(f"method {method!r} selected no feature")
    return features, selector


def _fit_order(X, y, task: str, method: str, k: int, seed: int) -> tuple[np.ndarray, BaseEstimator]:
    selector = make_selector(method, k, task=task, random_state=seed)
    takes_sparse = get_tags(selector).input_tags.sparse
    selector.fit(X.toarray() if sparse.issparse(X) and not takes_sparse else X, y)
    return ordered_support(selector, _deviations(X)), selector


def ordered_support(selector, deviations: np.ndarray) -> np.ndarray:
    """Return the selected features: by the method's own order, or by what each contributes to its model.

    Parameters
    ----------
    selector : fitted selector
    deviations : ndarray of shape (n_features,)
        Standard deviations, which make coefficients comparable.
    """
    support = selector.get_support(indices=True)
    if hasattr(selector, "order_"):
        return selector.order_[: len(support)]
    if hasattr(selector, "knot_values_"):
        size = np.ptp(selector.knot_values_, axis=2).max(axis=0)
    else:
        size = (np.abs(np.atleast_2d(selector.coef_)).max(axis=0) * deviations)[support]
    return support[np.argsort(-size, kind="stable")]


def _deviations(X) -> np.ndarray:
    if sparse.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        return np.sqrt(np.maximum(np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2, 0))
    return X.std(axis=0)


def stability(masks: np.ndarray) -> float:
    """Return how much selections agree, corrected for chance; 1 where all are the same.

    Parameters
    ----------
    masks : ndarray of shape (n_selections, n_features), bool
        At least two selections; their sizes may differ.

    References
    ----------
    S. Nogueira, K. Sechidis, G. Brown. On the Stability of Feature Selection Algorithms. Journal of Machine
    Learning Research 18(174), 2018, Definition 4. For selections of one size it is the mean of Kuncheva's
    consistency index over all pairs.
    """
    share = masks.mean(axis=0)
    variance = len(masks) / (len(masks) - 1) * share * (1 - share)
    by_chance = share.mean() * (1 - share.mean())
    return float(1 - variance.mean() / by_chance) if by_chance > 0 else 1.0
