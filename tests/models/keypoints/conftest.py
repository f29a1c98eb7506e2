"""A small detector and small scenes, made once for all tests of this folder."""

import numpy as np
import pytest

from annealed.features.pool import WindowPool
from annealed.features.pyramid import gaussian_pyramid
from annealed.models.keypoints.keypoint_classifier import KeypointClassifier
from annealed.models.keypoints.training.refinement_fitting import (
    RefineConfig,
    join_offset_examples,
    offset_examples_of_photo,
)
from annealed.models.keypoints.training.targets import KeypointTargets, TargetConfig
from annealed.models.keypoints.window_model import WindowModel

BLOB_POINT = (58.8, 61.3)
BLOB_SIZE = 30.0


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
        values = rng.normal(0, 0.4, size=(1, k, n_bins + 1))
        return KeypointClassifier(
            keypoint=keypoint,
            model=WindowModel.of_arrays(pool, low, high, values, np.array([0.1])),
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


@pytest.fixture(scope="session")
def blob_photos():
    """A soft blob on a slope, another slope in each photo; the keypoint is its centre."""
    rng = np.random.default_rng(0)
    rows, cols = np.mgrid[:120, :120]
    blob = 150 * np.exp(-((cols - BLOB_POINT[0]) ** 2 + (rows - BLOB_POINT[1]) ** 2) / 200)
    slopes = rng.uniform(-0.3, 0.3, size=(12, 2))
    grey = [np.clip(60 + a * rows + b * cols + blob, 0, 255).astype(np.uint8) for a, b in slopes]
    return [np.ascontiguousarray(np.repeat(image[..., None], 3, axis=2)) for image in grey]


@pytest.fixture(scope="session")
def blob_targets():
    return KeypointTargets(np.array([BLOB_POINT]), np.array([True]), np.array([BLOB_SIZE]), np.empty((0, 4)))


@pytest.fixture(scope="session")
def blob_examples(blob_photos, blob_targets):
    return join_offset_examples(
        [
            offset_examples_of_photo(
                gaussian_pyramid(image),
                blob_targets,
                TargetConfig(),
                RefineConfig(),
                np.random.default_rng(i),
            )
            for i, image in enumerate(blob_photos[:-1])
        ]
    )
