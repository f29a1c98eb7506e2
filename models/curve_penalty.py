"""A penalty on curves whose coefficients are scaled, each with knots of its own.

The coefficients that annealing works with are those of basis functions of about unit mean square, so that a
gradient step serves rare bins like frequent ones, and the norm of a block is the spread of its curve. A
penalty is meant for the values at the knots. It stands between neighbouring knots of a quantity; what is
missing and the categories have no neighbours, and are drawn towards the mean as if some rows of every
category had the mean response: rare ones most.
"""

from collections.abc import Mapping

import numpy as np
from sklearn.isotonic import isotonic_regression

from .knot_table import PRIOR_ROWS, KnotTable
from .penalties import Penalty, Ridge


class CurvePenalty:
    """A penalty on the values at the knots, of coefficients that are scaled.

    Parameters
    ----------
    penalty : Penalty or None
        On neighbouring knots of each quantity.
    table : KnotTable
        Of the features of the design; `keep` follows it.
    scale : ndarray of shape (n_features, n_coefficients), float64
        Values are coefficients times these.
    n_rows : float
    monotone : mapping of int to int, optional
        +1 or -1 of features whose curves may only rise or fall.
    """

    def __init__(
        self,
        penalty: Penalty | None,
        table: KnotTable,
        scale: np.ndarray,
        n_rows: float,
        monotone: Mapping[int, int] | None = None,
    ) -> None:
        self.penalty = penalty
        self.signs = np.zeros(len(scale), dtype=np.int64)
        self.signs[list(monotone or {})] = list((monotone or {}).values())
        self.table = table
        self.scale = scale
        self.prior = Ridge(PRIOR_ROWS / n_rows)
        self._group()

    def _group(self) -> None:
        """Put quantities of as many knots together: the penalty sees blocks of one length."""
        quantities = np.flatnonzero(~self.table.is_category)
        sizes = self.table.n_knots[quantities]
        self.groups = [(int(n), quantities[sizes == n]) for n in np.unique(sizes)]
        self.free = np.zeros(self.scale.shape, dtype=bool)
        self.free[self.table.is_category] = True
        self.free[:, -1] = True

    def keep(self, indices: np.ndarray) -> None:
        """Forget all features but those at these positions."""
        self.table, self.scale, self.signs = (
            self.table.keep(indices),
            self.scale[indices],
            self.signs[indices],
        )
        self._group()

    def project(self, beta: np.ndarray) -> None:
        """Move the curves that must be monotone to the nearest ones that are, in place."""
        for j in np.flatnonzero(self.signs):
            n, scale = int(self.table.n_knots[j]), self.scale[j, : self.table.n_knots[j]]
            for of_output in beta:
                values = of_output[j, :n] * scale
                nearest = isotonic_regression(values, sample_weight=scale**-2, increasing=self.signs[j] > 0)
                of_output[j, :n] = nearest / scale

    def curvature(self, n_features: int) -> float:
        bound = 0.0
        if self.penalty is not None and self.groups:
            steepest = max(float(self.scale[rows, :n].max() ** 2) for n, rows in self.groups)
            bound = self.penalty.curvature(n_features) * steepest
        # The prior's is strength / (share of rows + strength), twice.
        return max(bound, 2.0)

    def value(self, beta: np.ndarray) -> float:
        values = beta * self.scale
        total = self.prior.value(values[:, self.free])
        if self.penalty is not None:
            for n, rows in self.groups:
                total += self.penalty.value(np.ascontiguousarray(values[:, rows, :n]))
        return total

    def add_gradient(self, beta: np.ndarray, gradient: np.ndarray) -> None:
        values = beta * self.scale
        slope = np.zeros_like(values)
        slope[:, self.free] = 2 * self.prior.strength * values[:, self.free]
        if self.penalty is not None:
            for n, rows in self.groups:
                part = np.zeros((len(beta), len(rows), n))
                self.penalty.add_gradient(np.ascontiguousarray(values[:, rows, :n]), part)
                slope[:, rows, :n] += part
        gradient += slope * self.scale
