"""Agreement of tracks, on generated rigid motions and against a loop."""

import numpy as np

from annealed.features.threads import get_num_threads, set_num_threads
from annealed.models.motion.ordered_residuals import (
    best_hypotheses,
    frame_pairs,
    ordered_residual_kernel,
)


def test_best_hypotheses_are_those_of_a_stable_sort(rng):
    residuals = rng.integers(0, 6, (30, 25)).astype(float)
    residuals[3, :20] = np.inf
    best = best_hypotheses(residuals, 7)
    for row, marked in zip(residuals, best, strict=True):
        np.testing.assert_array_equal(np.flatnonzero(marked), np.sort(np.argsort(row, kind="stable")[:7]))


def test_frame_pairs_are_spread_over_gaps_and_frames():
    assert frame_pairs(4, [1, 3]) == [(0, 1), (1, 2), (2, 3), (0, 3)]
    pairs = frame_pairs(100, [1, 25], 20)
    assert len(pairs) == 20
    assert {second - first for first, second in pairs} == {1, 25}


def test_tracks_of_one_motion_agree_whatever_they_miss(rng, rigid_motions):
    positions, labels = rigid_motions(rng, 2)
    visible = rng.random(positions.shape[:2]) < 0.7
    pairs = frame_pairs(12, [1, 3])
    for model in ("affine", "homography", "fundamental"):
        kernel = ordered_residual_kernel(positions, visible, model, pairs)
        same = (labels[:, None] == labels) & (kernel.shared > 0)
        other = (labels[:, None] != labels) & (kernel.shared > 0)
        assert kernel.similarity[same].mean() > 1.2 * kernel.similarity[other].mean()
        np.testing.assert_array_equal(kernel.similarity, kernel.similarity.T)


def test_the_number_of_threads_changes_nothing(rng, rigid_motions):
    positions, _ = rigid_motions(rng, 2)
    visible = np.ones(positions.shape[:2], dtype=bool)
    before, found = get_num_threads(), []
    try:
        for n in (1, 3):
            set_num_threads(n)
            kernel = ordered_residual_kernel(positions, visible, "affine", frame_pairs(12, [1]))
            found.append(kernel.similarity)
    finally:
        set_num_threads(before)
    np.testing.assert_array_equal(found[0], found[1])
