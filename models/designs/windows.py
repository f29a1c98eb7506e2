"""Pixel features of stored windows, computed from the pixels when asked for (sections 2.5.1 and 3.3).

A training example is kept as the 2 kB of its window, not as its 61,803 features: 200,000 examples take
400 MB this way and 12 GB as codes of one byte. While all features take part, every batch computes its
codes; the first keep steps drop so many of them that the survivors' codes soon fit the memory budget,
are computed once more, and stay.
"""

import numpy as np

from ...features.patches import check_patches
from ...features.pool import WindowPool
from ..additive import PiecewiseModel
from .binned import BinnedDesign, knot_means
from .streamed import DEFAULT_BUDGET_BYTES, OnDemandDesign

# Codes that are computed at a time where a whole pass over the rows is wanted.
BLOCK_BYTES = 1 << 27
# Rows that the means of the basis functions are taken over.
MEAN_ROWS = 4096


class WindowsDesign(OnDemandDesign):
    """Piecewise linear responses to the features of stored windows.

    The basis is centred as in `BinnedDesign`, on means over at most 4096 rows spread evenly over all of
    them: what is subtracted moves between the responses and the intercept and changes nothing else.

    Parameters
    ----------
    pool : WindowPool
    patches : ndarray of shape (n_rows, 26, 26, 3), uint8
        As `cut_windows` gives them. Batches are ranges of rows, so rows should come in random order.
    n_bins : int
        B, from 1 to 255; a feature has B + 1 coefficients.
    low, high : ndarray of shape (n_features,), float32, optional
        Range of each feature; that of the patches by default.
    memory_budget : int
        Bytes that the codes of the survivors may take.

    Attributes
    ----------
    pool, low, high, means
        Of the features still kept; `means` is (n_features, n_bins + 1), float64.
    """

    def __init__(
        self,
        pool: WindowPool,
        patches: np.ndarray,
        n_bins: int,
        *,
        low: np.ndarray | None = None,
        high: np.ndarray | None = None,
        memory_budget: int = DEFAULT_BUDGET_BYTES,
    ) -> None:
        self.patches = check_patches(patches)
        block_rows = max(1, BLOCK_BYTES // len(pool))
        super().__init__(
            len(patches), len(pool), np.uint8, block_rows=block_rows, memory_budget=memory_budget
        )
        self.pool = pool
        if low is None or high is None:
            lowest, highest = pool.ranges(self.patches)
            low, high = lowest if low is None else low, highest if high is None else high
        self.low, self.high = low, high
        self.n_bins = n_bins
        self.n_coefficients = n_bins + 1
        self.means = knot_means(pool.codes(_spread(self.patches, MEAN_ROWS), low, high), n_bins)
        self.keep(np.arange(len(pool)))

    def read_values(self, start: int, stop: int) -> np.ndarray:
        return self.pool.codes(self.patches[start:stop], self.low, self.high)

    def to_model(self, kept: np.ndarray, beta: np.ndarray, intercept: np.ndarray) -> PiecewiseModel:
        """Return a model of the features' own values."""
        low, high = (ends.astype(np.float64) for ends in (self.low, self.high))
        return PiecewiseModel.from_basis(kept, low, high, beta, self.means, intercept.copy())

    def restrict(self, indices: np.ndarray) -> None:
        self.pool = self.pool[indices]
        self.low, self.high = self.low[indices], self.high[indices]
        self.means = self.means[indices]
        self.block_rows = max(1, BLOCK_BYTES // max(1, len(indices)))

    def wrap(self, values: np.ndarray) -> BinnedDesign:
        return BinnedDesign(values, self.n_bins, self.means)

    def _read_all(self) -> np.ndarray:
        """Return all codes; computing them takes no memory but their own, so it needs no blocks."""
        return self.read_values(0, self.n_rows)


def _spread(patches: np.ndarray, n: int) -> np.ndarray:
    """Return n of the patches at equal distances, or all if there are no more."""
    return patches[:: max(1, -(-len(patches) // n))]
