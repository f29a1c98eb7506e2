"""Copies of tracks with what real trackers do to them: noise, outliers, tracks that end, lost frames."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

OUTLIER = -1
MIN_VISIBLE = 4


@dataclass(frozen=True, eq=False)
class LabelledTracks:
    """Tracks whose motions are known.

    Attributes
    ----------
    positions : ndarray of shape (P, F, 2), float64
    visible : ndarray of shape (P, F), bool
    labels : ndarray of shape (P,), int64
        From 0; `OUTLIER` for a track of no motion.
    """

    positions: np.ndarray
    visible: np.ndarray
    labels: np.ndarray

    def __getitem__(self, tracks: np.ndarray) -> "LabelledTracks":
        return LabelledTracks(self.positions[tracks], self.visible[tracks], self.labels[tracks])

    def __len__(self) -> int:
        return len(self.positions)


def with_noise(tracks: LabelledTracks, rng: np.random.Generator, deviation_px: float) -> LabelledTracks:
    """Move every point in every frame by normal noise."""
    noise = rng.normal(0, deviation_px, tracks.positions.shape)
    return LabelledTracks(tracks.positions + noise, tracks.visible, tracks.labels)


def with_outliers(tracks: LabelledTracks, rng: np.random.Generator, share: float) -> LabelledTracks:
    """Replace a share of the tracks by random walks, of steps once to three times as long as the scene's."""
    n, n_frames = tracks.visible.shape
    chosen = rng.permutation(n)[: round(share * n)]
    steps = np.diff(tracks.positions, axis=1)[tracks.visible[:, 1:] & tracks.visible[:, :-1]]
    length = max(float(np.median(np.linalg.norm(steps, axis=1))), 0.5)
    low, high = tracks.positions[tracks.visible].min(axis=0), tracks.positions[tracks.visible].max(axis=0)
    start = rng.uniform(low, high, (len(chosen), 1, 2))
    scale = length * rng.uniform(1, 3, (len(chosen), 1, 1))
    walk = np.cumsum(scale * rng.standard_normal((len(chosen), n_frames, 2)), axis=1)
    positions, labels = tracks.positions.copy(), tracks.labels.copy()
    positions[chosen], labels[chosen] = start + walk, OUTLIER
    return LabelledTracks(positions, tracks.visible, labels)


def cut_to_half(tracks: LabelledTracks, rng: np.random.Generator, share: float) -> LabelledTracks:
    """Let a share of the tracks be visible in half of the frames, one after the other, beginning anywhere."""
    n, n_frames = tracks.visible.shape
    length = max(MIN_VISIBLE, n_frames // 2)
    start = rng.integers(0, n_frames - length + 1, n)
    frames = np.arange(n_frames)
    window = (frames >= start[:, None]) & (frames < start[:, None] + length)
    window |= (rng.permutation(n) >= round(share * n))[:, None]
    return LabelledTracks(tracks.positions, tracks.visible & window, tracks.labels)


def with_losses(tracks: LabelledTracks, rng: np.random.Generator, share: float) -> LabelledTracks:
    """Lose a share of all observations, each by itself."""
    kept = rng.random(tracks.visible.shape) >= share
    return LabelledTracks(tracks.positions, tracks.visible & kept, tracks.labels)


TRAINING: dict[str, Callable[[LabelledTracks, np.random.Generator], LabelledTracks]] = {
    "noise": lambda tracks, rng: with_noise(tracks, rng, rng.uniform(0.5, 2)),
    "outliers": lambda tracks, rng: with_outliers(tracks, rng, rng.uniform(0.05, 0.2)),
    "cut tracks": lambda tracks, rng: cut_to_half(tracks, rng, rng.uniform(0.3, 1)),
    "lost observations": lambda tracks, rng: with_losses(tracks, rng, rng.uniform(0.05, 0.3)),
}
"""What training copies go through; strengths are drawn anew for each."""

TESTS: dict[str, Callable[[LabelledTracks, np.random.Generator], LabelledTracks]] = {
    "noise 2 px": lambda tracks, rng: with_noise(tracks, rng, 2.0),
    "20 % outliers": lambda tracks, rng: with_outliers(tracks, rng, 0.2),
    "70 % half as long": lambda tracks, rng: cut_to_half(tracks, rng, 0.7),
    "all half as long": lambda tracks, rng: cut_to_half(tracks, rng, 1.0),
    "20 % observations lost": lambda tracks, rng: with_losses(tracks, rng, 0.2),
}
"""The disturbances of fixed strength that results are reported for."""


MOST_TRACKS = 160  # of a training copy
LEAST_OF_A_MOTION = 8
MOST_OF_ONE_MOTION = 300


def training_copy(tracks: LabelledTracks, number: int) -> LabelledTracks:
    """Return a disturbed copy of a training sequence, of some of its tracks.

    Parameters
    ----------
    tracks : LabelledTracks
        Complete, without outliers.
    number : int
        Of the sequence; decides the kind of disturbance, in turn, and seeds its draws.
    """
    rng = np.random.default_rng([1, number])
    disturb = list(TRAINING.values())[number % len(TRAINING)]
    return disturb(some_tracks(tracks, rng, MOST_TRACKS), rng)


def some_tracks(tracks: LabelledTracks, rng: np.random.Generator, most: int) -> LabelledTracks:
    """Draw some of the tracks; all of them where a motion would keep too few."""
    drawn = tracks[np.sort(rng.permutation(len(tracks))[:most])]
    counts = np.bincount(drawn.labels, minlength=int(tracks.labels.max()) + 1)
    return drawn if counts.min() >= LEAST_OF_A_MOTION else tracks


def one_motion(tracks: LabelledTracks, motion: int) -> LabelledTracks:
    """Return the first tracks of one motion, as a scene of one."""
    own = tracks[np.flatnonzero(tracks.labels == motion)[:MOST_OF_ONE_MOTION]]
    return LabelledTracks(own.positions, own.visible, np.zeros_like(own.labels))
