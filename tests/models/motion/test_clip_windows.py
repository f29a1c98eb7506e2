"""Windows of long clips and the labels that go through them."""

from itertools import pairwise

import numpy as np
import pytest

from annealed.models.motion.clip_windows import Votes, cuts, matched, window_starts


@pytest.mark.parametrize("n_frames", [1, 60, 120])
def test_short_clips_are_one_window(n_frames):
    assert window_starts(n_frames) == [(0, n_frames)]


@pytest.mark.parametrize("n_frames", [121, 300, 1001])
def test_windows_cover_the_clip_and_overlap_by_half(n_frames):
    windows = window_starts(n_frames)
    assert windows[0][0] == 0
    assert windows[-1][1] == n_frames
    for (_, end), (start, _) in pairwise(windows):
        assert end - start >= 29


def test_motions_keep_their_numbers_and_new_ones_get_new_ones():
    before = np.array([0, 0, 1, 1, -1, -1])
    labels = np.array([1, 1, 0, -1, 2, 0])
    np.testing.assert_array_equal(matched(labels, before, 2), [0, 0, 1, -1, 2, 1])


def test_the_longest_label_wins():
    votes = Votes(3)
    votes.add(np.array([0, 1, -1]), np.array([10, 10, 3]))
    votes.add(np.array([2, 1, -1]), np.array([11, 5, 3]))
    np.testing.assert_array_equal(votes.labels, [2, 1, -1])


def test_a_cut_is_where_hardly_a_track_goes_on(rng):
    visible = np.zeros((60, 40), dtype=bool)
    visible[:30, :17], visible[30:, 17:] = True, True
    visible[0] = True  # one track seems to go on
    assert cuts(visible) == [17]


def test_tracks_that_come_and_go_are_no_cut(rng):
    start = rng.integers(0, 90, 300)
    frames = np.arange(100)
    visible = (frames >= start[:, None]) & (frames < start[:, None] + 10)
    assert cuts(visible) == []
    lost = np.ones((50, 20), dtype=bool) & (rng.random((50, 20)) > 0.5)
    assert cuts(lost) == []


def test_few_tracks_do_not_tell_a_cut():
    visible = np.zeros((10, 20), dtype=bool)
    visible[:5, :10], visible[5:, 10:] = True, True
    assert cuts(visible) == []
