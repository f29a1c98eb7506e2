import numpy as np
import pytest

from annealed.features.errors import ParameterError
from annealed.features.pool import WindowPool, cut_windows
from annealed.features.pyramid import gaussian_pyramid
from annealed.models.keypoints.training.refinement_fitting import (
    OffsetExamples,
    RefineConfig,
    fit_offsets,
    offset_examples_of_photo,
)
from annealed.models.keypoints.training.targets import KeypointTargets, TargetConfig


def test_examples_lie_within_reach_where_the_size_is_in_range(blob_photos, blob_targets):
    rule = RefineConfig(n_windows=50)
    levels = gaussian_pyramid(blob_photos[0])
    found = offset_examples_of_photo(levels, blob_targets, TargetConfig(), rule, np.random.default_rng(0))
    # 30 px is within 20 to 40 px at scales 1, 0.84 and 0.71
    assert len(found.offsets) == 150
    for level, offsets, patches in zip(
        levels, found.offsets.reshape(3, 50, 2), found.patches.reshape(3, 50, 26, 26, 3), strict=False
    ):
        reach = rule.reach * blob_targets.sizes[0] * level.scale
        assert (np.linalg.norm(offsets, axis=1) <= reach + 0.75).all()  # centres are rounded
        centres = np.rint(level.from_photo(blob_targets.points[0]) - offsets).astype(int)
        point = level.from_photo(blob_targets.points[0])
        np.testing.assert_allclose(centres + offsets, np.tile(point, (50, 1)), atol=1e-9)
        np.testing.assert_array_equal(patches, cut_windows(level.image, centres[:, 1], centres[:, 0]))


def test_hidden_keypoints_give_no_examples(blob_photos, blob_targets):
    hidden = KeypointTargets(blob_targets.points, np.array([False]), blob_targets.sizes, blob_targets.ignore)
    levels = gaussian_pyramid(blob_photos[0])
    found = offset_examples_of_photo(levels, hidden, TargetConfig(), RefineConfig(), np.random.default_rng(0))
    assert found.patches.shape == (0, 26, 26, 3)
    assert found.offsets.shape == (0, 2)


def test_fit_offsets_takes_all_features_of_a_small_pool(blob_examples):
    pool = WindowPool.default()[:10]
    few = OffsetExamples(blob_examples.patches[:100], blob_examples.offsets[:100])
    assert len(fit_offsets(pool, few, RefineConfig(k=40, n_iter=5), 0).pool) == 10


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"k": -1}, "k must be at least 0"),
        ({"reach": 0.0}, "reach must be a finite number above 0"),
        ({"n_windows": 0}, "n_windows must be at least 1"),
    ],
)
def test_refine_rule_bad_options(option, message):
    with pytest.raises(ParameterError, match=message):
        RefineConfig(**option)
