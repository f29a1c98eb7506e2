"""Sparse coding: samples as sums of few atoms of a dictionary, which is learned from them.

    min_{codes, D} sum_i |x_i - codes_i D|^2 / 2 + strength |codes_i|_1,     |D_j| <= 1 for every atom

Both come from scikit-learn. Learning alternates between codes and atoms and ends in a local optimum; codes of
new samples are exact.
"""

from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import MiniBatchDictionaryLearning, sparse_encode
from sklearn.utils.validation import check_is_fitted, validate_data

from ...features.errors import ParameterError


class SparseCoding(TransformerMixin, BaseEstimator):
    """Learn a dictionary, and describe samples by few of its atoms.

    Parameters
    ----------
    n_atoms : int
    strength : float
        Of the l1 penalty: the larger, the fewer atoms describe a sample.
    max_iter : int
        Passes over the samples while learning.
    random_state : int, RandomState or None
        Order of the samples while learning.

    Attributes
    ----------
    dictionary_ : ndarray of shape (n_atoms, n_features), float64
        Atoms of norm 1 (or 0, where none was needed).
    mean_ : ndarray of shape (n_features,), float64
        Taken off samples before they are coded.
    n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    J. Mairal, F. Bach, J. Ponce, G. Sapiro. Online Dictionary Learning for Sparse Coding. ICML 2009.
    doi:10.1145/1553374.1553463

    Examples
    --------
    >>> import numpy as np
    >>> from annealed.models.selection import SparseCoding
    >>> X = np.repeat(3 * np.eye(4), 5, axis=0)
    >>> codes = SparseCoding(n_atoms=4, strength=0.1).fit(X).transform(X)
    >>> codes.shape
    (20, 4)
    """

    def __init__(self, n_atoms=10, *, strength=1.0, max_iter=1000, random_state=0):
        self.n_atoms = n_atoms
        self.strength = strength
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X, y=None):
        """Learn the dictionary.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        for name in ("n_atoms", "max_iter"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ParameterError(f"{name} must be an integer of at least 1, got {value!r}")
        if not isinstance(self.strength, Real) or not 0 < float(self.strength) < np.inf:
            raise ParameterError(f"strength must be positive, got {self.strength!r}")
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        self.mean_ = X.mean(axis=0)
        learning = MiniBatchDictionaryLearning(
            self.n_atoms,
            alpha=float(self.strength),
            max_iter=self.max_iter,
            random_state=self.random_state,
        ).fit(X - self.mean_)
        self.n_iter_ = learning.n_iter_
        atoms = learning.components_
        length = np.linalg.norm(atoms, axis=1, keepdims=True)
        self.dictionary_ = np.asarray(atoms / np.where(length > 0, length, 1.0), dtype=np.float64)
        return self

    def transform(self, X) -> np.ndarray:
        """Return the codes of samples, shape (n_samples, n_atoms)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return sparse_encode(
            X - self.mean_, self.dictionary_, algorithm="lasso_lars", alpha=float(self.strength)
        )

    def inverse_transform(self, codes) -> np.ndarray:
        """Return the samples that codes describe, shape (n_samples, n_features)."""
        check_is_fitted(self)
        return np.asarray(codes, dtype=np.float64) @ self.dictionary_ + self.mean_

    @property
    def _n_features_out(self) -> int:
        return len(self.dictionary_)
