"""Tracks with gaps, on generated rigid motions and a ranker that is not learned."""

import numpy as np
import pytest

from annealed.features.errors import DataError, ParameterError
from annealed.models import load_model
from annealed.models.motion import Candidate, Ranking
from annealed.models.motion.candidates import candidates
from annealed.models.motion.segment import chosen_tracks, segment


class FirstCandidate:
    """Stands in for a ranker: the first candidate is the best."""

    pool = "paper"

    def rank(self, positions, n_motions):
        found = candidates(positions, n_motions)
        return Ranking(found, np.arange(len(found), 0, -1.0))


class Known:
    """Stands in for a ranker that is always right."""

    pool = "paper"

    def __init__(self, labels):
        self.labels = labels

    def rank(self, positions, n_motions):
        assert len(positions) == len(self.labels)
        return Ranking([Candidate(self.labels, "known", {})], np.ones(1))


def moving_plates(rng, n_motions=2, n_points=20, n_frames=10):
    """Affine motions of random points: exactly in affine subspaces of three dimensions."""
    tracks = []
    for _ in range(n_motions):
        body = rng.normal(0, 40, (n_points, 3))
        camera = rng.normal(0, 1, (1, 2, 3)) + 0.1 * np.cumsum(rng.normal(0, 1, (n_frames, 2, 3)), axis=0)
        drift = np.cumsum(rng.normal(0, 5, (n_frames, 2)), axis=0)
        tracks.append(np.einsum("fij,pj->pfi", camera, body) + drift + 200)
    return np.concatenate(tracks), np.repeat(np.arange(n_motions), n_points)


@pytest.mark.parametrize("n_motions", [2, 3])
def test_tracks_with_gaps_join_their_motion(rng, n_motions):
    positions, truth = moving_plates(rng, n_motions)
    visible = np.ones(positions.shape[:2], dtype=bool)
    for i in range(0, len(visible), 3):
        visible[i] = rng.permutation(10) < 4  # four frames, in any order
    ranker = Known(truth[visible.all(axis=1)])
    result = segment(np.where(visible[..., None], positions, np.nan), visible, n_motions, ranker)
    np.testing.assert_array_equal(result.ranked, visible.all(axis=1))
    np.testing.assert_array_equal(result.joined, ~result.ranked)
    assert result.n_unlabelled == 0
    np.testing.assert_array_equal(result.labels, truth)
    assert len(result.ranking.best.labels) == result.ranked.sum()


def test_tracks_too_short_to_tell_are_counted(rng):
    positions, truth = moving_plates(rng)
    visible = np.ones(positions.shape[:2], dtype=bool)
    visible[3, 2:] = False
    visible[7] = False
    visible[30, 3:] = False
    result = segment(positions, visible, 2, Known(truth[visible.all(axis=1)]))
    np.testing.assert_array_equal(np.flatnonzero(result.labels == -1), [3, 7])
    assert result.n_unlabelled == 2
    assert result.joined.sum() == 1
    known = result.labels >= 0
    np.testing.assert_array_equal(result.labels[known], truth[known])


def plain(rng, n_tracks=8, n_frames=6):
    return rng.uniform(0, 100, (n_tracks, n_frames, 2)), np.ones((n_tracks, n_frames), dtype=bool)


@pytest.mark.parametrize("n_motions", [-1, 0, 1, 9])
def test_numbers_of_motions_out_of_range_are_refused(rng, n_motions):
    with pytest.raises(ParameterError, match="from 2 to 8"):
        segment(*plain(rng), n_motions, FirstCandidate())


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_visible_positions_must_be_finite(rng, value):
    positions, visible = plain(rng)
    positions[2, 3, 0] = value
    with pytest.raises(DataError, match="not finite"):
        segment(positions, visible, 2, FirstCandidate())


def test_too_few_complete_tracks_are_refused(rng):
    positions, visible = plain(rng)
    visible[1:, 2] = False
    with pytest.raises(DataError, match="1 of 8 tracks are visible in all 6 frames"):
        segment(positions, visible, 2, FirstCandidate())


def test_copies_of_one_track_are_refused(rng):
    positions, visible = plain(rng)
    positions[:] = positions[0]
    with pytest.raises(DataError, match="copies of 1"):
        segment(positions, visible, 2, FirstCandidate())


def test_some_copies_do_no_harm(rng):
    positions, _ = moving_plates(rng)
    positions[1] = positions[0]
    result = segment(positions, np.ones(positions.shape[:2], bool), 2, FirstCandidate())
    assert result.labels[0] == result.labels[1]


def test_two_frames_are_refused(rng):
    with pytest.raises(DataError, match="2 frames"):
        segment(*plain(rng, n_frames=2), 2, FirstCandidate())


def test_tracks_that_do_not_move_are_refused(rng):
    positions, visible = plain(rng)
    positions[:] = positions[:, :1]
    with pytest.raises(DataError, match="no track moves"):
        segment(positions, visible, 2, FirstCandidate())


def test_wrong_shapes_are_refused(rng):
    positions, visible = plain(rng)
    with pytest.raises(DataError, match="visibility"):
        segment(positions, visible[1:], 2, FirstCandidate())
    with pytest.raises(DataError, match="shape"):
        segment(positions[:, :, 0], visible, 2, FirstCandidate())


class KnownOfGaps:
    """Stands in for a ranker that takes tracks with gaps, and is always right."""

    pool = "pairs"

    def __init__(self, truth):
        self.truth = truth  # by the first position of a track

    def rank_cues(self, cues, n_motions=None):
        first = cues.visible.argmax(axis=1)
        places = cues.positions[np.arange(len(first)), first]
        labels = np.array([self.truth[tuple(place)] for place in places])
        labels = np.unique(labels, return_inverse=True)[1]
        return Ranking([Candidate(labels, "known", {})], np.ones(1))


def known(positions, visible, labels):
    """A ranker that knows tracks by every position of theirs."""
    return KnownOfGaps({tuple(positions[i, f]): labels[i] for i, f in zip(*np.nonzero(visible), strict=True)})


def test_tracks_that_fit_no_motion_are_outliers(rng):
    positions, truth = moving_plates(rng, n_points=40)
    positions += rng.normal(0, 0.2, positions.shape)
    strays = np.array([3, 17, 50])
    positions[strays] = 200 + np.cumsum(rng.normal(0, 15, (3, 10, 2)), axis=1)
    visible = np.ones(positions.shape[:2], dtype=bool)
    result = segment(positions, visible, 2, known(positions, visible, truth))
    np.testing.assert_array_equal(np.flatnonzero(result.outlier), strays)
    assert (result.labels[strays] == -1).all()
    assert (result.confidence[strays] == 0).all()
    assert result.n_unlabelled == 0
    kept = ~result.outlier
    np.testing.assert_array_equal(result.labels[kept], truth[kept])


def test_of_many_tracks_some_are_ranked_and_the_others_join(rng):
    positions, truth = moving_plates(rng, n_points=500)
    positions += rng.normal(0, 0.2, positions.shape)
    visible = np.ones(positions.shape[:2], dtype=bool)
    result = segment(positions, visible, 2, known(positions, visible, truth))
    assert result.ranked.sum() == 600
    np.testing.assert_array_equal(result.joined, ~result.ranked)
    np.testing.assert_array_equal(result.labels, truth)


def test_chosen_tracks_are_the_longer_ones(rng):
    visible = rng.random((50, 20)) < np.linspace(0.2, 1, 50)[:, None]
    chosen = chosen_tracks(visible, 10)
    assert chosen.sum() == 10
    assert visible[chosen].sum(axis=1).min() >= np.median(visible.sum(axis=1)) - 1


def test_long_clips_keep_the_numbers_of_their_motions(rng):
    """Tracks of a quarter of the clip each; the labels of 200 frames agree throughout."""
    positions, truth = moving_plates(rng, n_points=80, n_frames=200)
    positions += rng.normal(0, 0.2, positions.shape)
    frames = np.arange(200)
    start = rng.integers(0, 150, len(positions))
    visible = (frames >= start[:, None]) & (frames < start[:, None] + 50)
    result = segment(positions, visible, 2, known(positions, visible, truth))
    assert len(result.windows) > 2
    assert result.windows[0][0] == 0
    assert result.windows[-1][1] == 200
    both = result.labels >= 0
    assert both.mean() > 0.95
    same = result.labels[both] == truth[both]
    assert max(same.mean(), 1 - same.mean()) == 1


def test_shots_have_motions_of_their_own(rng):
    positions, truth = moving_plates(rng, n_points=60, n_frames=40)
    positions += rng.normal(0, 0.2, positions.shape)
    first = rng.permutation(120) < 60
    visible = np.where(first[:, None], np.arange(40) < 20, np.arange(40) >= 20)
    result = segment(positions, visible, 2, known(positions, visible, truth))
    assert result.cuts == [20]
    assert result.windows == [(0, 20), (20, 40)]
    assert result.n_motions == 4
    assert not set(result.labels[first]) & set(result.labels[~first])


def test_a_visibility_that_is_not_a_number_is_refused(rng):
    positions, visible = plain(rng)
    unsure = visible.astype(float)
    unsure[2, 3] = np.nan
    with pytest.raises(DataError, match="visibility holds values that are not finite"):
        segment(positions, unsure, 2, FirstCandidate())


def static_scene(rng, n_points=80, n_frames=20):
    """Points at rest, as a tracker sees them."""
    at_rest = rng.uniform(0, 400, (n_points, 1, 2)) + rng.normal(0, 0.02, (n_points, n_frames, 2))
    return at_rest, np.ones((n_points, n_frames), dtype=bool)


@pytest.mark.parametrize("n_motions", [None, 2])
def test_a_scene_at_rest_has_no_motions(rng, n_motions):
    positions, visible = static_scene(rng)
    with pytest.raises(DataError, match=r"no track moves by more than 0\.3 pixels"):
        segment(positions, visible, n_motions, known(positions, visible, np.zeros(80, int)))


def test_one_moving_point_is_no_motion(rng):
    positions, visible = static_scene(rng)
    positions[7] += np.arange(20)[:, None]
    with pytest.raises(DataError, match=r"of 80 tracks 1 moves by more than 0\.3 pixels; it takes 5"):
        segment(positions, visible, None, known(positions, visible, np.zeros(80, int)))


def test_points_on_a_flickering_screen_are_outliers(rng):
    positions, visible = static_scene(rng)
    positions[:12] += rng.normal(0, 3, (12, 20, 2))
    result = segment(positions, visible, None, load_model("motions"))
    assert result.outlier[:12].mean() > 0.8
    assert not result.outlier[12:].any()
    assert len(set(result.labels[12:])) == 1


def test_of_very_many_tracks_six_hundred_are_ranked(rng):
    positions, truth = moving_plates(rng, n_points=50_000, n_frames=6)
    visible = np.ones(positions.shape[:2], dtype=bool)
    result = segment(positions, visible, 2, known(positions, visible, truth))
    assert result.ranked.sum() == 600
    assert result.joined.sum() == 99_400
    np.testing.assert_array_equal(result.labels, truth)
