"""Tracks with gaps, on generated rigid motions and a ranker that is not learned."""

import numpy as np
import pytest

from annealed.features.errors import DataError, ParameterError
from annealed.models.motion import Candidate, Ranking
from annealed.models.motion.candidates import candidates
from annealed.models.motion.segment import NOISE_PX, fit_subspaces, nearest_subspace, segment


class FirstCandidate:
    """Stands in for a ranker: the first candidate is the best."""

    def rank(self, positions, n_motions):
        found = candidates(positions, n_motions)
        return Ranking(found, np.arange(len(found), 0, -1.0))


class Known:
    """Stands in for a ranker that is always right."""

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
    np.testing.assert_array_equal(result.complete, visible.all(axis=1))
    np.testing.assert_array_equal(result.by_subspace, ~result.complete)
    assert result.n_unlabelled == 0
    np.testing.assert_array_equal(result.labels, truth)
    assert len(result.ranking.best.labels) == result.complete.sum()


def test_tracks_too_short_to_tell_are_counted(rng):
    positions, truth = moving_plates(rng)
    visible = np.ones(positions.shape[:2], dtype=bool)
    visible[3, 2:] = False
    visible[7] = False
    visible[30, 3:] = False
    result = segment(positions, visible, 2, Known(truth[visible.all(axis=1)]))
    np.testing.assert_array_equal(np.flatnonzero(result.labels == -1), [3, 7])
    assert result.n_unlabelled == 2
    assert result.by_subspace.sum() == 1
    known = result.labels >= 0
    np.testing.assert_array_equal(result.labels[known], truth[known])


def test_the_subspace_is_that_of_least_squares(rng):
    positions, _ = moving_plates(rng, 1)
    positions += rng.normal(0, 0.5, positions.shape)
    mean, directions = fit_subspaces(positions, np.zeros(20, dtype=int))[0]
    vectors = positions.reshape(20, -1)
    np.testing.assert_allclose(mean, vectors.mean(axis=0))
    values = np.linalg.svd(vectors - mean, compute_uv=False)
    np.testing.assert_allclose(directions.T @ directions, np.diag(values[:3] ** 2 / 20), atol=1e-8)
    unit = directions / np.linalg.norm(directions, axis=0)
    rest = vectors - mean - (vectors - mean) @ unit @ unit.T
    assert np.sum(rest**2) == pytest.approx(np.sum(values[3:] ** 2))


def test_a_motion_of_one_track_is_a_point(rng):
    positions, _ = moving_plates(rng, 1, n_points=6)
    labels = np.array([0, 0, 0, 0, 0, 1])
    subspaces = fit_subspaces(positions, labels)
    assert not subspaces[1][1].any()
    visible = np.ones((1, 10), dtype=bool)
    visible[0, 4] = False
    assert nearest_subspace(
        positions[5:] + 1e-6, visible, [subspaces[1], (subspaces[1][0] + 9, np.empty((20, 0)))]
    ) == [0]


def test_the_nearest_subspace_is_that_of_the_most_likely_motion(rng):
    positions, labels = moving_plates(rng, 3)
    subspaces = fit_subspaces(positions, labels)
    tracks = rng.uniform(100, 300, (15, 10, 2))
    visible = rng.random((15, 10)) < 0.7
    visible[:, :3] = True
    expected = []
    for track, frames in zip(tracks, visible, strict=True):
        seen = np.repeat(frames, 2)
        residuals = []
        for mean, directions in subspaces:
            target, a = track.ravel()[seen] - mean[seen], directions[seen]
            # the same as the Mahalanobis distance under the covariance A A^T + noise
            covariance = a @ a.T / NOISE_PX**2 + np.eye(len(a))
            residuals.append(target @ np.linalg.solve(covariance, target))
        expected.append(np.argmin(residuals))
    np.testing.assert_array_equal(nearest_subspace(tracks, visible, subspaces), expected)


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
