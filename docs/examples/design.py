"""A design of one's own: products of pairs of columns, which are never all in memory.

60 columns have 1,830 products (squares included). They are computed when the loop asks for them, a range of
rows at a time, until those that are left fit the memory budget.

>>> import numpy as np
>>> from annealed.models.annealing import anneal
>>> from annealed.models.losses import SquaredError
>>> from annealed.models.schedules import InverseSchedule
>>> X = np.random.default_rng(0).standard_normal((600, 60))
>>> y = 2 * X[:, 5] * X[:, 40] - X[:, 11] ** 2
>>> design = PairProducts(X, memory_budget=1_000_000)
>>> result = anneal(design, SquaredError(y), None, InverseSchedule(k=2))
>>> PairProducts(X).pairs[:, result.kept].T
array([[ 5, 40],
       [11, 11]])
>>> result.beta.ravel().round(2)
array([ 2., -1.])
"""

import numpy as np

from annealed.models.designs import DenseDesign, OnDemandDesign


class PairProducts(OnDemandDesign):
    """Products of pairs of columns.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
    block_rows, memory_budget : int
        See `OnDemandDesign`.
    """

    def __init__(self, X: np.ndarray, *, block_rows: int = 256, memory_budget: int = 1 << 20) -> None:
        self.columns = np.ascontiguousarray(X.T)
        self.pairs = np.stack(np.triu_indices(X.shape[1]))
        n_products = self.pairs.shape[1]
        super().__init__(len(X), n_products, X.dtype, block_rows=block_rows, memory_budget=memory_budget)

    def read_values(self, start: int, stop: int) -> np.ndarray:
        rows = self.columns[:, start:stop]
        return rows[self.pairs[0]] * rows[self.pairs[1]]

    def restrict(self, indices: np.ndarray) -> None:
        self.pairs = self.pairs[:, indices]

    def wrap(self, values: np.ndarray) -> DenseDesign:
        return DenseDesign(values)
