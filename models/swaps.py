"""Swaps of selected columns for others, while the squared error falls.

Annealing never takes a column back. Where signals are weak, a column that chance favoured early may have
outlived a relevant one; with least squares the best exchange of one for the other is known exactly, for all
pairs at once, from the products of the selected columns with all others:

    adding j lowers the squared error by        (x_j' r)^2 / d_j,    d_j = x_j' x_j - p_j' G^-1 p_j
    taking i away then raises it by             b_i^2 / (G^-1)_ii    both after j has joined

with r the residual, G the products of the selected columns among themselves and p_j those with x_j.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

CHUNK_COLUMNS = 4096  # columns whose exchanges are looked at together
LEAST_GAIN = 1e-9  # of the targets' variance; a smaller gain is rounding
DEPENDENT = 1e-9  # a column with less than this part of its variance left depends on the selected ones


@dataclass(frozen=True)
class Products:
    """What the search needs to know of standardised columns and targets; means over the rows.

    Attributes
    ----------
    with_targets : ndarray of shape (n_outputs, n_features), float64
        Mean of column times target.
    with_column : callable
        Gives the mean of column `j` times every column, (n_features,) float64.
    squares : ndarray of shape (n_features,), float64
        Mean of each column's square; 0 for a constant column, which is never selected.
    variance : float
        Mean square of the targets, summed over the outputs.
    """

    with_targets: np.ndarray
    with_column: Callable[[int], np.ndarray]
    squares: np.ndarray
    variance: float


@dataclass(frozen=True)
class Swapped:
    """Columns after the swaps, and their least-squares coefficients.

    Attributes
    ----------
    kept : ndarray of shape (k,), int64, ascending
    coef : ndarray of shape (n_outputs, k), float64
    left : list of int
        Columns that were swapped out, in that order.
    """

    kept: np.ndarray
    coef: np.ndarray
    left: list[int]


def swap(
    products: Products,
    kept: np.ndarray,
    *,
    max_swaps: int,
    ridge: float = 0.0,
    ridge_after: float | None = None,
    fixed: np.ndarray | None = None,
) -> Swapped:
    """Exchange one selected column at a time for another, the best pair first, while the error falls.

    Parameters
    ----------
    products : Products
    kept : ndarray of shape (k,), int64
        Selected columns.
    max_swaps : int
    ridge : float
        Strength of a ridge penalty on the coefficients of standardised columns, beside the mean squared
        error.
    ridge_after : float, optional
        That of the coefficients returned, if it is another one.
    fixed : ndarray of shape (k,), bool, optional
        Which of them must stay.

    Returns
    -------
    Swapped
    """
    search = _Search(products, kept, ridge, np.zeros(len(kept), bool) if fixed is None else fixed)
    left: list[int] = []
    while len(left) < max_swaps:
        gain, position, column = search.best()
        if not gain > LEAST_GAIN * products.variance:
            break
        left.append(int(search.kept[position]))
        search.exchange(position, column)
    if ridge_after is not None:
        search.solve(ridge_after)
    order = np.argsort(search.kept)
    return Swapped(search.kept[order], search.coef[:, order], left)


class _Search:
    """The selected columns, their products with all columns, and what follows from them."""

    def __init__(self, products: Products, kept: np.ndarray, ridge: float, fixed: np.ndarray) -> None:
        self.products = products
        self.kept = np.array(kept, dtype=np.int64)
        self.fixed = fixed
        self.ridge = ridge
        self.rows = np.stack([products.with_column(int(j)) for j in self.kept])
        self.solve(ridge)

    def exchange(self, position: int, column: int) -> None:
        """Put a column in the place of a selected one."""
        self.kept[position] = column
        self.rows[position] = self.products.with_column(column)
        self.solve(self.ridge)

    def best(self) -> tuple[float, int, int]:
        """Return the largest gain of an exchange, its position among the selected, and its column."""
        best = (0.0, -1, -1)
        n_features = self.rows.shape[1]
        for start in range(0, n_features, CHUNK_COLUMNS):
            gains, positions = self._gains(np.arange(start, min(start + CHUNK_COLUMNS, n_features)))
            j = int(np.argmax(gains))
            if gains[j] > best[0]:
                best = (float(gains[j]), int(positions[j]), start + j)
        return best

    def solve(self, ridge: float) -> None:
        """Find the coefficients of the selected columns."""
        gram = self.rows[:, self.kept] + ridge * np.eye(len(self.kept))
        self.inverse = np.linalg.pinv(gram, hermitian=True)
        self.coef = self.products.with_targets[:, self.kept] @ self.inverse

    def _gains(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gain of the best exchange for each of these columns, and which of the selected would leave."""
        rows = self.rows[:, columns]
        squares = self.products.squares[columns]
        solved = self.inverse @ rows
        rest = squares + self.ridge - np.einsum("ij,ij->j", rows, solved)
        free = (squares > 0) & (rest > DEPENDENT * (squares + self.ridge)) & ~np.isin(columns, self.kept)
        rest = np.where(free, rest, 1.0)
        slope = self.products.with_targets[:, columns] - self.coef @ rows
        joined = slope / rest
        raised = np.zeros_like(rows)
        for before, new in zip(self.coef, joined, strict=True):
            raised += (before[:, None] - solved * new) ** 2
        raised /= np.diag(self.inverse)[:, None] + solved**2 / rest
        raised[self.fixed] = np.inf
        leaving = np.argmin(raised, axis=0)
        gains = np.sum(slope * joined, axis=0) - raised[leaving, np.arange(len(columns))]
        return np.where(free, gains, -np.inf), leaving
