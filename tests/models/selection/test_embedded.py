"""What the penalised models leave."""

import numpy as np

from annealed.models.selection.embedded import quantile_tisp


def test_quantile_tisp_solves_least_squares_on_what_it_keeps(rng):
    X = rng.standard_normal((80, 20))
    Y = X[:, [3, 11]] @ np.array([[2.0], [-1.0]])
    sizes = quantile_tisp(X, Y, 2, 2000)
    assert np.flatnonzero(sizes).tolist() == [3, 11]
    np.testing.assert_allclose(sizes[[3, 11]], [2, 1], atol=1e-4)
