"""Parts of random features, made for all tests of this folder."""

import numpy as np
import pytest

from annealed.features.pool import WindowPool
from annealed.models.keypoints.parts.model import Part, PartModel
from annealed.models.keypoints.parts.relations import NO_PARENT, Relations
from annealed.models.keypoints.window_model import WindowModel


def _make_model(k=12, n_outputs=1, seed=0):
    rng = np.random.default_rng(seed)
    pool = WindowPool.default()[rng.choice(61803, k, replace=False)]
    low, high = pool.ranges(rng.integers(0, 256, size=(100, 26, 26, 3), dtype=np.uint8))
    values = rng.normal(size=(n_outputs, k, 5))
    return WindowModel.of_arrays(pool, low, high, values, rng.normal(size=n_outputs))


def _part_model(n_keypoints=2, n_zooms=2, parent=None):
    part = Part(
        tuple(_make_model(seed=z) for z in range(n_zooms)),
        _make_model(n_outputs=2, seed=9),
        np.array([0, 0, 1.0, 1]),
    )
    parent = np.full(n_keypoints, NO_PARENT) if parent is None else np.array(parent)
    slope = np.where(parent[:, None, None] == NO_PARENT, 0.0, np.eye(2))
    relations = Relations(
        np.full((n_keypoints, 2), 0.5), parent, slope, np.tile(np.eye(2) * 0.01, (n_keypoints, 1, 1))
    )
    weights = np.tile(np.r_[0.0, np.ones(n_zooms)], (n_keypoints, 1))
    four = np.tile([0.0, 1, 0, 0], (n_keypoints, 1))
    return PartModel(
        (part,) * n_keypoints,
        relations,
        np.array([0, 0, 1.0, 1]),
        64.0,
        None,
        weights,
        four,
        four,
        np.ones(2),
    )


@pytest.fixture(scope="session")
def make_model():
    """Return a function that makes a model of windows."""
    return _make_model


@pytest.fixture(scope="session")
def part_model():
    """Return a function that makes a model of parts."""
    return _part_model
