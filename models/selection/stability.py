"""Stability selection: what a selector selects again and again on halves of the samples.

A selector is run on both halves of many random splits. How often it takes a feature is the feature's
frequency, and those with the highest are selected: the k best, or all above a threshold. How many features
that are seldom taken get in by chance is bounded, whatever the selector (`false_selections`).

References
----------
N. Meinshausen, P. Buehlmann. Stability Selection. Journal of the Royal Statistical Society B 72(4), 2010.
R. D. Shah, R. J. Samworth. Variable Selection with Error Control: Another Look at Stability Selection.
Journal of the Royal Statistical Society B 75(1), 2013.
"""

from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ...features.errors import DataError, ParameterError
from ..columns import copied_columns, varying_columns
from ..target_kinds import CLASSIFICATION, REGRESSION, holds_classes
from .ranked import attainable

LEAST_THRESHOLD = 0.5  # the bound says nothing at or below it


class StabilitySelector(SelectorMixin, BaseEstimator):
    """Select the features that a selector takes most often on halves of the samples.

    Parameters
    ----------
    k : int or None
        Features to select; None for all that reach `threshold`.
    selector : str or estimator
        A method of the registry by its name, or a selector with a parameter `k`.
    n_taken : int, optional
        Features that the selector takes on each half: q of the bound. By default twice k; without k, so
        many that at most one false selection is expected at the threshold.
    n_splits : int
        Pairs of halves; there are twice as many fits.
    threshold : float
        Least frequency, above 0.5 and at most 1, where k is None.
    task : {"auto", "classification", "regression"}
        "auto" looks at y: integers and text are classes.
    random_state : int, RandomState or None

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_features,), float64
        Share of the fits that took each feature; that of a copy is that of the column that it copies.
    threshold_ : float
        The least frequency of a selected feature.
    false_selections_ : float
        Bound of the expected number of selected features that are no likelier to be taken than by chance;
        infinite where a selected feature was taken in half of the fits or fewer.
    copies_ : dict of int to list of int
        Columns that are exact copies of another one, by that: they take no part, and k counts distinct ones.
    support_, ranking_, order_, n_features_in_, feature_names_in_
        See `RankedSelector`.

    Examples
    --------
    >>> import numpy as np
    >>> from annealed.models.selection import StabilitySelector
    >>> X = np.random.default_rng(0).standard_normal((200, 30))
    >>> y = X[:, 4] + X[:, 17] > 0
    >>> selector = StabilitySelector(2, selector="f", n_splits=10).fit(X, y)
    >>> selector.get_support(indices=True), selector.frequencies_[[4, 17]]
    (array([ 4, 17]), array([1., 1.]))
    """

    def __init__(
        self,
        k=10,
        *,
        selector="fsa",
        n_taken=None,
        n_splits=25,
        threshold=0.75,
        task="auto",
        random_state=0,
    ):
        self.k = k
        self.selector = selector
        self.n_taken = n_taken
        self.n_splits = n_splits
        self.threshold = threshold
        self.task = task
        self.random_state = random_state

    def fit(self, X, y):
        """Select features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)

        Returns
        -------
        self
        """
        self._check_parameters()
        sparse_formats = ["csr"] if self.__sklearn_tags__().input_tags.sparse else False
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse=sparse_formats,
            dtype=np.float64,
            ensure_min_samples=4,
            multi_output=True,
        )
        varying_columns(X)  # complains if there is none
        self.copies_ = copied_columns(X)
        distinct = np.setdiff1d(
            np.arange(X.shape[1]), [j for copies in self.copies_.values() for j in copies]
        )
        k = None if self.k is None else attainable(self.k, len(distinct))
        frequencies = self._frequencies(X[:, distinct], y, self._taken(k, len(distinct)))
        order = np.argsort(-frequencies, kind="stable")
        n_selected = k or int(np.sum(frequencies >= self.threshold))
        self._set_fitted(X.shape[1], distinct, frequencies, order, n_selected)
        return self

    def _check_parameters(self) -> None:
        for name, least in (("n_splits", 1), ("n_taken", 1)):
            value = getattr(self, name)
            known = isinstance(value, Integral) and int(value) >= least
            if not (known or (name == "n_taken" and value is None)):
                raise ParameterError(f"{name} must be an integer of at least {least}, got {value!r}")
        if not (isinstance(self.threshold, Real) and LEAST_THRESHOLD < float(self.threshold) <= 1):
            raise ParameterError(f"threshold must be above 0.5 and at most 1, got {self.threshold!r}")

    def _taken(self, k: int | None, n_features: int) -> int:
        """Return how many features are taken on each half."""
        if self.n_taken is not None:
            return attainable(self.n_taken, n_features)
        if k is not None:
            return min(2 * k, n_features)
        of_one = false_selections(self.threshold, self.n_splits, 1, n_features)
        return int(np.clip(np.sqrt(1 / of_one), 1, n_features))

    def _frequencies(self, X, y, n_taken: int) -> np.ndarray:
        rng = check_random_state(self.random_state)
        classes = y.ndim == 1 and self._are_classes(y)
        selector = self._selector(n_taken, CLASSIFICATION if classes else REGRESSION)
        counts = np.zeros(X.shape[1])
        for _ in range(self.n_splits):
            for half in _halves(y if classes else np.zeros(len(y)), rng):
                counts[_taken_on(clone(selector), X[half], y[half])] += 1
        return counts / (2 * self.n_splits)

    def _are_classes(self, y) -> bool:
        return holds_classes(y) if self.task == "auto" else self.task == CLASSIFICATION

    def _selector(self, k: int, task: str | None):
        if isinstance(self.selector, str):
            from .registry import make_selector  # it knows this selector, too

            return make_selector(self.selector, k, task=task, random_state=0)
        if not hasattr(self.selector, "fit") or "k" not in self.selector.get_params(deep=False):
            raise ParameterError(f"selector must be a name or have a parameter k, got {self.selector!r}")
        return clone(self.selector).set_params(k=k)

    def _set_fitted(self, n_features, distinct, frequencies, order, n_selected) -> None:
        self.frequencies_ = np.zeros(n_features)
        self.frequencies_[distinct] = frequencies
        for column, copies in self.copies_.items():
            self.frequencies_[copies] = self.frequencies_[column]
        self.order_ = distinct[order]
        self.support_ = np.zeros(n_features, dtype=bool)
        self.support_[self.order_[:n_selected]] = True
        self.ranking_ = np.full(n_features, len(distinct) - n_selected + 2, dtype=np.int64)
        self.ranking_[self.order_] = np.maximum(1, np.arange(len(distinct)) - n_selected + 2)
        self.threshold_ = float(frequencies[order[n_selected - 1]]) if n_selected else self.threshold
        taken = float(frequencies.sum())
        self.false_selections_ = false_selections(self.threshold_, self.n_splits, taken, len(distinct))

    def plot(self, axes=None, *, most: int = 30):
        """Draw the highest frequencies as bars, the selected ones darker, with the threshold.

        Parameters
        ----------
        axes : matplotlib axes, optional
            New ones by default.
        most : int
            Features to show.

        Returns
        -------
        axes
        """
        check_is_fitted(self)
        if axes is None:
            import matplotlib.pyplot as plt  # loaded here: importing the package must stay cheap

            axes = plt.figure(figsize=(5, 0.22 * min(most, len(self.order_)) + 1)).gca()
        shown = self.order_[:most][::-1]
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        colours = np.where(self.support_[shown], "C0", "0.8")
        axes.barh(np.arange(len(shown)), self.frequencies_[shown], color=colours)
        axes.set_yticks(np.arange(len(shown)), [str(names[j]) for j in shown], fontsize=8)
        axes.axvline(self.threshold_, color="0.4", linewidth=0.8)
        axes.set(xlim=(0, 1), xlabel=f"share of {2 * self.n_splits} halves that took it")
        axes.figure.tight_layout()
        return axes

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        inner = get_tags(self._selector(1, None))
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.positive_only = inner.input_tags.positive_only
        tags.target_tags.multi_output = inner.target_tags.multi_output
        return tags


def false_selections(threshold: float, n_splits: int, n_taken: float, n_features: int) -> float:
    """Bound the expected number of features selected that are taken no oftener than by chance.

    That is, with a probability of at most q / p on a half, q of p features being taken. The distribution of
    their frequency is supposed to have one mode only.

    Parameters
    ----------
    threshold : float
        Least frequency of what is selected.
    n_splits : int
        B, pairs of halves.
    n_taken : float
        q.
    n_features : int
        p.

    Returns
    -------
    float
        Infinite where the threshold is too low for the bound.

    References
    ----------
    R. D. Shah, R. J. Samworth, 2013, Theorem 2 (see above).
    """
    chance = n_taken / n_features
    half = 1 / (2 * n_splits)
    if threshold > 0.75:
        factor = 4 * (1 - threshold + half) / (1 + 2 * half)
    elif threshold > min(0.5 + chance**2, 0.5 + half + 0.75 * chance**2) and 2 * threshold - 1 - half > 0:
        factor = 1 / (2 * (2 * threshold - 1 - half))
    else:
        return np.inf
    return float(factor * chance * n_taken)


def _halves(y: np.ndarray, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Split the rows at random into two halves with as many of each value of y, as far as that goes."""
    shuffled = rng.permutation(len(y))
    by_value = shuffled[np.argsort(y[shuffled], kind="stable")]
    return np.sort(by_value[::2]), np.sort(by_value[1::2])


def _taken_on(selector, X, y) -> np.ndarray:
    """Return the features that a selector takes; what does not vary on a half cannot be."""
    varying = varying_columns(X)
    try:
        support = (
            selector.set_params(k=min(selector.k, len(varying)))
            .fit(X[:, varying], y)
            .get_support(indices=True)
        )
    except DataError as error:
        raise DataError(f"on half of the samples: {error}") from None
    return varying[support]
