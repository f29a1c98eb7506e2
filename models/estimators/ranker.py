"""Ranking by annealed feature selection (section 2.5.2)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.metrics import ndcg_score
from sklearn.utils.validation import column_or_1d

from ...features.errors import DataError
from ..comparable_pairs import comparable_pairs
from ..losses import PairwiseLogistic
from .base import BaseFSA, fitting
from .row_inputs import as_rows, names_among


@dataclass(eq=False, repr=False)
class FSARanker(BaseFSA):
    """Select k features and rank with a linear or piecewise linear model on them.

    The loss is the cross entropy over pairs, equation (9). Training uses all pairs in one batch.

    Parameters
    ----------
    k, response, n_bins, n_iter, mu, momentum, learning_rate, penalty, always_keep, feature_groups, tol, \
memory_budget, warm_start, callback
        See `FSAClassifier`. Penalties are relative to the mean over pairs.
    batch_size : int or None
        Rows in a batch while features leave; batches end between groups of comparable rows.
    include_ties : bool
        Whether pairs of equal grade take part, with r = 0.5.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features), float64
    support_, ranking_, knots_, knot_values_, trace_, n_iter_, n_features_in_, feature_names_in_
        See `FSAClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from annealed.models import FSARanker
    >>> X = np.random.default_rng(0).standard_normal((60, 20))
    >>> grades = (X[:, 3] > 0).astype(int) + (X[:, 3] > 1)
    >>> ranker = FSARanker(k=1).fit(X, grades, qid=np.repeat(np.arange(6), 10))
    >>> ranker.get_support(indices=True)
    array([3])
    """

    batch_size: int | str | None = None
    include_ties: bool = True

    _parameter_constraints: ClassVar[dict] = {**BaseFSA._parameter_constraints, "include_ties": ["boolean"]}

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, *, qid=None, pairs=None, r=None, pair_weight=None):
        """Select features and train.

        Parameters
        ----------
        X : array-like, sparse matrix, path, rows or Dask collection, of shape (n_samples, n_features)
            What can be a path is told at `annealed.open_rows`.
        y : array-like of shape (n_samples,), or str, optional
            Grades, the higher the better, or the column of the table at X that has them. Not with `pairs`.
        qid : array-like of shape (n_samples,), or str, optional
            Groups of comparable rows; all rows are comparable by default. A table that is read block by
            block should have the rows of a group side by side.
        pairs : array-like of shape (n_pairs, 2), int, optional
            Rows i and j of each pair, instead of `y`.
        r : array-like of shape (n_pairs,), float in [0, 1], optional
            Wanted probability that i ranks above j, with `pairs`.
        pair_weight : array-like of shape (n_pairs,), optional

        Returns
        -------
        self
        """
        if (y is None) == (pairs is None) or (pairs is None) != (r is None):
            raise DataError(
                "requires y to be passed, but the target y is None; or else pairs together with r"
            )
        rows = as_rows(X, self.memory_budget, names_among(y, qid))
        if rows is not None:
            if pairs is not None:
                raise DataError(f"{rows.name}: rows that are read block by block take y and qid, not pairs")
            X, y, _ = self._validate_rows(rows, y, y_numeric=True)
            qid = rows.column(qid) if isinstance(qid, str) else qid
        elif pairs is None:
            X, y = self._validate(X, y=y, y_numeric=True, ensure_min_samples=2)
        else:
            X = self._validate(X, ensure_min_samples=2)
        if pairs is None:
            pairs, r = comparable_pairs(column_or_1d(y), qid, include_ties=self.include_ties)
        loss = PairwiseLogistic(pairs, r, X.shape[0], pair_weight)
        part_ends = None if rows is None else np.array([0, *(stop for _, stop in loss.splits(1))])
        with fitting(self):
            prepared = self._prepare(X, np.ones(X.shape[0]), shuffle=False, part_ends=part_ends)
            self._set_fitted(*self._anneal(prepared, loss, [self.k])[0])
        return self

    def predict(self, X):
        """Return the ranking function f of each sample, shape (n_samples,); higher ranks first."""
        return self._respond(X)[:, 0]

    def score(self, X, y, *, qid=None, n_best: int = 10) -> float:
        """Return the mean NDCG of the first rows of each group: 1 where they are the best, in their order.

        The gain of a row of grade y is 2^y - 1, and is divided by log2(1 + place). Groups whose rows all have
        the same grade say nothing and do not count.

        Parameters
        ----------
        X : as for `predict`
        y : array-like of shape (n_samples,)
            Grades of at least 0.
        qid : array-like of shape (n_samples,), optional
            Groups of comparable rows; all rows are comparable by default.
        n_best : int
            Rows of a group that count.
        """
        f, grades = self.predict(X), column_or_1d(y).astype(np.float64)
        groups = np.zeros(len(f)) if qid is None else column_or_1d(qid)
        if len(grades) != len(f) or len(groups) != len(f):
            raise DataError(f"X has {len(f)} rows, y {len(grades)} and qid {len(groups)}")
        if not (np.isfinite(grades).all() and grades.min() >= 0):
            raise DataError("y must hold finite grades of at least 0")
        rows = [np.flatnonzero(groups == group) for group in np.unique(groups)]
        found = [ndcg(grades[one], f[one], n_best) for one in rows if np.ptp(grades[one]) > 0]
        if not found:
            raise DataError("no group has rows of different grades: there is nothing to score")
        return float(np.mean(found))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def ndcg(grades: np.ndarray, f: np.ndarray, n_best: int) -> float:
    """Return the normalised discounted cumulative gain of the `n_best` rows with the largest f.

    Rows of equal f share their gain.
    """
    largest = grades.max()
    gain = 2.0 ** (grades - largest) - 2.0**-largest  # of a common scale: 2^y alone may be too large
    return float(ndcg_score([gain], [f], k=n_best))
