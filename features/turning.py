"""A photo turned in its plane, and the way between its points and the photo's."""

from dataclasses import dataclass

import cv2
import numpy as np


@dataclass(frozen=True)
class Turn:
    """A photo turned anticlockwise by an angle: what is turned clockwise by it in the photo stands upright.

    The turned photo is as large as it takes to hold all of the photo; around it the border is repeated.

    Attributes
    ----------
    degrees : float
    shape : (int, int)
        Height and width of the photo, in pixels.

    Examples
    --------
    >>> turn = Turn(90.0, (40, 60))
    >>> turn.size, turn.to_turned(np.array([[59.0, 0.0]])).round(9).tolist()
    ((40, 60), [[0.0, 0.0]])
    """

    degrees: float
    shape: tuple[int, int]

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the turned photo, in pixels."""
        height, width = self.shape
        cos, sin = np.abs(self._direction)
        return int(np.ceil(width * cos + height * sin - 1e-6)), int(
            np.ceil(width * sin + height * cos - 1e-6)
        )

    @property
    def _direction(self) -> np.ndarray:
        """Cosine and sine of the angle."""
        angle = np.deg2rad(self.degrees)
        return np.array([np.cos(angle), np.sin(angle)])

    @property
    def _matrix(self) -> np.ndarray:
        """From points of the photo to points of the turned photo, (2, 3)."""
        cos, sin = self._direction
        turn = np.array([[cos, sin], [-sin, cos]])
        middle, turned_middle = (np.array(size) / 2 - 0.5 for size in (self.shape[::-1], self.size))
        return np.column_stack([turn, turned_middle - turn @ middle])

    def apply(self, image: np.ndarray) -> np.ndarray:
        """Turn a photo, (H, W, 3) uint8, sampled linearly."""
        return cv2.warpAffine(
            np.ascontiguousarray(image),
            self._matrix,
            self.size,
            flags=cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        )

    def to_turned(self, points: np.ndarray) -> np.ndarray:
        """Convert points (..., 2), x and y in the photo, to the turned photo."""
        return points @ self._matrix[:, :2].T + self._matrix[:, 2]

    def to_photo(self, points: np.ndarray) -> np.ndarray:
        """Convert points (..., 2), x and y in the turned photo, to the photo."""
        return (points - self._matrix[:, 2]) @ self._matrix[:, :2]
