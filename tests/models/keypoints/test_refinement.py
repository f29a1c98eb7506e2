import numpy as np
import pytest

from annealed.features.pyramid import gaussian_pyramid
from annealed.models.keypoints.refinement import refine
from annealed.models.keypoints.training.config import training_pool
from annealed.models.keypoints.training.refinement_fitting import RefineConfig, fit_offsets


@pytest.fixture(scope="module")
def regressor(blob_examples):
    return fit_offsets(training_pool(200, 0), blob_examples, RefineConfig(k=40, n_iter=200), 0)


def test_offsets_are_the_responses_of_the_features_added_up(regressor, blob_examples):
    patches = blob_examples.patches[:20]
    values = regressor.pool.compute(patches).astype(np.float64)
    responses = regressor.responses
    low, high = responses.low[:, None].astype(float), responses.high[:, None].astype(float)
    position = np.clip((values - low) / np.maximum(high - low, 1e-12), 0, 1)
    knots = np.linspace(0, 1, responses.values.shape[2])
    for axis in range(2):
        expected = regressor.intercept[axis] + sum(
            np.interp(p, knots, k) for p, k in zip(position, responses.values[axis], strict=True)
        )
        # codes have 255 steps
        np.testing.assert_allclose(regressor.respond(patches)[axis], expected, atol=0.3)


def test_refine_finds_the_keypoint_of_another_photo(blob_photos, blob_targets, regressor):
    levels = gaussian_pyramid(blob_photos[-1])
    starts = blob_targets.points[0] + np.array([(4, 0), (-3, 3), (0, -4), (2, 2)])
    found = refine(starts, np.array([1.0, 1.2, 1.0, 1.4]), levels, regressor)
    assert np.linalg.norm(found - blob_targets.points, axis=1).max() < 1.5  # 5 % of the size
    # each detection is moved on its own
    alone = refine(starts[2:3], np.array([1.0]), levels, regressor)
    np.testing.assert_array_equal(alone[0], found[2])


def test_refine_at_the_corner_of_a_photo_and_of_nothing(blob_photos, regressor):
    levels = gaussian_pyramid(blob_photos[0])
    corner = refine(np.array([(0.0, 119.0)]), np.array([50.0]), levels, regressor)
    assert np.isfinite(corner).all()
    assert refine(np.empty((0, 2)), np.empty(0), levels, regressor).shape == (0, 2)
