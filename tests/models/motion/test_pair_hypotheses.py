"""Minimal fits between two frames, against the motion that made the points."""

import numpy as np
import pytest

from annealed.models.motion.pair_hypotheses import SAMPLE_SIZES, hypothesis_residuals


def moved(rng, model, n=40):
    """Points of one motion of a kind, exactly."""
    before = rng.normal(0, 1, (n, 2))
    if model == "affine":
        return before, before @ rng.normal(0, 1, (2, 2)) + rng.normal(0, 1, 2)
    if model == "homography":
        w = 1 + before @ np.array([0.1, -0.05])
        return before, (before @ rng.normal(0, 1, (2, 2)) + 0.3) / w[:, None]
    depth = rng.uniform(4, 8, n)
    body = np.column_stack([before * depth[:, None], depth])
    turn = np.linalg.qr(np.eye(3) + 0.1 * rng.normal(0, 1, (3, 3)))[0]
    seen = body @ (turn * np.sign(np.diag(turn))).T + np.array([0.5, 0.1, 0.2])
    return before, seen[:, :2] / seen[:, 2:]


@pytest.mark.parametrize("model", SAMPLE_SIZES)
def test_a_sample_of_one_motion_fits_all_its_points(rng, model):
    before, after = moved(rng, model)
    samples = np.array([rng.permutation(40)[: SAMPLE_SIZES[model]] for _ in range(20)])
    residuals = hypothesis_residuals(model, before, after, samples)
    assert residuals.shape == (40, 20)
    assert np.median(residuals) < 1e-12
    spoiled = hypothesis_residuals(model, before, after + rng.normal(0, 1, (40, 2)), samples)
    assert np.median(spoiled) > 1e-3


@pytest.mark.parametrize("model", ["affine", "homography"])
def test_points_on_a_line_fix_nothing(model):
    before = np.column_stack([np.arange(6.0), 2 * np.arange(6.0)])
    residuals = hypothesis_residuals(model, before, before, np.arange(SAMPLE_SIZES[model])[None])
    assert not (residuals < 1e-3).all() or np.isinf(residuals).all()
