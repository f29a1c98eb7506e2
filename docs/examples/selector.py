"""A selector of one's own: how far apart the medians of two classes are, in quartile widths.

>>> import numpy as np
>>> from annealed.models.selection import METHODS, make_selector
>>> METHODS["medians"] = METHOD
>>> X = np.random.default_rng(0).standard_normal((200, 30))
>>> y = np.arange(200) % 2
>>> X[:, [8, 21]] += 2 * y[:, None]
>>> make_selector("medians", 2).fit(X, y).get_support(indices=True)
array([ 8, 21])
>>> del METHODS["medians"]
"""

import numpy as np

from annealed.features.errors import DataError
from annealed.models.selection.ranked import RankedSelector, descending
from annealed.models.selection.registry import Method


class MedianSelector(RankedSelector):
    """Select the k features whose medians differ most between two classes.

    Parameters
    ----------
    k : int
    """

    task = "classification"

    def __init__(self, k=10):
        self.k = k

    def _order(self, X, y, classes, k, weight):
        if y.max() > 1:
            raise DataError(f"two classes are needed, got {int(y.max()) + 1}")
        apart = np.median(X[y == 0], axis=0) - np.median(X[y == 1], axis=0)
        low, high = np.percentile(X, (25, 75), axis=0)
        width = np.where(high > low, high - low, np.inf)
        return descending(np.abs(apart) / width)


METHOD = Method(lambda k, task, random_state: MedianSelector(k), ("classification",))
