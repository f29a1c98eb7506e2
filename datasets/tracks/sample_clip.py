"""A short clip of two motions, rendered from pictures that come with scikit-image."""

from dataclasses import dataclass

import cv2
import numpy as np
from skimage import data

_PAN_PX = 1.6  # of the background, a frame
_RADIUS_PX = 52
_TURN = 1.2  # degrees a frame
_WAY_PX = 105.0  # of the disc, from left to right


@dataclass(frozen=True, eq=False)
class SampleClip:
    """A clip and what moves in it.

    Attributes
    ----------
    frames : ndarray of shape (n_frames, height, width, 3), uint8
    discs : ndarray of shape (n_frames, 3), float64
        x, y and radius of the disc that moves by itself, in pixels.
    """

    frames: np.ndarray
    discs: np.ndarray

    def labels(self, positions: np.ndarray, visible: np.ndarray) -> np.ndarray:
        """Return which tracks are on the disc where they are seen first: 1, otherwise 0.

        Parameters
        ----------
        positions : ndarray of shape (n_tracks, n_frames, 2)
            x and y.
        visible : ndarray of shape (n_tracks, n_frames), bool
        """
        first = visible.argmax(axis=1)
        places = positions[np.arange(len(positions)), first]
        x, y, radius = self.discs[first].T
        return (np.hypot(places[:, 0] - x, places[:, 1] - y) < radius).astype(np.int64)


def make_sample_clip(n_frames: int = 24, shape: tuple[int, int] = (240, 320)) -> SampleClip:
    """Render a textured disc that turns and moves in front of a background that pans.

    Parameters
    ----------
    n_frames : int
    shape : tuple of int
        Height and width in pixels, at most 300 and 420.
    """
    height, width = shape
    ground, cat = data.coffee(), data.chelsea()[60:260, 120:320]
    half = len(cat) / 2
    inside = np.hypot(*(np.mgrid[: len(cat), : len(cat)] + 0.5 - half)) < half - 1
    disc = np.where(inside, np.float32(1), np.float32(0))
    frames, discs = np.empty((n_frames, height, width, 3), dtype=np.uint8), np.empty((n_frames, 3))
    for t in range(n_frames):
        pan = np.array([[1, 0, -40 - _PAN_PX * t], [0, 1, -30 - 0.4 * _PAN_PX * t]])
        picture = cv2.warpAffine(ground, pan, (width, height), flags=cv2.INTER_LINEAR)
        share = t / max(n_frames - 1, 1)
        x = 0.5 * (width - _WAY_PX) + _WAY_PX * share
        y = 0.5 * height + 22 * np.sin(2.5 * share)
        place = cv2.getRotationMatrix2D((half, half), -_TURN * t, _RADIUS_PX / half)
        place[:, 2] += np.array([x - half, y - half])
        size, flags = (width, height), cv2.INTER_LINEAR
        cover = cv2.warpAffine(disc, place, size, flags=flags)[:, :, None]
        frames[t] = np.rint(cover * cv2.warpAffine(cat, place, size, flags=flags) + (1 - cover) * picture)
        discs[t] = x, y, _RADIUS_PX
    return SampleClip(frames, discs)
