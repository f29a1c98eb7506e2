"""The problem over the features generated so far (equation 31), for accelerated proximal gradient.

    min_w  (sum_t |w_t|)^2 / 2 + p(sum_t X_t w_t)

A block X_t holds the features of one generated set; w_t is (width_t, n_outputs). All blocks' coefficients
lie one above the other in one matrix. Responses are kept per block, shape (n_blocks, n_samples,
n_outputs): the Moreau projection multiplies a block by a number, so all tries of a line search cost one pass
over the data (equation 42).
"""

import numpy as np

from ..proximal import Composite
from .margin_losses import MarginLoss


def moreau_factors(norms: np.ndarray, step: float) -> np.ndarray:
    """Return the factors by which blocks shrink under the prox of (sum_t |w_t|)^2 / 2 (Algorithm 3).

    Parameters
    ----------
    norms : ndarray of shape (n_blocks,), float64
        Euclidean norms of the blocks.
    step : float
        s in argmin_w |w - g|^2 / 2 + s (sum_t |w_t|)^2 / 2.

    Returns
    -------
    ndarray of shape (n_blocks,), float64, in [0, 1]

    Examples
    --------
    >>> import numpy as np
    >>> moreau_factors(np.array([3.0, 1.0]), step=1.0)
    array([0.5, 0. ])
    """
    ordered = np.sort(norms)[::-1]
    count = np.arange(1, len(norms) + 1)
    thresholds = step / (1 + count * step) * np.cumsum(ordered)
    active = np.flatnonzero(ordered > thresholds)
    if len(active) == 0:
        return np.zeros_like(norms)
    threshold = thresholds[active[-1]]
    return np.maximum(1 - threshold / np.where(norms > 0, norms, np.inf), 0.0) * (norms > 0)


class L1SquaredProblem(Composite):
    """The l1-squared problem over some blocks.

    Parameters
    ----------
    blocks : list of ndarray or csc_array of shape (n_samples, width), float64
    loss : MarginLoss
    """

    def __init__(self, blocks: list, loss: MarginLoss):
        self.blocks = blocks
        self.margin_loss = loss
        widths = [block.shape[1] for block in blocks]
        self._starts = np.concatenate([[0], np.cumsum(widths)[:-1]]).astype(np.int64)
        self._block_of = np.repeat(np.arange(len(blocks)), widths)

    def split(self, x: np.ndarray) -> list[np.ndarray]:
        """Return the coefficients of each block."""
        return np.split(x, self._starts[1:])

    def respond(self, x):
        return np.stack([block @ w for block, w in zip(self.blocks, self.split(x), strict=True)])

    def loss(self, response):
        return self.margin_loss.value(response.sum(axis=0))

    def gradient(self, response):
        residual = -self.margin_loss.dual(response.sum(axis=0)) * self.margin_loss.y
        return np.concatenate([block.T @ residual for block in self.blocks])

    def penalty(self, x):
        return 0.5 * float(self.norms(x).sum()) ** 2

    def prox(self, x, step):
        return x * moreau_factors(self.norms(x), step)[self._block_of, None]

    def norms(self, x: np.ndarray) -> np.ndarray:
        """Return the norm of each block's coefficients."""
        return np.sqrt(np.add.reduceat((x**2).sum(axis=1), self._starts))

    def moves(self, x, response, gradient):
        gradient_response = self.respond(gradient)

        def move(step: float):
            point = x - step * gradient
            factors = moreau_factors(self.norms(point), step)
            moved = (response - step * gradient_response) * factors[:, None, None]
            return point * factors[self._block_of, None], moved

        return move
