"""Classification by annealed feature selection."""

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from ...features.errors import DataError, ParameterError
from ..losses import HuberHinge, Logistic, Lorenz, PointwiseLoss
from .base import BaseFSA

LOSSES: dict[str, type[PointwiseLoss]] = {
    "auto": Lorenz,
    "logistic": Logistic,
    "huber": HuberHinge,
    "lorenz": Lorenz,
}


def _is_probabilistic(estimator: "FSAClassifier") -> bool:
    if estimator.loss == "logistic":
        return True
    raise AttributeError(f'predict_proba needs loss="logistic", got loss={estimator.loss!r}')


class FSAClassifier(ClassifierMixin, BaseFSA):
    """Select k features and classify with a linear or piecewise linear model on them.

    Features are standardised inside (sparse input: scaled only); the coefficients come back in the
    input's units. With more than two classes, one model per class is trained against the others,
    and all of them share the k features.

    Parameters
    ----------
    k : int
        Features (or groups, if `groups` is given) to select.
    loss : {"auto", "lorenz", "logistic", "huber"}
        Equations (8), (6) and (7). "auto" is the Lorenz loss: it is the best of the three where labels
        may be wrong and equal to them elsewhere (Tables 2 and 3). Probabilities need "logistic".
    response : {"linear", "piecewise"}
        Whether a feature contributes linearly or by a piecewise linear function (section 2.5.1).
    n_bins : int
        Bins of each piecewise linear function, from 1 to 255.
    n_iter : int
        Iterations; features leave during the first half.
    mu : float
        Annealing rate, equation (3): the larger, the faster features leave.
    batch_size : "auto", int or None
        Rows in a batch while features leave. "auto" is 250 (1000 for piecewise); None is all rows.
    momentum : float
        Nesterov momentum, at least 0 and below 1.
    learning_rate : "auto" or float
        "auto" is the inverse of a bound on the loss's curvature, renewed as features leave.
    penalty : "auto", None, Ridge, SecondDifference or TotalVariation
        Equations (13), (14), (16), relative to the *mean* loss. "auto" is none for linear responses
        and a slight smoothing for piecewise ones.
    always_keep : array-like of int, optional
        Features that are never dropped; they count among the k.
    groups : array-like of shape (n_features,), optional
        Group of each feature; groups stay or leave as a whole.
    class_weight : dict, "balanced" or None
        As in scikit-learn.
    tol : float
        Training of the survivors ends early once a gradient step moves no coefficient by more than
        this fraction of the largest.
    random_state : int, RandomState or None
        Order of the rows, which matters only where there is more than one batch.
    callback : callable, optional
        Called with a `Progress` after each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    support_ : ndarray of shape (n_features,), bool
    ranking_ : ndarray of shape (n_features,), int64
        1 for the selected features, then in the order from last to first dropped.
    coef_ : ndarray of shape (1 or n_classes, n_features), float64
        Linear responses only; zero for features not selected.
    knots_, knot_values_ : ndarray of shape (k, n_bins + 1) and (1 or n_classes, k, n_bins + 1)
        Piecewise responses only: positions and values of the functions' knots.
    intercept_ : ndarray of shape (1 or n_classes,), float64
    trace_ : Trace
        Loss, features kept, step and seconds of each iteration.
    n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    A. Barbu, Y. She, L. Ding, G. Gramajo. Feature Selection with Annealing for Computer Vision and
    Big Data Learning. IEEE TPAMI 39(2), 2017. doi:10.1109/TPAMI.2016.2544315

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from annealed.models import FSAClassifier
    >>> X, y = make_classification(400, 50, n_informative=3, n_redundant=0, shuffle=False, random_state=0)
    >>> model = FSAClassifier(k=3, random_state=0).fit(X, y)
    >>> model.get_support(indices=True)
    array([0, 1, 2])
    """

    def __init__(
        self,
        k=10,
        *,
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
        random_state=None,
        callback=None,
    ):
        self.k = k
        self.loss = loss
        self.response = response
        self.n_bins = n_bins
        self.n_iter = n_iter
        self.mu = mu
        self.batch_size = batch_size
        self.momentum = momentum
        self.learning_rate = learning_rate
        self.penalty = penalty
        self.always_keep = always_keep
        self.groups = groups
        self.class_weight = class_weight
        self.tol = tol
        self.random_state = random_state
        self.callback = callback

    def fit(self, X, y, sample_weight=None):
        """Select features and train.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._set_fitted(*self._fit_sizes(X, y, sample_weight, [self.k])[0])
        return self

    def _fit_sizes(self, X, y, sample_weight, ks):
        """Fit one model per size of `ks`, largest first, in one run."""
        if self.loss not in LOSSES:
            raise ParameterError(f"loss must be one of {tuple(LOSSES)}, got {self.loss!r}")
        X, y, weight = self._validate_with_weights(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_, code = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError(f"y must hold at least two classes, got one class: {self.classes_[0]!r}")
        if self.class_weight is not None:
            weight = weight * compute_sample_weight(self.class_weight, y)
        if len(self.classes_) == 2:
            targets = np.where(code == 1, 1.0, -1.0)[None]
        else:
            targets = np.where(code == np.arange(len(self.classes_))[:, None], 1.0, -1.0)
        loss = LOSSES[self.loss]
        return self._anneal(X, weight, lambda order: loss(targets[:, order], weight[order]), ks, shuffle=True)

    def decision_function(self, X):
        """Return the score of each sample.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes (positive: the second), else (n_samples, n_classes)
        """
        response = self._respond(X)
        return response[:, 0] if response.shape[1] == 1 else response

    def predict(self, X):
        """Return the class of each sample, shape (n_samples,)."""
        response = self._respond(X)
        if response.shape[1] == 1:
            return self.classes_[(response[:, 0] > 0).astype(np.int64)]
        return self.classes_[response.argmax(axis=1)]

    @available_if(_is_probabilistic)
    def predict_proba(self, X):
        """Return the probability of each class, shape (n_samples, n_classes); logistic loss only."""
        probability = 1 / (1 + np.exp(-np.clip(self._respond(X), -500, 500)))
        if probability.shape[1] == 1:
            return np.hstack([1 - probability, probability])
        return probability / probability.sum(axis=1, keepdims=True)
