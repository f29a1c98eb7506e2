import numpy as np
import pytest

from annealed.features.errors import ParameterError
from annealed.models.keypoints.videos.object_tracks import ObjectTracks
from annealed.models.keypoints.videos.smoothing import smooth_tracks
from annealed.models.keypoints.videos.suggestion import frame_priority, suggest_frames, thumbnail


def make_tracks(n=60):
    points = np.zeros((n, 1, 2, 2))
    points[:, 0] = (np.arange(n)[:, None] * [2.0, 1.0])[:, None]
    return points, np.full((n, 1, 2), 0.95)


def tracks_of(points, likelihood):
    there = np.isfinite(points).all(axis=(2, 3))
    return ObjectTracks(
        ("a", "b"),
        np.arange(len(points)),
        points,
        np.where(there[..., None], likelihood, np.nan),
        np.where(there, 3.0, np.nan),
        np.where(there, 40.0, np.nan),
        np.zeros(there.shape, dtype=bool),
    )


def priority_of(points, likelihood):
    tracks = tracks_of(points, likelihood)
    return frame_priority(tracks, smooth_tracks(tracks))


def test_unlikely_jumping_and_lost_frames_are_worth_most():
    points, likelihood = make_tracks()
    likelihood[10] = 0.2
    points[30, 0, 1] += 30
    points[45:47] = np.nan
    priority = priority_of(points, likelihood)
    assert set(np.argsort(-priority)[:4]) == {10, 30, 45, 46}
    assert np.median(priority) < 0.1


def test_a_clip_without_objects_is_worth_the_same_everywhere():
    points, likelihood = make_tracks(8)
    priority = priority_of(np.full_like(points, np.nan), likelihood)
    assert len(set(priority.tolist())) == 1


def test_suggested_frames_are_the_worthiest_of_every_appearance(rng):
    looks = np.repeat(np.eye(4, 9), 50, axis=0).astype(np.float32)  # four scenes of 50 frames
    priority = rng.uniform(0, 0.1, 200)
    best = [20, 71, 133, 160]
    priority[best] = 1.0
    priority[[21, 22, 72]] = 0.9  # beside them, and alike
    assert suggest_frames(priority, looks, 4).tolist() == best


def test_suggested_frames_lie_apart(rng):
    priority = np.concatenate([np.ones(30), np.zeros(170)])
    chosen = suggest_frames(priority, rng.random((200, 5)).astype(np.float32), 10)
    assert len(chosen) == len(set(chosen.tolist())) == 10
    assert np.diff(chosen).min() >= 5


def test_a_clip_of_alike_frames_gives_as_many_as_asked_for():
    chosen = suggest_frames(np.zeros(40), np.zeros((40, 3), dtype=np.float32), 12)
    assert len(set(chosen.tolist())) == 12


def test_a_short_clip_gives_all_its_frames():
    assert suggest_frames(np.ones(3), np.zeros((3, 2), dtype=np.float32), 20).tolist() == [0, 1, 2]


def test_the_same_seed_gives_the_same_frames(rng):
    priority, looks = rng.random(300), rng.random((300, 20)).astype(np.float32)
    np.testing.assert_array_equal(suggest_frames(priority, looks, 15), suggest_frames(priority, looks, 15))


def test_no_frames_are_refused():
    with pytest.raises(ParameterError, match="at least 1"):
        suggest_frames(np.ones(5), np.ones((5, 2), dtype=np.float32), 0)


def test_thumbnail_is_small_and_grey():
    image = np.zeros((48, 96, 3), dtype=np.uint8)
    image[:, 48:] = 255
    small = thumbnail(image).reshape(24, 24)
    assert small[:, :11].max() == 0
    assert small[:, 13:].min() == 1
