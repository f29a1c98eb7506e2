"""A small detector and small scenes, made once for all tests of this folder."""

import numpy as np
import pytest

from annealed.features.windows import WindowPool
from annealed.models.keypoints.classifier import KeypointClassifier


@pytest.fixture(scope="session")
def make_classifier():
    """Return a function that makes a classifier of random features and responses."""

    def make(keypoint="chin", k=30, seed=0, n_bins=5):
        rng = np.random.default_rng(seed)
        pool = WindowPool.default()
        pool = pool[
            np.concatenate([rng.choice(864, k // 3, False), rng.choice(len(pool), k - k // 3, False)])
        ]
        patches = rng.integers(0, 256, size=(200, 26, 26, 3), dtype=np.uint8)
        low, high = pool.ranges(patches)
        rejection = np.linspace(-1.5, 0.5, 3)[:, None] + np.linspace(-1.0, 0.0, k)
        return KeypointClassifier(
            keypoint=keypoint,
            pool=pool,
            low=low,
            high=high,
            knots=rng.normal(0, 0.4, size=(k, n_bins + 1)).astype(np.float32),
            intercept=0.1,
            floors=np.array([-1.0, 0.0, 1.0], dtype=np.float32),
            rejection=rejection.astype(np.float32),
            threshold=0.5,
        )

    return make


@pytest.fixture
def photo(rng):
    """Noise that is smooth enough for features to vary within their ranges."""
    coarse = rng.integers(0, 256, size=(14, 18, 3), dtype=np.uint8)
    return np.ascontiguousarray(coarse.repeat(4, axis=0).repeat(4, axis=1))
