"""RankBoost on threshold stumps: the ranking comparator of section 3.4 and the supplement."""

import time

import numpy as np
from numba import njit
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ...features.errors import DataError
from ..comparable_pairs import comparable_pairs
from .ordered_pairs import ordered_pairs
from .parameters import check_count
from .thresholds import (
    COLUMNS_AT_ONCE,
    MAX_THRESHOLDS,
    equal_thresholds,
    share_columns,
    threshold_codes,
    value_ranges,
)
from .trace import BoostingTrace

_NO_EDGE = 1e-10
"""Weighted ranking score below which a stump is rounding error away from no stump at all."""


class RankBoost(SelectorMixin, BaseEstimator):
    """Rank by a weighted sum of threshold stumps (Freund, Iyer, Schapire, Singer; the supplement).

    Each round takes the stump ``h(x) = 1 if x_j > theta else 0`` whose answers agree most, or disagree
    most, with the wanted order of the pairs, and gives more weight to the pairs that the sum of the
    stumps still orders wrongly.

    Parameters
    ----------
    n_rounds : int
        Stumps; 100 in the paper.
    n_thresholds : int
        Equally spaced thresholds inside the range of each variable, 1 to 255; 64 in the paper.

    Attributes
    ----------
    support_ : ndarray of shape (n_features,), bool
        The variables used.
    stump_features_ : ndarray of shape (n_rounds_run,), int64
    stump_thresholds_ : ndarray of shape (n_rounds_run,), float64
    stump_weights_ : ndarray of shape (n_rounds_run,), float64
        The stumps in the order chosen, with weights alpha; a negative one prefers small values.
    trace_ : BoostingTrace
        Share of the pairs, by their initial weight, that are not ordered as wanted (ties count as
        wrong), variables used and seconds, by round.

    Notes
    -----
    - Here r is a probability in [0, 1], as for `FSARanker`; the supplement's r is signed. A pair (i, j)
      starts with the weight ``abs(2 r - 1)``, as the pair (j, i) where r is below 1/2.
    - A stump that orders every pair rightly would get an infinite weight; alpha is computed with the
      ranking score brought inside (-1, 1) by one part in the number of pairs.
    - Boosting ends before `n_rounds` if no stump does better than none.

    References
    ----------
    Freund, Iyer, Schapire, Singer, "An efficient boosting algorithm for combining preferences", JMLR 4,
    2003.

    Examples
    --------
    >>> X = [[0.0, 5.0], [1.0, 5.5], [2.0, 4.0], [3.0, 5.0]]
    >>> model = RankBoost(n_rounds=3).fit(X, y=[0, 0, 1, 1])
    >>> scores = model.predict(X)
    >>> bool(min(scores[2:]) > max(scores[:2]))
    True
    """

    def __init__(self, n_rounds=100, *, n_thresholds=64):
        self.n_rounds = n_rounds
        self.n_thresholds = n_thresholds

    def fit(self, X, y=None, *, qid=None, pairs=None, r=None, pair_weight=None):
        """Learn to rank from grades or from explicit pairs.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Grades, the higher the better. Not with `pairs`.
        qid : array-like of shape (n_samples,), optional
            Groups of comparable rows; all rows are comparable by default.
        pairs : array-like of shape (n_pairs, 2), int, optional
            Rows i and j of each pair, instead of `y`.
        r : array-like of shape (n_pairs,), float in [0, 1], optional
            Wanted probability that i ranks above j, with `pairs`.
        pair_weight : array-like of shape (n_pairs,), optional
            With `pairs`; 1 by default.

        Returns
        -------
        self
        """
        check_count("n_rounds", self.n_rounds, 1)
        check_count("n_thresholds", self.n_thresholds, 1, MAX_THRESHOLDS)
        if (y is None) == (pairs is None) or (pairs is None) != (r is None):
            raise DataError(
                "requires y to be passed, but the target y is None; or else pairs together with r"
            )
        kinds = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "ensure_min_samples": 2}
        if pairs is None:
            X, y = validate_data(self, X, y, y_numeric=True, **kinds)
            pairs, r = comparable_pairs(y, qid, include_ties=False)
        else:
            X = validate_data(self, X, **kinds)
        upper, lower, weight = ordered_pairs(pairs, r, X.shape[0], pair_weight)
        thresholds = equal_thresholds(*value_ranges(X), self.n_thresholds)
        self._boost(threshold_codes(X, thresholds), thresholds, upper, lower, weight)
        return self

    def predict(self, X):
        """Return the score of each row, shape (n_samples,); a higher one ranks higher."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        scores = np.zeros(X.shape[0])
        columns = X[:, self.stump_features_]
        columns = columns.toarray() if hasattr(columns, "toarray") else columns
        for column, threshold, alpha in zip(
            columns.T, self.stump_thresholds_, self.stump_weights_, strict=True
        ):
            scores += alpha * (column > threshold)
        return scores

    def _boost(self, codes, thresholds, upper, lower, weight):
        """Choose the stumps; pair p wants row upper[p] above row lower[p]."""
        started = time.perf_counter()
        n_features, n_samples = codes.shape
        distribution = weight / weight.sum()
        margin = np.zeros(len(upper))
        scores, cuts = np.empty(n_features), np.empty(n_features, dtype=np.int64)
        features, chosen_cuts, alphas = [], [], []
        self.trace_ = BoostingTrace()
        for _ in range(self.n_rounds):
            # The score of a stump is sum_p D_p (h(upper) - h(lower)) = sum_i potential_i h(x_i).
            potential = np.bincount(upper, distribution, n_samples) - np.bincount(
                lower, distribution, n_samples
            )
            share_columns(
                codes.shape[1], n_features, _best_stumps, codes, potential, self.n_thresholds, scores, cuts
            )
            strength = np.abs(scores)
            best = int(np.argmax(strength >= strength.max() - _NO_EDGE))
            if strength[best] <= _NO_EDGE:
                break
            alpha = _stump_weight(scores[best], len(upper))
            above = (codes[best] > cuts[best]).astype(np.float64)
            margin += alpha * (above[upper] - above[lower])
            distribution = weight * np.exp(-(margin - margin.min()))
            distribution /= distribution.sum()
            features.append(best)
            chosen_cuts.append(int(cuts[best]))
            alphas.append(alpha)
            loss = float(weight @ (margin <= 0) / weight.sum())
            self.trace_.append(loss, len(set(features)), time.perf_counter() - started)
        self.stump_features_ = np.array(features, dtype=np.int64)
        self.stump_thresholds_ = thresholds[self.stump_features_, np.array(chosen_cuts, dtype=np.int64)]
        self.stump_weights_ = np.array(alphas)
        self.support_ = np.bincount(self.stump_features_, minlength=n_features) > 0

    def _get_support_mask(self):
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _stump_weight(score, n_pairs):
    """Return alpha = ln((1 + r) / (1 - r)) / 2 for the weighted ranking score r (supplement)."""
    room = 1 / n_pairs
    return 0.5 * np.log((1 + score + room) / (1 - score + room))


@njit(cache=True, nogil=True)
def _best_stumps(codes, potential, n_thresholds, scores, cuts, first_chunk, last_chunk):
    """Fill the strongest score of each variable's stumps and its threshold's index, the first of a tie.

    Of the variables of some chunks.

    The score of the stump "code > t" is the sum of the potentials whose code exceeds t: a histogram over
    the codes, summed from the top. One pass over the codes serves all thresholds.
    """
    n_features, n_samples = codes.shape
    for chunk in range(first_chunk, last_chunk):
        histogram = np.empty(n_thresholds + 1)
        for j in range(chunk * COLUMNS_AT_ONCE, min((chunk + 1) * COLUMNS_AT_ONCE, n_features)):
            histogram[:] = 0.0
            row = codes[j]
            for i in range(n_samples):
                histogram[row[i]] += potential[i]
            score = 0.0
            scores[j], cuts[j] = 0.0, 0
            for t in range(n_thresholds - 1, -1, -1):
                score += histogram[t + 1]
                if abs(score) >= abs(scores[j]) - _NO_EDGE:
                    scores[j], cuts[j] = score, t
