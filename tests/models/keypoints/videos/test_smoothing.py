import numpy as np
import pytest

from annealed.features.errors import ParameterError
from annealed.models.keypoints.videos.object_tracks import ObjectTracks
from annealed.models.keypoints.videos.smoothing import estimate_noise, smooth, smooth_tracks


def make_tracks(points, likelihood=None, frames=None):
    """Trajectories of one object from points (n_frames, n_keypoints, 2)."""
    points = np.asarray(points, dtype=float)[:, None]
    n, k = len(points), points.shape[2]
    there = np.isfinite(points).all(axis=(2, 3))
    likelihood = np.ones((n, 1, k)) if likelihood is None else np.asarray(likelihood)[:, None]
    return ObjectTracks(
        tuple("abcdefgh"[:k]),
        np.arange(n) if frames is None else frames,
        points,
        np.where(there[..., None], likelihood, np.nan),
        np.where(there, 2.0, np.nan),
        np.where(there, 50.0, np.nan),
        np.zeros((n, 1), dtype=bool),
    )


def wander(rng, n, k=2, acceleration=0.5):
    """True positions of points that move smoothly."""
    return 200 + np.cumsum(np.cumsum(rng.normal(0, acceleration, (n, k, 2)), axis=0), axis=0)


def dense_smoother(values, noise, ratio):
    """The same estimate by one large least-squares problem: all changes of state and all values at once."""
    n = len(values)
    state = np.eye(2 * n).reshape(n, 2, 2 * n)  # position and velocity of each frame as unknowns
    root = np.linalg.inv(np.linalg.cholesky(ratio * np.array([[1 / 3, 1 / 2], [1 / 2, 1]])))
    rows, right = [state[0, 1:] / np.sqrt(1e6)], [np.zeros(1)]  # the prior of the first velocity
    for t in range(1, n):
        step = np.stack([state[t, 0] - state[t - 1, 0] - state[t - 1, 1], state[t, 1] - state[t - 1, 1]])
        rows.append(root @ step)
        right.append(np.zeros(2))
    for t in np.flatnonzero(np.isfinite(values)):
        rows.append(state[t, :1] / np.sqrt(noise[t]))
        right.append(values[t : t + 1] / np.sqrt(noise[t]))
    return np.linalg.lstsq(np.concatenate(rows), np.concatenate(right), rcond=None)[0][::2]


def test_smooth_is_the_least_squares_solution(rng):
    values = np.cumsum(rng.normal(0, 1, 40))
    values[[7, 8, 20]] = np.nan
    noise = rng.uniform(0.5, 3, 40)
    mine = smooth(np.arange(40.0), values, noise, 0.3, 1.0)
    np.testing.assert_allclose(mine, dense_smoother(values, noise, 0.3), atol=1e-6)


def test_noise_is_estimated_from_the_trajectory(rng):
    truth = wander(rng, 1500, 1, acceleration=0.5)[:, 0, 0]
    values = truth + rng.normal(0, 3, 1500)
    ratio, variance = estimate_noise([(np.arange(1500.0), values, np.ones(1500))])
    assert variance == pytest.approx(9, rel=0.25)
    assert 0.25**2 < ratio * variance < 1.0  # the acceleration's variance is 0.25, the grid has steps of 4


def test_smoothing_brings_points_nearer_to_the_truth(rng):
    truth = wander(rng, 400)
    tracks = make_tracks(truth + rng.normal(0, 3, truth.shape))
    before = np.linalg.norm(tracks.points[:, 0] - truth, axis=2)
    after = np.linalg.norm(smooth_tracks(tracks).points[:, 0] - truth, axis=2)
    assert after.mean() < 0.75 * before.mean()


def test_one_wrong_frame_pulls_little(rng):
    truth = wander(rng, 200)
    points = truth + rng.normal(0, 1, truth.shape)
    points[100, 0] += 150
    after = np.linalg.norm(smooth_tracks(make_tracks(points)).points[:, 0] - truth, axis=2)
    assert after[98:103, 0].max() < 8


def test_unsure_points_count_less(rng):
    truth = wander(rng, 200, acceleration=0.1)
    points = truth + rng.normal(0, 1, truth.shape)
    bad = rng.random((200, 2)) < 0.2
    points[bad] += rng.normal(0, 8, (int(bad.sum()), 2))
    errors = [
        np.linalg.norm(smooth_tracks(make_tracks(points, p)).points[:, 0] - truth, axis=2).mean()
        for p in (np.ones((200, 2)), np.where(bad, 0.05, 1.0))
    ]
    assert errors[1] < errors[0]


def test_a_sudden_turn_is_followed():
    t = np.arange(120.0)
    x = np.where(t < 60, 100 + 8 * t, 580 - 8 * (t - 60))
    after = smooth_tracks(make_tracks(np.stack([x, x], axis=1)[:, None])).points[:, 0, 0, 0]
    assert np.abs(after - x).max() < 4


def test_short_gaps_are_filled_and_marked_and_long_ones_stay():
    points = np.stack([np.arange(60.0) * 2, np.arange(60.0)], axis=1)[:, None]
    points[10:14] = np.nan
    points[30:50] = np.nan
    smoothed = smooth_tracks(make_tracks(points), max_gap=10)
    np.testing.assert_array_equal(np.flatnonzero(smoothed.filled[:, 0]), [10, 11, 12, 13])
    np.testing.assert_allclose(smoothed.points[10:14, 0, 0, 0], [20, 22, 24, 26], atol=0.2)
    assert (smoothed.likelihood[10:14] == 0).all()
    assert np.isfinite(smoothed.sizes[10:14]).all()
    assert np.isnan(smoothed.points[30:50]).all()
    assert np.isfinite(smoothed.points[50:]).all()


def test_gaps_count_frames_that_were_looked_at():
    points = np.stack([np.arange(20.0), np.arange(20.0)], axis=1)[:, None]
    points[5:9] = np.nan
    smoothed = smooth_tracks(make_tracks(points, frames=np.arange(20) * 5), max_gap=4)
    assert smoothed.filled.sum() == 4


def test_nothing_found_stays_nothing():
    smoothed = smooth_tracks(make_tracks(np.full((5, 2, 2), np.nan)))
    assert np.isnan(smoothed.points).all()
    assert not smoothed.filled.any()


def test_one_frame_stays_as_it_is():
    smoothed = smooth_tracks(make_tracks([[[3.0, 4.0]]]))
    np.testing.assert_array_equal(smoothed.points[0, 0, 0], [3, 4])


def test_a_gap_below_zero_is_refused():
    with pytest.raises(ParameterError, match="max_gap"):
        smooth_tracks(make_tracks([[[3.0, 4.0]]]), max_gap=-1)
