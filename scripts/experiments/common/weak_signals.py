"""Independent columns of which a few matter a little."""

import numpy as np

N_RELEVANT = 10


def draw(seed, n_samples, n_features, r_squared):
    """Return columns, a quantity of which they explain a share `r_squared`, and which of them matter."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    relevant = rng.choice(n_features, N_RELEVANT, replace=False)
    signal = X[:, relevant] @ rng.choice([-1.0, 1.0], N_RELEVANT)
    noise = np.sqrt(N_RELEVANT * (1 / r_squared - 1)) * rng.standard_normal(n_samples)
    return X, signal + noise, relevant


def labels(y, share):
    """Return 1 for the largest of the values, so many of them."""
    return (y > np.quantile(y, 1 - share)).astype(int)
