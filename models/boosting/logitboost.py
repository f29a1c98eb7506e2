"""LogitBoost on single variables: the comparator LB and LB1 of sections 3.1.2 and 3.3.1."""

import time
from numbers import Real

import numpy as np
from scipy.special import expit, logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ...features.errors import DataError, ParameterError
from .parameters import check_count
from .thresholds import MAX_THRESHOLDS, threshold_codes
from .trace import BoostingTrace
from .weak_learners import ConstantLearners, LinearLearners, WeakLearners

LEARNERS = ("linear", "constant")
_TIE = 1e-10
"""Gains closer than this share of the targets' weighted square differ by rounding only."""

_LEAST_WEIGHT = 2 * np.finfo(np.float64).eps


class LogitBoost(SelectorMixin, ClassifierMixin, BaseEstimator):
    """Classify by an additive logistic model, one weak learner on one variable at a time.

    Each round fits every weak learner to the working responses by weighted least squares and adds the
    best one (Friedman, Hastie, Tibshirani, algorithms 3 and 6). More than two classes are treated
    symmetrically: each round adds one learner to each class's function.

    Parameters
    ----------
    n_rounds : int
        Weak learners per output. The paper's LB selects k variables by running k rounds.
    learner : {"linear", "constant"}
        - "linear": a straight line on one variable, as in section 3.1.2.
        - "constant": a piecewise constant function on equal bins of one variable, as in section 3.3.1.
    n_bins : int
        Bins of the piecewise constant learners, 2 to 256.
    learner_fraction : float in (0, 1]
        Share of the learners, drawn at random, that a round tries: 1 is LB, 0.1 is LB1.
    max_features : int or None
        Once this many variables are used, further rounds choose among them.
    z_max : float
        Working responses are clipped to [-z_max, z_max]; Friedman et al. advise 2 to 4.
    random_state : int, RandomState instance or None
        Seed of the draws of learners; without influence when `learner_fraction` is 1.

    Attributes
    ----------
    support_ : ndarray of shape (n_features,), bool
        The variables used.
    chosen_ : ndarray of shape (n_rounds_run, n_outputs), int64
        The variable that each round added to each output.
    coef_ : ndarray of shape (n_outputs, n_features), float64
        Only with linear learners, as is `intercept_` of shape (n_outputs,).
    thresholds_ : ndarray of shape (n_used, n_bins - 1), float64
        Only with piecewise constant learners: the borders of the bins of each used variable.
    responses_ : ndarray of shape (n_outputs, n_used, n_bins), float64
        Only with piecewise constant learners: the response of each used variable in each bin.
    classes_ : ndarray of shape (n_classes,)
    trace_ : BoostingTrace
        Mean logistic loss, variables used and seconds, by round.

    Notes
    -----
    The centring of the K functions in algorithm 6 is left out: it changes no probability.

    References
    ----------
    Friedman, Hastie, Tibshirani, "Additive logistic regression: a statistical view of boosting", Annals
    of Statistics 28(2), 2000, doi:10.1214/aos/1016218223.

    Examples
    --------
    >>> from annealed.datasets.tables.simulated import make_correlated_classification
    >>> X, y, support = make_correlated_classification(500, 40, k=2, random_state=0)
    >>> model = LogitBoost(n_rounds=2).fit(X, y)
    >>> model.get_support(indices=True).tolist()
    [9, 19]
    """

    def __init__(
        self,
        n_rounds=100,
        *,
        learner="linear",
        n_bins=16,
        learner_fraction=1.0,
        max_features=None,
        z_max=4.0,
        random_state=0,
    ):
        self.n_rounds = n_rounds
        self.learner = learner
        self.n_bins = n_bins
        self.learner_fraction = learner_fraction
        self.max_features = max_features
        self.z_max = z_max
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Boost on the training rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            A sparse X is unpacked to four bytes ("linear") or one byte ("constant") a value.
        y : array-like of shape (n_samples,)
            Two or more classes.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        check_classification_targets(y)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not weight.all():
            counts = weight > 0
            X, y, weight = X[counts], y[counts], weight[counts]
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError(f"y holds {len(self.classes_)} class; LogitBoost needs at least two classes")
        labels = np.arange(len(self.classes_))[:, None] == codes
        labels = labels[1:] if len(labels) == 2 else labels
        learners = self._learners(X, len(labels))
        self._boost(learners, labels.astype(np.float64), weight / weight.mean())
        self._read_off(learners)
        return self

    def decision_function(self, X):
        """Return the log odds, shape (n_samples,), or with more classes one column per class."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        if hasattr(self, "coef_"):
            scores = safe_sparse_dot(X, self.coef_.T) + self.intercept_
        else:
            scores = self._binned_scores(X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict_proba(self, X):
        """Return the probability of each class, shape (n_samples, n_classes)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return softmax(scores, axis=1)

    def predict(self, X):
        """Return the likeliest class of each row, shape (n_samples,)."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def _check_parameters(self):
        if self.learner not in LEARNERS:
            raise ParameterError(f"learner is {self.learner!r}; it must be one of {', '.join(LEARNERS)}")
        check_count("n_rounds", self.n_rounds, 1)
        check_count("n_bins", self.n_bins, 2, MAX_THRESHOLDS + 1)
        if self.max_features is not None:
            check_count("max_features", self.max_features, 1)
        if not (isinstance(self.learner_fraction, Real) and 0 < self.learner_fraction <= 1):
            raise ParameterError(f"learner_fraction is {self.learner_fraction}; it must lie in (0, 1]")
        if not (isinstance(self.z_max, Real) and 1 <= self.z_max < np.inf):
            raise ParameterError(f"z_max is {self.z_max}; it must be a finite number of at least 1")

    def _learners(self, X, n_outputs: int) -> WeakLearners:
        if self.learner == "linear":
            return LinearLearners(X, n_outputs)
        return ConstantLearners(X, n_outputs, self.n_bins)

    def _boost(self, learners: WeakLearners, labels: np.ndarray, sample_weight: np.ndarray) -> None:
        """Add learners round by round; `labels` is (n_outputs, n_samples), 0 or 1."""
        started = time.perf_counter()
        rng = check_random_state(self.random_state)
        scores = np.zeros_like(labels)
        step = 1.0 if len(labels) == 1 else (len(labels) - 1) / len(labels)
        self.trace_ = BoostingTrace()
        used: set[int] = set()
        rounds = []
        for _ in range(self.n_rounds):
            probabilities = expit(scores) if len(labels) == 1 else softmax(scores, axis=0)
            chosen = []
            for output in range(len(labels)):
                w, wz = _working_response(labels[output], probabilities[output], sample_weight, self.z_max)
                candidates = self._candidates(rng, used)
                gains = learners.gains(w, wz, candidates)
                feature = candidates[_first_best(gains, w, wz)]
                parameters = step * learners.fit(feature, w, wz)
                learners.add(output, feature, parameters)
                scores[output] += learners.response(feature, parameters)
                used.add(int(feature))
                chosen.append(feature)
            rounds.append(chosen)
            loss = _mean_loss(labels, scores, sample_weight)
            self.trace_.append(loss, len(used), time.perf_counter() - started)
        self.chosen_ = np.array(rounds, dtype=np.int64)
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[list(used)] = True

    def _candidates(self, rng: np.random.RandomState, used: set[int]) -> np.ndarray:
        """Return the variables that this fit may use, ascending, int64."""
        if self.max_features is not None and len(used) >= self.max_features:
            return np.array(sorted(used), dtype=np.int64)
        everything = np.arange(self.n_features_in_)
        if self.learner_fraction == 1:
            return everything
        n_drawn = max(1, round(self.learner_fraction * len(everything)))
        return np.sort(rng.choice(everything, n_drawn, replace=False))

    def _read_off(self, learners) -> None:
        """Turn the learners' sums into the fitted attributes."""
        if self.learner == "linear":
            self.coef_, self.intercept_ = learners.coef, learners.intercept
            return
        selected = self.support_.nonzero()[0]
        self.thresholds_ = learners.thresholds[selected]
        self.responses_ = np.stack([learners.tables[int(j)] for j in selected], axis=1)

    def _binned_scores(self, X) -> np.ndarray:
        """Sum the responses of the used variables, shape (n_samples, n_outputs)."""
        codes = threshold_codes(X[:, self.support_], self.thresholds_)
        scores = np.zeros((len(self.responses_), X.shape[0]))
        for j, code in enumerate(codes):
            scores += self.responses_[:, j, code]
        return scores.T

    def _get_support_mask(self):
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _working_response(label, probability, sample_weight, z_max):
    """Return weights w and w z of the Newton step, z = (y - p) / (p (1 - p)) clipped to [-z_max, z_max]."""
    curvature = np.maximum(probability * (1 - probability), _LEAST_WEIGHT)
    z = np.clip((label - probability) / curvature, -z_max, z_max)
    w = sample_weight * curvature
    return w, w * z


def _first_best(gains: np.ndarray, w: np.ndarray, wz: np.ndarray) -> np.intp:
    """Return the position of the greatest gain, the first one of a tie."""
    return np.argmax(gains >= gains.max() - _TIE * (wz**2 / w).sum())


def _mean_loss(labels, scores, sample_weight):
    """Return the mean negative log likelihood."""
    if len(labels) == 1:
        losses = np.logaddexp(0, np.where(labels[0] > 0, -scores[0], scores[0]))
    else:
        losses = logsumexp(scores, axis=0) - (labels * scores).sum(axis=0)
    return float(sample_weight @ losses / sample_weight.sum())
