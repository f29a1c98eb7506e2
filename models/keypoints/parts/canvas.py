"""A picture as it looks in a frame: an object turned upright and at one size, or the scene as it is.

Keypoints are looked for on a canvas at several zooms, each twice as fine as the one before, so that a window
of the same number of pixels shows the whole object first and a part of it last.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from ....features.pool import WINDOW_PX


@dataclass(frozen=True, eq=False)
class Frames:
    """Where objects are, how large, and how turned: similarities from an object's frame to the picture.

    Attributes
    ----------
    centre : ndarray of shape (n, 2), float64
        x, y in pixels of the picture.
    size : ndarray of shape (n,), float64
        Pixels of the picture a unit of the frame.
    roll : ndarray of shape (n,), float64
        Radians by which the frame is turned clockwise.
    """

    centre: np.ndarray
    size: np.ndarray
    roll: np.ndarray

    def __len__(self) -> int:
        return len(self.size)

    def __getitem__(self, index: slice | Sequence[int] | np.ndarray) -> "Frames":
        return Frames(self.centre[index], self.size[index], self.roll[index])

    @property
    def _turns(self) -> np.ndarray:
        """Rotations, (n, 2, 2)."""
        cos, sin = np.cos(self.roll), np.sin(self.roll)
        return np.stack([np.stack([cos, -sin], axis=-1), np.stack([sin, cos], axis=-1)], axis=-2)

    def to_photo(self, points: np.ndarray) -> np.ndarray:
        """Convert points (n, k, 2) of the frames to pixels of the picture."""
        turned = points @ np.swapaxes(self._turns, 1, 2)
        return self.centre[:, None] + self.size[:, None, None] * turned

    def from_photo(self, points: np.ndarray) -> np.ndarray:
        """Convert points (n, k, 2) in pixels of the picture to the frames."""
        return (points - self.centre[:, None]) @ self._turns / self.size[:, None, None]


def fit_frames(points: np.ndarray, mean: np.ndarray, weights: np.ndarray) -> Frames:
    """Fit similarities that take usual places to points, by weighted least squares.

    Parameters
    ----------
    points : ndarray of shape (n, n_keypoints, 2), float64
        x, y in pixels of the picture; anything where the weight is zero.
    mean : ndarray of shape (n_keypoints, 2), float64
        Usual places, in the frame.
    weights : ndarray of shape (n, n_keypoints), float64
    """
    share = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-12)
    here = np.where(share > 0, points[..., 0] + 1j * points[..., 1], 0)
    there = (mean[:, 0] + 1j * mean[:, 1])[None]
    middle, usual = (share * here).sum(axis=1), (share * there).sum(axis=1)
    away = share * np.conj(there - usual[:, None])
    turn = (away * (here - middle[:, None])).sum(axis=1)
    turn = turn / np.maximum((away * (there - usual[:, None])).sum(axis=1).real, 1e-12)
    turn = np.where(np.abs(turn) > 1e-9, turn, 1e-9)
    centre = middle - turn * usual
    return Frames(np.stack([centre.real, centre.imag], axis=1), np.abs(turn), np.angle(turn))


@dataclass(frozen=True, eq=False)
class Canvas:
    """A part of a picture, upright in a frame, at several zooms.

    Attributes
    ----------
    images : tuple of ndarray of shape (h, w, 3), uint8
        From the coarsest to the finest, each with twice as many pixels a side as the one before.
    px : float
        Pixels of the finest image a unit of the frame.
    origin : ndarray of shape (2,), float64
        Pixel x, y of the finest image at which the frame's origin lies.
    """

    images: tuple[np.ndarray, ...]
    px: float
    origin: np.ndarray

    def to_frame(self, pixels: np.ndarray, zoom: int) -> np.ndarray:
        """Convert pixels x, y (..., 2) of an image to the frame."""
        factor = 2.0 ** (len(self.images) - 1 - zoom)
        return ((pixels + 0.5) * factor - 0.5 - self.origin) / self.px

    def from_frame(self, points: np.ndarray, zoom: int) -> np.ndarray:
        """Convert points (..., 2) of the frame to pixels x, y of an image."""
        factor = 2.0 ** (len(self.images) - 1 - zoom)
        return (points * self.px + self.origin + 0.5) / factor - 0.5


def draw_canvas(
    image: np.ndarray, frames: Frames, number: int, box: np.ndarray, px: float, n_zooms: int
) -> Canvas:
    """Show a part of a picture in a frame.

    Parameters
    ----------
    image : ndarray of shape (H, W, 3), uint8
    frames : Frames
    number : int
        Of the frame.
    box : ndarray of shape (4,), float64
        x0, y0, x1, y1 in the frame that are shown.
    px : float
        Pixels of the finest image a unit of the frame.
    n_zooms : int
    """
    step = 2 ** (n_zooms - 1)
    n_pixels = np.ceil((box[2:] - box[:2]) * px / step) * step
    n_pixels = np.maximum(n_pixels, step * WINDOW_PX).astype(int)
    scale = px / frames.size[number]
    source, source_scale, low = _shrunken_part(image, frames, number, box, scale)
    # from the finest image to the source: the frame's turn, and the ratio of their scales
    along = np.cos(frames.roll[number]) * source_scale / scale
    across = np.sin(frames.roll[number]) * source_scale / scale
    turn = np.array([[along, -across], [across, along]])
    origin = -box[:2] * px - 0.5
    centre = (frames.centre[number] - low + 0.5) * source_scale - 0.5
    to_source = np.column_stack([turn, centre - turn @ origin])
    finest = cv2.warpAffine(
        source,
        to_source,
        (int(n_pixels[0]), int(n_pixels[1])),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    images = [finest]
    for _ in range(n_zooms - 1):
        height, width = images[-1].shape[:2]
        images.append(cv2.resize(images[-1], (width // 2, height // 2), interpolation=cv2.INTER_AREA))
    return Canvas(tuple(images[::-1]), px, origin)


def _shrunken_part(
    image: np.ndarray, frames: Frames, number: int, box: np.ndarray, scale: float
) -> tuple[np.ndarray, float, np.ndarray]:
    """The pixels that a canvas is drawn from, their scale, at most the canvas's, and where they begin."""
    corners = box[[0, 1, 2, 1, 2, 3, 0, 3]].reshape(1, 4, 2)
    seen = frames[number : number + 1].to_photo(corners)[0]
    height, width = image.shape[:2]
    low = np.clip(np.floor(seen.min(axis=0)).astype(int) - 1, 0, [width - 1, height - 1])
    high = np.clip(np.ceil(seen.max(axis=0)).astype(int) + 2, low + 1, [width, height])
    part = np.ascontiguousarray(image[low[1] : high[1], low[0] : high[0]])
    if scale >= 1:
        return part, 1.0, low
    size = np.maximum(np.rint((high - low) * scale).astype(int), 1)
    return cv2.resize(part, (int(size[0]), int(size[1])), interpolation=cv2.INTER_AREA), scale, low
