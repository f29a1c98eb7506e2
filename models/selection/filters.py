"""Filters: each feature has a score that needs no model; the k best stay."""

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.feature_selection import (
    chi2,
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import check_random_state

from ...features.errors import DataError, ParameterError
from ..columns import varying_columns
from .ranked import RankedSelector, descending, one_hot, standardized

Weight = np.ndarray | None
Score = Callable[[np.ndarray, np.ndarray, bool, np.random.RandomState, Weight], np.ndarray]
UNWEIGHTED = ("mutual-information", "relieff")  # of nearest neighbours
N_NEIGHBOURS = 10
MAX_RELIEF_SAMPLES = 500
MIN_NEGATIVE = "the chi-squared filter needs counts: X has negative values, the smallest is {:g}"


def pearson(X, y, classes, rng, weight=None) -> np.ndarray:
    """Return |Pearson r| with the target; with more than two classes, the largest over the classes."""
    targets, total = standardized(one_hot(y, classes), weight), float(len(X))
    if weight is not None:
        targets, total = targets * weight[:, None], weight.sum()
    return np.abs(standardized(X, weight).T @ targets).max(axis=1) / total


def f_statistic(X, y, classes, rng, weight=None) -> np.ndarray:
    """Return the F statistic of the analysis of variance, or of the linear regression."""
    varying = varying_columns(X)
    scores = np.full(X.shape[1], np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        if weight is not None:
            scores[varying] = _weighted_f(standardized(X[:, varying], weight), y, classes, weight)
        else:
            scores[varying] = (f_classif if classes else f_regression)(X[:, varying], y)[0]
    return scores


def _weighted_f(Z, y, classes, weight) -> np.ndarray:
    """Return the F statistic as if each sample was there as often as it weighs."""
    total = weight.sum()
    if classes:
        groups = [y == c for c in np.unique(y)]
        means = np.array([weight[g] @ Z[g] / weight[g].sum() for g in groups])
        between = np.array([weight[g].sum() for g in groups]) @ means**2
        return between / (total - between) * (total - len(groups)) / (len(groups) - 1)
    r = (weight * standardized(y[:, None], weight)[:, 0]) @ Z / total
    return r**2 / (1 - r**2) * (total - 2)


def mutual_information(X, y, classes, rng, weight=None) -> np.ndarray:
    """Return the mutual information, by nearest neighbours."""
    estimate = mutual_info_classif if classes else mutual_info_regression
    neighbours = min(3, len(X) - 1)
    # scikit-learn takes a column of a small unit for a constant one
    return estimate(standardized(X), y, discrete_features=False, n_neighbors=neighbours, random_state=rng)


def chi_squared(X, y, classes, rng, weight=None) -> np.ndarray:
    """Return the chi-squared statistic of non-negative features and classes."""
    if not classes:
        raise DataError("the chi-squared filter needs classes; the target is a number")
    if X.min() < 0:
        raise DataError(MIN_NEGATIVE.format(X.min()))
    with np.errstate(divide="ignore", invalid="ignore"):
        if weight is None:
            return chi2(X, y)[0]
        shares = np.array([(y == c) * weight for c in np.unique(y)])
        expected = np.outer(shares.sum(axis=1) / weight.sum(), weight @ X)
        return ((shares @ X - expected) ** 2 / expected).sum(axis=0)


def gini(X, y, classes, rng, weight=None) -> np.ndarray:
    """Return the decrease of the Gini index (regression: of the variance) by the best single split."""
    stump = DecisionTreeClassifier(max_depth=1) if classes else DecisionTreeRegressor(max_depth=1)
    X = standardized(X, weight)  # scikit-learn's trees cut no finer than 1e-7
    y = y if classes else standardized(y[:, None], weight)[:, 0]
    scores = np.empty(X.shape[1])
    for j in range(X.shape[1]):
        tree = stump.fit(X[:, [j]], y, sample_weight=weight).tree_
        shares = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
        scores[j] = tree.impurity[0] - (shares[1:] * tree.impurity[1:]).sum() if len(shares) > 1 else 0.0
    return scores


def relieff(X, y, classes, rng, weight=None) -> np.ndarray:
    """Return the weights of ReliefF (classes) or RReliefF (numbers) with ten neighbours.

    A feature gains where near samples of other classes differ in it, and loses where near samples of the
    same class do. At most 500 samples, drawn at random, ask for their neighbours.

    References
    ----------
    M. Robnik-Sikonja, I. Kononenko. Theoretical and Empirical Analysis of ReliefF and RReliefF. Machine
    Learning 53, 2003. doi:10.1023/A:1025667309714
    """
    width = np.ptp(X, axis=0)
    unit = (X - X.min(axis=0)) / np.where(width > 0, width, 1.0)
    asked = np.arange(len(X))
    if len(X) > MAX_RELIEF_SAMPLES:
        asked = np.sort(rng.choice(len(X), MAX_RELIEF_SAMPLES, replace=False))
    distances = cdist(unit[asked], unit, metric="cityblock")
    distances[np.arange(len(asked)), asked] = np.inf
    return (_relief_classes if classes else _relief_numbers)(unit, y, asked, distances)


def _relief_classes(X, y, asked, distances) -> np.ndarray:
    prior = np.bincount(y) / len(y)
    weight = np.zeros(X.shape[1])
    for i, distance in zip(asked, distances, strict=True):
        for c in range(len(prior)):
            members = np.flatnonzero((y == c) & np.isfinite(distance))
            near = members[np.argsort(distance[members], kind="stable")[:N_NEIGHBOURS]]
            if len(near) == 0:
                continue
            difference = np.abs(X[near] - X[i]).mean(axis=0)
            weight += -difference if c == y[i] else prior[c] / (1 - prior[y[i]]) * difference
    return weight / len(asked)


def _relief_numbers(X, y, asked, distances) -> np.ndarray:
    y = (y - y.min()) / max(float(np.ptp(y)), np.finfo(float).tiny)
    n_neighbours = min(N_NEIGHBOURS, len(X) - 1)
    target, feature, both = 0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for i, distance in zip(asked, distances, strict=True):
        near = np.argsort(distance, kind="stable")[:n_neighbours]
        apart, difference = np.abs(y[near] - y[i]) / n_neighbours, np.abs(X[near] - X[i])
        target += apart.sum()
        feature += difference.mean(axis=0)
        both += apart @ difference
    tiny = np.finfo(float).tiny
    return both / max(target, tiny) - (feature - both) / max(len(asked) - target, tiny)


def mrmr_order(X: np.ndarray, y: np.ndarray, classes: bool, k: int, weight: Weight = None) -> np.ndarray:
    """Return k features by minimum redundancy and maximum relevance (the difference of both).

    Features become three levels, below, within and above one standard deviation around the mean, as in the
    paper; so does a numeric target.

    References
    ----------
    H. Peng, F. Long, C. Ding. Feature Selection Based on Mutual Information. IEEE PAMI 27(8), 2005.
    doi:10.1109/TPAMI.2005.159
    """
    levels = _levels(X, weight)
    relevance = discrete_information(levels, y if classes else _levels(y[:, None], weight)[:, 0], weight)
    redundancy = np.zeros(X.shape[1])
    order: list[int] = []
    left = np.ones(X.shape[1], dtype=bool)
    for _ in range(k):
        score = relevance - redundancy / max(len(order), 1)
        order.append(int(np.argmax(np.where(left, score, -np.inf))))
        left[order[-1]] = False
        redundancy += discrete_information(levels, levels[:, order[-1]], weight)
    return np.array(order)


def _levels(X: np.ndarray, weight: Weight) -> np.ndarray:
    z = standardized(X, weight)
    return (z > 1).astype(np.int8) - (z < -1).astype(np.int8)


def discrete_information(levels: np.ndarray, code: np.ndarray, weight: Weight = None) -> np.ndarray:
    """Return the mutual information (nats) of each column of discrete values with a discrete vector."""
    total = np.zeros(levels.shape[1])
    values, codes = np.unique(levels), np.unique(code)
    members = np.stack([code == c for c in codes]) * (1.0 if weight is None else weight)
    n = len(code) if weight is None else weight.sum()
    share = members.sum(axis=1) / n
    for value in values:
        joint = members @ (levels == value) / n
        expected = share[:, None] * joint.sum(axis=0)
        inside = joint > 0
        total += np.where(
            inside, joint * np.log(np.where(inside, joint, 1) / np.where(inside, expected, 1)), 0
        ).sum(axis=0)
    return total


CRITERIA: dict[str, Score] = {
    "mutual-information": mutual_information,
    "pearson": pearson,
    "chi2": chi_squared,
    "gini": gini,
    "f": f_statistic,
    "relieff": relieff,
}


class FilterSelector(RankedSelector):
    """Select the k features with the best scores.

    Parameters
    ----------
    k : int
    criterion : {"f", "pearson", "mutual-information", "chi2", "gini", "relieff", "mrmr"}
        The first four and the trees behind "gini" are scikit-learn's.
    task : {"auto", "classification", "regression"}
        "auto" looks at y: integers and text are classes.
    random_state : int, RandomState or None
        For "mutual-information" and "relieff".

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Not for "mrmr", whose scores depend on what was selected before.
    support_, ranking_, order_, n_features_in_, feature_names_in_
        See `RankedSelector`.

    Examples
    --------
    >>> import numpy as np
    >>> from annealed.models.selection import FilterSelector
    >>> X = np.random.default_rng(0).standard_normal((200, 30))
    >>> FilterSelector(2).fit(X, X[:, 4] + X[:, 17] > 0).get_support(indices=True)
    array([ 4, 17])
    """

    def __init__(self, k=10, *, criterion="f", task="auto", random_state=0):
        self.k = k
        self.criterion = criterion
        self.task = task
        self.random_state = random_state

    def _takes_weights(self):
        return self.criterion not in UNWEIGHTED

    def _order(self, X, y, classes, k, weight):
        if self.criterion == "mrmr":
            return mrmr_order(X, y, classes, k, weight)
        if self.criterion not in CRITERIA:
            raise ParameterError(f"criterion must be one of {(*CRITERIA, 'mrmr')}, got {self.criterion!r}")
        rng = check_random_state(self.random_state)
        self.scores_ = CRITERIA[self.criterion](X, y, classes, rng, weight)
        return descending(self.scores_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.criterion == "chi2"
        return tags
