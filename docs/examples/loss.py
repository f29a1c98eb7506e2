"""A loss of one's own: the logarithm of the hyperbolic cosine.

It is quadratic near zero and linear far away, like `HuberError`, but smooth everywhere. The regressor scales
the target to variance one, and the loss meets residuals in that unit.

>>> import numpy as np
>>> from annealed.models import FSARegressor
>>> X = np.random.default_rng(0).standard_normal((300, 40))
>>> y = 3 * X[:, 4] - 2 * X[:, 17]
>>> model = FSARegressor(k=2, loss=LogCosh).fit(X, y)
>>> model.get_support(indices=True), model.coef_[[4, 17]].round(1)
(array([ 4, 17]), array([ 3., -2.]))
"""

import math

from annealed.models.losses import PointwiseLoss

LOG_2 = math.log(2)


class LogCosh(PointwiseLoss):
    """ln cosh(f - y)."""

    curvature = 1.0  # the largest value of the second derivative, 1 / cosh^2

    @staticmethod
    def sample_value(y, f):
        gap = abs(f - y)
        return gap + math.log1p(math.exp(-2 * gap)) - LOG_2

    @staticmethod
    def sample_slope(y, f):
        return math.tanh(f - y)
