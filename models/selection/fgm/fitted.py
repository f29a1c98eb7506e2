"""From generated sets to functions of the input."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ...additive import LinearModel
from .atoms import FeatureAtoms, GroupAtoms
from .cutting_plane import Atoms, Generated
from .kernels import GaussianAtoms, IntersectionAtoms
from .products import ProductAtoms


@dataclass(frozen=True)
class ProductModel:
    """f(x) = intercept + sum_t coef_t x_i x_i', with i = -1 for linear terms.

    Attributes
    ----------
    pairs : ndarray of shape (n_terms, 2), int64
    coef : ndarray of shape (n_outputs, n_terms), float64
        In the input's units.
    intercept : ndarray of shape (n_outputs,), float64
    """

    pairs: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray

    def respond(self, X) -> np.ndarray:
        """Return f for each row, shape (n_samples, n_outputs)."""
        used, place = np.unique(np.maximum(self.pairs, 0), return_inverse=True)
        columns = X[:, used]
        columns = columns.toarray() if sparse.issparse(columns) else columns
        left, right = place.reshape(self.pairs.shape).T
        terms = columns[:, right] * np.where(self.pairs[:, 0] < 0, 1.0, columns[:, left])
        return terms @ self.coef.T + self.intercept


@dataclass(frozen=True)
class MappedModel:
    """f(x) = intercept + sum_j coef_j . map_j(x_j), each feature with its own columns.

    Attributes
    ----------
    features : ndarray of shape (n_selected,), int64
    coef : ndarray of shape (n_outputs, n_selected * width), float64
    intercept : ndarray of shape (n_outputs,), float64
    feature_map : callable
        (X, features) -> columns.
    """

    features: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    feature_map: Callable[[np.ndarray, np.ndarray], np.ndarray]

    def respond(self, X: np.ndarray) -> np.ndarray:
        """Return f for each row, shape (n_samples, n_outputs)."""
        return self.feature_map(X, self.features) @ self.coef.T + self.intercept


FittedModel = LinearModel | ProductModel | MappedModel


def to_model(atoms: Atoms, generated: Generated) -> FittedModel:
    """Return the model, with the atoms whose coefficients are not all zero."""
    used, coefs = _merge(atoms, generated)
    intercept = generated.intercept
    if isinstance(atoms, ProductAtoms):
        return _product_model(atoms, used, np.concatenate(coefs), intercept)
    if isinstance(atoms, GaussianAtoms | IntersectionAtoms):
        return MappedModel(used, np.concatenate(coefs).T, intercept, atoms.map)
    return _linear_model(atoms, used, coefs, intercept)


def _merge(atoms: Atoms, generated: Generated) -> tuple[np.ndarray, list[np.ndarray]]:
    """Add up each atom's coefficients over the sets that have it."""
    merged: dict[int, np.ndarray] = {}
    for chosen, coef in zip(generated.sets, generated.coefs, strict=True):
        ends = np.cumsum(atoms.widths(chosen))[:-1]
        for atom, part in zip(chosen.tolist(), np.split(coef, ends), strict=True):
            merged[atom] = merged[atom] + part if atom in merged else part
    used = np.array(sorted(atom for atom, coef in merged.items() if coef.any()), dtype=np.int64)
    nothing = [np.zeros((0, len(generated.intercept)))]
    return used, [merged[atom] for atom in used.tolist()] or nothing


def _linear_model(atoms, used: np.ndarray, coefs: list[np.ndarray], intercept: np.ndarray) -> LinearModel:
    features = atoms if isinstance(atoms, FeatureAtoms) else atoms.features
    total = np.zeros((len(features.scale), len(intercept)))
    for atom, coef in zip(used.tolist(), coefs, strict=False):
        if isinstance(atoms, GroupAtoms):
            total[atoms.groups[atom]] += coef * atoms.weights[atom]
        else:
            total[atom] += coef[0]
    total *= features.scale[:, None]
    kept = np.flatnonzero(total.any(axis=1))
    return LinearModel(kept, total[kept].T.copy(), intercept)


def _product_model(atoms: ProductAtoms, used, coef, intercept) -> ProductModel:
    pairs = atoms.pairs(used)
    left = np.where(pairs[:, 0] < 0, 1.0, atoms.scale[np.maximum(pairs[:, 0], 0)])
    factor = atoms.factors(pairs) * left * atoms.scale[pairs[:, 1]]
    return ProductModel(pairs, (coef * factor[:, None]).T, intercept)
