"""The scikit-learn face of the Feature Generating Machine."""

from numbers import Integral, Real
from typing import Any
from warnings import warn

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ....features.errors import DataError, ParameterError
from ...additive import LinearModel
from .atoms import STRUCTURES, FeatureAtoms, check_groups
from .cutting_plane import Generated, generate
from .fitted import ProductModel, to_model
from .kernels import GaussianAtoms, IntersectionAtoms, check_kernel_parameters
from .margin_losses import Logistic, MarginLoss, SquaredHinge
from .products import ProductAtoms

LOSSES: dict[str, type[MarginLoss]] = {"squared_hinge": SquaredHinge, "logistic": Logistic}
RESPONSES = ("linear", "products", "intersection", "gaussian")
AUTO_CUTS = 15
"""The paper's number of cutting planes: the automatic budget generates k atoms in about so many."""
COLUMNS = 256
"""Columns of a dense table that are centred at a time."""


def _is_probabilistic(estimator: "FeatureGeneratingMachine") -> bool:
    if estimator.loss == "logistic":
        return True
    raise AttributeError(f'predict_proba needs loss="logistic", got loss={estimator.loss!r}')


class FeatureGeneratingMachine(ClassifierMixin, SelectorMixin, BaseEstimator):
    """Select features by cutting planes and classify with a large-margin model on them.

    Each iteration adds the `budget` features that violate the optimality conditions most, and solves a
    small problem over the features added so far; the whole table is passed over once an iteration. With
    more than two classes there is one output a class against the others, and all share the features.

    Parameters
    ----------
    k : int or None
        Features to generate (groups of them, if `feature_groups` is given; terms, if
        `response="products"`). Fewer are selected where the optimum needs no more, and None ends only at
        the optimum.
    C : float
        Weight of the loss against the margin.
    loss : {"squared_hinge", "logistic"}
        PROX-FGM and PROX-SLR. Probabilities need "logistic".
    budget : int or None
        Features an iteration, B of the paper: 1 is nearest to a lasso, k takes the most correlated features
        at once. None takes a fifteenth of k.
    response : {"linear", "products", "intersection", "gaussian"}
        Linear; also squares and products of two features; or a sum of functions of one feature each, with the
        histogram intersection or the Gaussian kernel, for dense input.
    feature_groups : array-like of shape (n_features,), int, or sequence of sequences of int, optional
        The group of each feature, or the features of each group, which may overlap. Linear responses only.
    structure : {"overlapping", "tree"}
        "tree" searches groups that contain each other or are disjoint with pruning (Proposition 2).
    group_weights : array-like of shape (n_groups,), optional
        lambda of equation (11); 1 where not given, in the order of `feature_groups` (of their numbers).
    scale : bool
        Whether features count in units of their standard deviation (linear responses and products). False
        takes them as they are, as the paper's experiments do.
    gamma, r : float
        Of the kernel (gamma x'z + r)^2, for `response="products"`.
    n_levels : int
        Columns a feature for `response="intersection"`, from 1 to 255.
    theta, n_harmonics : float, int
        Of `response="gaussian"`: exp(-theta (x - z)^2) for features mapped to [0, 1], in
        2 n_harmonics columns.
    fit_intercept : bool
        The paper has none.
    class_weight : dict, "balanced" or None
        As in scikit-learn.
    max_cuts : int
        Iterations at most.
    tol : float
        Ends once the relative gap of the bounds of Theorem 2 is at most this.
    inner_tol : float
        Relative change at which the problem over the generated features is solved, equation (43).
    callback : callable, optional
        Called with the trace after each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    support_ : ndarray of shape (n_features,), bool
    ranking_ : ndarray of shape (n_features,), int64
        1 for selected features, then by how much they still violate the optimality conditions (those of
        a group together). Not for products.
    coef_ : ndarray of shape (1 or n_classes, n_features), float64
        Linear responses only; in the input's units.
    terms_ : ndarray of shape (n_terms, 2), int64
        Products only: the two features of each term, or -1 and one feature; `term_coef_`, shape
        (1 or n_classes, n_terms), has their coefficients.
    intercept_ : ndarray of shape (1 or n_classes,), float64
    trace_ : FGMTrace
        `lower` and `upper` bounds of each iteration, among others.
    n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    M. Tan, I. W. Tsang, L. Wang. Towards Ultrahigh Dimensional Feature Selection for Big Data. Journal of
    Machine Learning Research 15, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from annealed.models.selection import FeatureGeneratingMachine
    >>> X = np.random.default_rng(0).standard_normal((400, 50))
    >>> y = np.where(X[:, 4] + X[:, 17] > 0, "yes", "no")
    >>> FeatureGeneratingMachine(k=2).fit(X, y).get_support(indices=True)
    array([ 4, 17])
    """

    def __init__(
        self,
        k=10,
        *,
        C=10.0,
        loss="squared_hinge",
        budget=None,
        response="linear",
        feature_groups=None,
        structure="overlapping",
        group_weights=None,
        scale=True,
        gamma=1.0,
        r=1.0,
        n_levels=100,
        theta=4.0,
        n_harmonics=5,
        fit_intercept=True,
        class_weight=None,
        max_cuts=100,
        tol=1e-3,
        inner_tol=1e-4,
        callback=None,
    ):
        self.k = k
        self.C = C
        self.loss = loss
        self.budget = budget
        self.response = response
        self.feature_groups = feature_groups
        self.structure = structure
        self.group_weights = group_weights
        self.scale = scale
        self.gamma = gamma
        self.r = r
        self.n_levels = n_levels
        self.theta = theta
        self.n_harmonics = n_harmonics
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.max_cuts = max_cuts
        self.tol = tol
        self.inner_tol = inner_tol
        self.callback = callback

    def fit(self, X, y, sample_weight=None):
        """Select features and train.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Sparse for linear responses and products.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y = self._validate(X, y=y)
        check_classification_targets(y)
        weight = np.asarray(_check_sample_weight(sample_weight, X, ensure_non_negative=True), np.float64)
        counts = weight > 0
        if not counts.all():
            X, y, weight = X[counts], y[counts], weight[counts]
        self.classes_, code = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError(f"y must hold at least two classes, got one class: {self.classes_[0]!r}")
        if self.class_weight is not None:
            weight = weight * compute_sample_weight(self.class_weight, y)
        atoms = self._make_atoms(X, weight)
        k = self._attainable(atoms.n_atoms)
        n_classes = len(self.classes_)
        positive = code[:, None] == (np.arange(n_classes) if n_classes > 2 else np.array([1]))
        generated = generate(
            atoms,
            LOSSES[self.loss](np.where(positive, 1.0, -1.0), self.C * weight, self.fit_intercept),
            self._resolve_budget(k, atoms.n_atoms),
            limit=k,
            max_cuts=self.max_cuts,
            tol=self.tol,
            inner_tol=self.inner_tol,
            callback=self.callback,
        )
        self._set_fitted(atoms, generated)
        return self

    def decision_function(self, X):
        """Return the score of each sample.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes (positive: the second), else (n_samples, n_classes)
        """
        score = self._respond(X)
        return score[:, 0] if score.shape[1] == 1 else score

    def predict(self, X):
        """Return the class label of each sample."""
        score = self._respond(X)
        code = (score[:, 0] > 0).astype(np.int64) if score.shape[1] == 1 else score.argmax(axis=1)
        return self.classes_[code]

    @available_if(_is_probabilistic)
    def predict_proba(self, X):
        """Return the probability of each class, shape (n_samples, n_classes); logistic loss only."""
        probability = expit(self._respond(X))
        if probability.shape[1] == 1:
            return np.hstack([1 - probability, probability])
        return probability / probability.sum(axis=1, keepdims=True)

    def _respond(self, X) -> np.ndarray:
        check_is_fitted(self)
        return self.model_.respond(self._validate(X, reset=False))

    def _validate(self, X, *, reset: bool = True, **options):
        accept_sparse = ["csr", "csc"] if self.response in ("linear", "products") else False
        return validate_data(
            self, X, accept_sparse=accept_sparse, dtype=[np.float64, np.float32], reset=reset, **options
        )

    def _check_parameters(self) -> None:
        for name, value, accepted in (
            ("loss", self.loss, tuple(LOSSES)),
            ("response", self.response, RESPONSES),
            ("structure", self.structure, tuple(STRUCTURES)),
        ):
            if value not in accepted:
                raise ParameterError(f"{name} must be one of {accepted}, got {value!r}")
        for name in ("C", "gamma", "r"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0 < float(value) < np.inf:
                raise ParameterError(f"{name} must be positive, got {value!r}")
        for name, optional in (("k", True), ("budget", True), ("max_cuts", False)):
            value = getattr(self, name)
            if not (value is None and optional) and (
                not isinstance(value, Integral) or isinstance(value, bool) or int(value) < 1
            ):
                raise ParameterError(f"{name} must be an integer of at least 1, got {value!r}")
        check_kernel_parameters(self.n_levels, self.n_harmonics, self.theta)
        if self.feature_groups is not None and self.response != "linear":
            raise ParameterError(f'feature_groups need response="linear", got response={self.response!r}')

    def _make_atoms(self, X, weight: np.ndarray) -> Any:
        if self.response == "intersection":
            return IntersectionAtoms(X, int(self.n_levels))
        if self.response == "gaussian":
            return GaussianAtoms(X, float(self.theta), int(self.n_harmonics))
        scale = _scales(X, weight) if self.scale else np.ones(X.shape[1])
        if self.response == "products":
            return ProductAtoms(X, scale, self.gamma, self.r)
        features = FeatureAtoms(X, scale)
        if self.feature_groups is None:
            return features
        groups = check_groups(self.feature_groups, X.shape[1])
        weights = (
            np.ones(len(groups)) if self.group_weights is None else np.asarray(self.group_weights, float)
        )
        if weights.shape != (len(groups),) or not np.all(weights > 0):
            raise ParameterError(f"group_weights must hold {len(groups)} positive numbers, one a group")
        return STRUCTURES[self.structure](features, groups, weights)

    def _attainable(self, n_atoms: int) -> int | None:
        if self.k is not None and self.k > n_atoms:
            what = "features" if self.feature_groups is None else "groups"
            warn(f"k = {self.k} exceeds the {n_atoms} {what} of X; all may be kept", stacklevel=3)
            return n_atoms
        return self.k

    def _resolve_budget(self, k: int | None, n_atoms: int) -> int:
        wanted = self.budget or -(-(k or min(150, n_atoms)) // AUTO_CUTS)
        return min(int(wanted), n_atoms)

    def _set_fitted(self, atoms, generated: Generated) -> None:
        self.model_ = to_model(atoms, generated)
        self.trace_ = generated.trace
        self.n_iter_ = len(generated.trace)
        self.intercept_ = self.model_.intercept
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        if isinstance(self.model_, ProductModel):
            self.terms_, self.term_coef_ = self.model_.pairs, self.model_.coef
            self.support_[np.unique(self.terms_[self.terms_ >= 0])] = True
            return
        self.support_[self.model_.features] = True
        self.ranking_ = _ranking(atoms, generated.dual, self.support_)
        if isinstance(self.model_, LinearModel):
            self.coef_ = np.zeros((len(self.intercept_), self.n_features_in_))
            self.coef_[:, self.model_.features] = self.model_.coef

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.response in ("linear", "products")
        return tags


def _scales(X, weight: np.ndarray) -> np.ndarray:
    """Return the inverse standard deviations; 0 for constant columns, which are never selected."""
    share = weight / weight.sum()
    mean = np.asarray(share @ X, dtype=np.float64)
    if sparse.issparse(X):
        square = np.asarray(share @ X.multiply(X), dtype=np.float64)
        deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
        constant = deviation <= 1e-7 * np.sqrt(square)
    else:
        blocks = (slice(first, first + COLUMNS) for first in range(0, X.shape[1], COLUMNS))
        deviation = np.sqrt(np.concatenate([share @ (X[:, block] - mean[block]) ** 2 for block in blocks]))
        constant = deviation <= 1e-7 * np.abs(mean)
    return np.where(constant, 0.0, 1 / np.where(constant, 1.0, deviation))


def _ranking(atoms, dual: np.ndarray, support: np.ndarray) -> np.ndarray:
    """Return 1 for selected features, then 2, 3, ... by falling score of the feature's best group."""
    scores = atoms.scores(dual)
    if hasattr(atoms, "groups"):
        by_feature = np.zeros(len(support))
        for members, score in zip(atoms.groups, scores, strict=True):
            by_feature[members] = np.maximum(by_feature[members], score)
        scores = by_feature
    ranking = np.ones(len(support), dtype=np.int64)
    others = np.flatnonzero(~support)
    ranking[others[np.argsort(-scores[others], kind="stable")]] = np.arange(len(others)) + 2
    return ranking
