"""Masks of motions."""

import numpy as np

from annealed.app.output.motion_masks import motion_mask


def test_pixels_get_the_motion_of_the_nearest_point():
    points = np.array([[2.0, 2.0], [12.0, 2.0], [7.0, 7.0]])
    mask = motion_mask(points, np.array([0, 1, -1]), (10, 16), reach_px=4)
    assert mask[2, 2] == 1
    assert mask[2, 12] == 2
    assert mask[2, 4] == 1
    assert mask[9, 7] == 0  # out of reach; the point there has no motion
    assert mask[7, 7] == 0


def test_no_points_make_an_empty_mask():
    assert not motion_mask(np.zeros((0, 2)), np.zeros(0, int), (4, 5)).any()
