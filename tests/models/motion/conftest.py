"""Tracks of rigid bodies."""

import numpy as np
import pytest


def make_rigid_motions(rng, n_motions, n_points=25, n_frames=12):
    """Points of rigid bodies under an orthographic camera, each turning and moving on its own."""
    tracks, labels = [], []
    for label in range(n_motions):
        body = rng.standard_normal((n_points, 3)) * 40
        axis = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        speed, drift = rng.uniform(0.05, 0.15), rng.uniform(-8, 8, 2)
        frames = []
        for f in range(n_frames):
            c, s = np.cos(speed * f), np.sin(speed * f)
            turn = axis @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ axis.T
            frames.append((body @ turn.T)[:, :2] + 300 + drift * f)
        tracks.append(np.stack(frames, axis=1))
        labels += [label] * n_points
    return np.concatenate(tracks) + rng.normal(0, 0.05, (n_motions * n_points, n_frames, 2)), np.array(labels)


@pytest.fixture
def rigid_motions():
    return make_rigid_motions
