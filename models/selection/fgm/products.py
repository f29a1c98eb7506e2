"""Second-order products as atoms (section 6.4), of which only the selected columns are ever built.

An input of m features has m features, m squares and m (m - 1) / 2 products. Their scores come from blocks
of X^T diag(dual) X, and only the best are kept.
"""

from typing import Any

import numpy as np
from scipy import sparse

from .atoms import top

TABLE_SIZE = 4_000_000
"""Scores that are in memory at a time."""


class ProductAtoms:
    """Features, squares and pairwise products: the map of (gamma x'z + r)^2 without its constant.

    Atoms are numbered feature by feature: feature i itself, its square, its products with the later
    features. `pairs` turns numbers into pairs.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features), float32 or float64
    scale : ndarray of shape (n_features,), float64
    gamma, r : float
        The kernel's parameters: linear atoms are sqrt(2 gamma r) x_i, squares gamma x_i^2, products
        sqrt(2) gamma x_i x_i'.
    """

    def __init__(self, X, scale: np.ndarray, gamma: float = 1.0, r: float = 1.0):
        scaled = X * scale if not sparse.issparse(X) else X @ sparse.diags_array(scale)
        self.X: Any = sparse.csc_array(scaled) if sparse.issparse(X) else scaled.astype(X.dtype)
        self.scale = scale
        self.gamma = gamma
        self.r = r
        m = X.shape[1]
        self.block_size = max(1, TABLE_SIZE // m)
        first = np.arange(m + 1, dtype=np.int64)
        # Atoms before those of each feature: m + 1 for feature 0, one fewer for each further feature.
        self._starts = first * (m + 1) - first * (first - 1) // 2

    @property
    def n_atoms(self) -> int:
        return int(self._starts[-1])

    def pairs(self, atoms: np.ndarray) -> np.ndarray:
        """Return the two features of each atom, shape (n, 2); -1 and the feature for linear atoms."""
        first = np.searchsorted(self._starts, atoms, side="right") - 1
        place = atoms - self._starts[first]
        return np.stack([np.where(place == 0, -1, first), first + np.maximum(place - 1, 0)], axis=1)

    def factors(self, pairs: np.ndarray) -> np.ndarray:
        """Return what each atom's product is multiplied by."""
        left, right = pairs.T
        square_or_product = np.where(left == right, self.gamma, np.sqrt(2) * self.gamma)
        return np.where(left < 0, np.sqrt(2 * self.gamma * self.r), square_or_product)

    def strongest(self, dual: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        atoms, scores = np.arange(0), np.zeros(0)
        for first in range(0, self.X.shape[1], self.block_size):
            numbers, block_scores = self._block_scores(dual, first)
            best, best_scores = top(block_scores, count)
            atoms = np.concatenate([atoms, numbers[best]])
            scores = np.concatenate([scores, best_scores])
            kept, scores = top(scores, count)  # earlier blocks have the smaller numbers
            atoms = atoms[kept]
        return atoms, scores

    def _block_scores(self, dual: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the atoms of some features, ascending, and their scores."""
        m = self.X.shape[1]
        last = min(first + self.block_size, m)
        block, others = self.X[:, first:last], self.X[:, first:]
        linear = np.zeros((last - first, 1))
        products = np.zeros((last - first, m - first))
        for weight in dual.T.astype(self.X.dtype):
            weighted = _scale_rows(block, weight)
            linear[:, 0] += np.asarray(weighted.sum(axis=0), dtype=np.float64) ** 2
            products += _to_dense(weighted.T @ others) ** 2
        products *= 2 * self.gamma**2
        diagonal = np.arange(last - first)
        products[diagonal, diagonal] /= 2
        table = np.concatenate([2 * self.gamma * self.r * linear, products], axis=1)
        wanted = np.ones(table.shape, dtype=bool)
        wanted[:, 1:] = np.arange(m - first) >= diagonal[:, None]
        return np.arange(self._starts[first], self._starts[last]), table[wanted]

    def columns(self, atoms: np.ndarray):
        pairs = self.pairs(atoms)
        linear = np.flatnonzero(pairs[:, 0] < 0)
        columns = self.X[:, pairs[:, 1]].astype(np.float64)
        partners = self.X[:, np.maximum(pairs[:, 0], 0)].astype(np.float64)
        factors = self.factors(pairs)
        if not sparse.issparse(columns):
            partners[:, linear] = 1.0
            return np.asfortranarray(columns * partners * factors)
        terms = columns.multiply(partners).tocsc()
        is_linear = np.zeros(len(pairs))
        is_linear[linear] = 1.0
        terms = terms @ sparse.diags_array(1 - is_linear) + columns @ sparse.diags_array(is_linear)
        return (terms @ sparse.diags_array(factors)).tocsc()

    def widths(self, atoms: np.ndarray) -> np.ndarray:
        return np.ones(len(atoms), dtype=np.int64)


def _scale_rows(X: Any, weight: np.ndarray) -> Any:
    return sparse.diags_array(weight) @ X if sparse.issparse(X) else X * weight[:, None]


def _to_dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
