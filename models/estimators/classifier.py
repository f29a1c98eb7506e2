"""Classification by annealed feature selection."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils import compute_sample_weight
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from ..losses import LABEL_LOSSES, find_loss
from ..responses import QUANTILES, Linear, Piecewise, Prepared
from ..row_subset import samples_that_count
from ..target_kinds import encode_classes, signs
from .adaptive import DOUBTFUL_ERROR, adapt_to_labels
from .base import BaseFSA, Fitted, LossFactory, fitting
from .calibration import LOG_ODDS, fit_ramp, probabilities


def _has_probabilities(estimator: "FSAClassifier") -> bool:
    """Only a file of version 0.1 holds a model without, of another loss than the logistic one."""
    return not hasattr(estimator, "model_") or hasattr(estimator, "ramp_")


@dataclass(eq=False, repr=False)
class FSAClassifier(ClassifierMixin, BaseFSA):
    """Select k features and classify with a linear or piecewise linear model on them.

    Features are standardised inside (sparse input: scaled only); the coefficients come back in the
    input's units. With more than two classes, one model per class is trained against the others,
    and all of them share the k features.

    Parameters
    ----------
    k : int
        Features (or groups of them, if `feature_groups` is given) to select.
    loss : {"auto", "lorenz", "logistic", "huber"} or callable
        Equations (8), (6) and (7), or (targets, sample_weight) -> loss, such as a class of
        `annealed.models.losses`; it meets targets of -1 and +1. The Lorenz loss is the least disturbed by
        wrong labels (Table 3). "auto" takes it where the training samples of two classes show strong
        signals, or the logistic loss if the model of that errs on fewer of them. Where signals are weak,
        classes lie apart, or there are more than two, it takes the logistic loss with all rows in a batch
        and a ridge that fades, unless `batch_size` and `penalty` say otherwise (see `adaptive.py`).
        Curves with knots at quantiles are trained with the logistic loss, by which they are fitted exactly
        in the end; other piecewise responses with the Lorenz loss.
    response : {"linear", "piecewise"}, Linear or Piecewise
        Whether a feature contributes linearly or by a piecewise linear function (section 2.5.1).
    n_bins : int
        Bins of each function of response="piecewise", from 1 to 255. A `Piecewise` has its own.
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
        Equations (13), (14), (16), relative to the *mean* loss. "auto" is what the response asks for: none
        for linear ones and a slight smoothing for piecewise ones.
    always_keep : array-like of int, optional
        Features that are never dropped; they count among the k.
    feature_groups : array-like of shape (n_features,), optional
        Group of each feature; groups stay or leave as a whole.
    class_weight : dict, "balanced" or None
        As in scikit-learn.
    tol : float
        Training of the survivors ends early once a gradient step moves no coefficient by more than
        this fraction of the largest.
    memory_budget : int or str, optional
        What a fit may take, in bytes or as "2GB", besides the program itself: a table that does not fit is
        read block by block, and stored as columns in temporary files (TMPDIR says where) as long as its
        features do not fit. By default arrays are held in memory, and one gigabyte is for tables that are
        given as a path, as rows, as Dask collections or as mapped arrays that are larger.
    warm_start : bool
        Whether `fit` goes on from the model of the `fit` before, if there was one: it begins with the
        features of that model, on the same rows or on new ones, and with the same k or a smaller one. Those
        that have left stay out.
    random_state : int, RandomState or None
        Order of the rows: which batch they are in, and which of them the step is estimated on. The
        default is a number, so that a fit repeated gives the same model to the last bit.
    monotone : dict, optional
        +1 or -1 by the name or number of a column whose curve may only rise or fall. Like the next four, of
        curves with knots at quantiles.
    n_pairs : int
        After the curves, so many pairs of columns get a surface each: those whose products explain most of
        what the curves leave (see `curve_pairs.py`). They may be of columns that have no curve; all of them
        are in `support_`.
    missing : {"auto", "error", "mean"}
        Missing values (NaN) have a place of their own in a curve, and are refused by linear and by equally
        spaced responses ("auto"); refused ("error"); or filled in with the mean of their column ("mean").
    categories : {"auto", "text"} or list
        Columns of categories: those of pandas' type `category` ("auto"), of text besides ("text"), or these
        names or numbers besides. Rare categories are drawn towards the mean.
    unseen : {"missing", "error"}
        What becomes of a category that no training row had.
    callback : callable, optional
        Called with a `Progress` after each iteration. From version 1.9 on, scikit-learn's callbacks are
        followed, too (`set_callbacks`): a fit is a task, each iteration one below it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    loss_ : str
        The loss that the model was trained with.
    ramp_ : ndarray of shape (3,), float64
        How probabilities follow from responses, see `calibration.py`; by the logistic loss, the responses
        are log odds.
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

    loss: str | LossFactory = "auto"
    class_weight: Any = None
    random_state: Any = 0

    _parameter_constraints: ClassVar[dict] = {
        **BaseFSA._parameter_constraints,
        "loss": [StrOptions({"auto", *LABEL_LOSSES}), callable],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "random_state": ["random_state"],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Select features and train.

        Parameters
        ----------
        X : array-like, sparse matrix, path, rows or Dask collection, of shape (n_samples, n_features)
            What can be a path is told at `annealed.open_rows`.
        y : array-like of shape (n_samples,), or str
            Class labels, or the column of the table at X that has them.
        sample_weight : array-like of shape (n_samples,), or str, optional

        Returns
        -------
        self
        """
        with fitting(self):
            self._set_fitted(*self._fit_sizes(X, y, sample_weight, [self.k])[0])
        return self

    def _fit_sizes(self, X, y, sample_weight, ks):
        """Fit one model per size of `ks`, largest first, in one run."""
        X, y, weight = self._validate_with_weights(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_, code = encode_classes(y)
        if self.class_weight is not None:
            weight = weight * compute_sample_weight(self.class_weight, y)
        targets = signs(code, len(self.classes_))

        prepared = self._prepare(X, weight, shuffle=True, n_outputs=len(targets))
        train = _Training(self, X, targets, weight, prepared, ks)
        if self.loss != "auto":
            fitted, self.loss_ = train(self.loss), _name_of(self.loss)
        else:
            fitted, self.loss_ = self._adapt(train)
        if self.loss_ == "logistic":
            return [(model, result, LOG_ODDS) for model, result in fitted]
        return [
            (model, result, fit_ramp(prepared.respond(model, result, X).T, targets, weight))
            for model, result in fitted
        ]

    def _adapt(self, train: "_Training") -> tuple[list[Fitted], str]:
        """Return the models by the loss that suits the training samples, and its name."""
        response = self._resolve_response()
        if isinstance(response, Piecewise) and response.ranges == QUANTILES:
            # How smooth curves are is found from the likelihood of the labels, see `curve_fit.py`.
            return train("logistic"), "logistic"
        if not isinstance(response, Linear):
            return train("lorenz"), "lorenz"
        samples = samples_that_count(train.X, train.targets, train.weight)
        adapted = adapt_to_labels(*samples, self._sizes_of_models(train.ks))
        if adapted.are_strong:
            fitted = train("lorenz")
            error = train.error(fitted)
            if 0 < error <= DOUBTFUL_ERROR:
                other = train("logistic")
                if train.error(other) < error:
                    return other, "logistic"
            if error <= DOUBTFUL_ERROR:
                return fitted, "lorenz"
        return train("logistic", penalty=adapted.ridge, all_rows=True), "logistic"

    def _set_fitted(self, model, result, ramp=None) -> None:
        super()._set_fitted(model, result)
        if ramp is not None:
            self.ramp_ = ramp

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

    @available_if(_has_probabilities)
    def predict_proba(self, X):
        """Return the probability of each class, shape (n_samples, n_classes).

        By the logistic loss it is the model's own; by the others it is fitted to the training responses
        (see `calibration.py`).
        """
        return probabilities(self._respond(X), self.ramp_)


@dataclass(frozen=True)
class _Training:
    """Labels and a prepared table, for as many runs as are wanted."""

    estimator: FSAClassifier
    X: Any
    targets: np.ndarray
    weight: np.ndarray
    prepared: Prepared
    ks: Sequence[int]

    def __call__(self, loss: str | LossFactory, **settings) -> list[Fitted]:
        """Run the annealing with a loss, and what else `_anneal` takes."""
        order = self.prepared.order
        bound = find_loss(loss)(self.targets[:, order], self.weight[order])
        return self.estimator._anneal(self.prepared, bound, self.ks, **settings)

    def error(self, fitted: list[Fitted]) -> float:
        """Return the share of the weight that the largest model misclassifies."""
        response = self.prepared.respond(*fitted[0], self.X)
        wrong = _classify(response) != _classify(self.targets.T)
        return float(self.weight[wrong].sum() / self.weight.sum())


def _name_of(loss: str | LossFactory) -> str:
    return loss if isinstance(loss, str) else getattr(loss, "__name__", repr(loss))


def _classify(response: np.ndarray) -> np.ndarray:
    """Return the class number of each sample from its responses, shape (n_samples, n_outputs)."""
    if response.shape[1] == 1:
        return (response[:, 0] > 0).astype(np.int64)
    return response.argmax(axis=1)
