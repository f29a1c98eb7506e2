"""Classification by annealed feature selection."""

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from ...features.errors import DataError, ParameterError
from ..additive import Model
from ..losses import HuberHinge, Logistic, Lorenz, PointwiseLoss
from .base import BaseFSA

LOSSES: dict[str, type[PointwiseLoss]] = {
    "logistic": Logistic,
    "huber": HuberHinge,
    "lorenz": Lorenz,
}
# A Lorenz model with at most this training error meets few wrong labels, if any.
CLEAN_ERROR = 0.04


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
        Equations (8), (6) and (7). "auto" trains with the Lorenz loss, which stands wrong labels best
        (Table 3). If that model errs on some of the training samples, but on few (4 %), labels are
        mostly right: then a logistic one is trained as well, and the one with fewer training errors
        stays. Probabilities need "logistic".
    response : {"linear", "piecewise"}
        Whether a feature contributes linearly or by a piecewise linear function (section 2.5.1).
    n_bins : int
        Bins of each piecewise linear function, from 1 to 255.
    n_iter : int
        Iterations; features leave during the first half.
    mu : float
        Annealing rate, equation (3): the larger, the faster features leave.
    batch_size : "auto", int or None
        Rows in a batch while features leave. "auto" is 250 (1000 for piecewise) or a sixteenth of the
        rows, whichever is more; None is all rows.
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
        Order of the rows: which batch they are in, and which of them the step is estimated on. The
        default is a number, so that a fit repeated gives the same model to the last bit.
    callback : callable, optional
        Called with a `Progress` after each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    loss_ : str
        The loss that the model was trained with.
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
    >>> import numpy as np
    >>> from annealed.models import FSAClassifier
    >>> X = np.random.default_rng(0).standard_normal((400, 50))
    >>> y = np.where(X[:, 4] + X[:, 17] > 0, "yes", "no")
    >>> FSAClassifier(k=2, random_state=0).fit(X, y).get_support(indices=True)
    array([ 4, 17])
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
        random_state=0,
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
        if self.loss not in ("auto", *LOSSES):
            raise ParameterError(f"loss must be one of {('auto', *LOSSES)}, got {self.loss!r}")
        X, y, weight = self._validate_with_weights(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_, code = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError(f"y must hold at least two classes, got one class: {self.classes_[0]!r}")
        if self.class_weight is not None:
            weight = weight * compute_sample_weight(self.class_weight, y)

        prepared = self._prepare(X, weight, shuffle=True)

        def train(loss):
            targets = self._targets(code[prepared.order])
            return self._anneal(prepared, LOSSES[loss](targets, weight[prepared.order]), ks)

        self.loss_ = "lorenz" if self.loss == "auto" else self.loss
        fitted = train(self.loss_)
        if self.loss == "auto":
            error = _training_error(fitted[0][0], X, code, weight)
            if 0 < error <= CLEAN_ERROR:
                other = train("logistic")
                if _training_error(other[0][0], X, code, weight) < error:
                    self.loss_, fitted = "logistic", other
        return fitted

    def _targets(self, code: np.ndarray) -> np.ndarray:
        """Turn class numbers into one output of -1 and +1, or into one a class."""
        n_classes = len(self.classes_)
        positive = code == 1 if n_classes == 2 else code == np.arange(n_classes)[:, None]
        return np.where(np.atleast_2d(positive), 1.0, -1.0)

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
        return self.classes_[_classify(response)]

    @available_if(_is_probabilistic)
    def predict_proba(self, X):
        """Return the probability of each class, shape (n_samples, n_classes); logistic loss only."""
        probability = 1 / (1 + np.exp(-np.clip(self._respond(X), -500, 500)))
        if probability.shape[1] == 1:
            return np.hstack([1 - probability, probability])
        return probability / probability.sum(axis=1, keepdims=True)


def _classify(response: np.ndarray) -> np.ndarray:
    """Return the class number of each sample from its responses, shape (n_samples, n_outputs)."""
    if response.shape[1] == 1:
        return (response[:, 0] > 0).astype(np.int64)
    return response.argmax(axis=1)


def _training_error(model: Model, X, code: np.ndarray, weight: np.ndarray) -> float:
    """Return the share of the weight that is misclassified."""
    return float(weight[_classify(model.respond(X)) != code].sum() / weight.sum())
