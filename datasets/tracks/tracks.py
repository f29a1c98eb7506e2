"""Point trajectories: the one in-memory type behind every format."""

from dataclasses import dataclass, field

import numpy as np

from ...features.errors import DataError

MAX_SIDE_PX = 100_000  # of a frame
MAX_POSITION_PX = 1e7
MAX_OFFSET = 10**9


@dataclass(frozen=True, eq=False)
class Tracks:
    """Points followed through the frames of a video.

    Attributes
    ----------
    positions : ndarray of shape (P, F, 2), float64
        x and y in pixels of each point in each frame; kept as NaN where a point is not visible.
    visible : ndarray of shape (P, F), bool
        All true by default, and then every position must be finite.
    labels : ndarray of shape (P,), int64, or None
        Motion of each point from 0, or -1 for an outlier.
    y_up : bool
        Whether y points up: a point is drawn at height - y.
    frame_offset : int
        Track frame f is frame f + frame_offset of the video.
    width, height : int or None
        Frame size in pixels.
    name : str
    """

    positions: np.ndarray
    visible: np.ndarray = None  # type: ignore[assignment]
    labels: np.ndarray | None = None
    y_up: bool = False
    frame_offset: int = 0
    width: int | None = None
    height: int | None = None
    name: str = field(default="tracks")

    def __post_init__(self) -> None:
        positions = np.asarray(self.positions, dtype=np.float64)
        if positions.ndim != 3 or positions.shape[2] != 2:
            raise DataError(f"{self.name}: tracks must have shape (P, F, 2), got {positions.shape}")
        if positions.shape[0] == 0 or positions.shape[1] == 0:
            raise DataError(f"{self.name}: no tracks (shape {positions.shape})")
        visible = (
            np.isfinite(positions).all(axis=2) if self.visible is None else np.asarray(self.visible, bool)
        )
        if visible.shape != positions.shape[:2]:
            raise DataError(
                f"{self.name}: visibility has shape {visible.shape}, expected {positions.shape[:2]}"
            )
        if self.visible is None and not visible.all():
            raise DataError(
                f"{self.name}: positions are not finite where nothing says that a point is hidden"
            )
        if not np.isfinite(positions[visible]).all():
            raise DataError(f"{self.name}: a visible point has a position that is not finite")
        self._check_magnitudes(positions[visible])
        object.__setattr__(self, "positions", np.where(visible[:, :, None], positions, np.nan))
        object.__setattr__(self, "visible", visible)
        if self.labels is not None:
            object.__setattr__(self, "labels", self._checked_labels())

    def _check_magnitudes(self, seen: np.ndarray) -> None:
        """Refuse numbers that no video has, and that nothing could be computed or drawn with."""
        farthest = np.abs(seen).max(initial=0)
        if farthest > MAX_POSITION_PX:
            raise DataError(
                f"{self.name}: a position of {farthest:g} pixels; the most is {MAX_POSITION_PX:g}"
            )
        for what, value, least, most in (
            ("width", self.width, 1, MAX_SIDE_PX),
            ("height", self.height, 1, MAX_SIDE_PX),
            ("frame_offset", self.frame_offset, 0, MAX_OFFSET),
        ):
            if value is not None and not least <= value <= most:
                raise DataError(f"{self.name}: {what} is {value:g}, expected {least} to {most}")

    def _checked_labels(self) -> np.ndarray:
        labels = np.asarray(self.labels)
        if labels.shape != (len(self),) or not np.issubdtype(labels.dtype, np.integer):
            raise DataError(
                f"{self.name}: labels must be {len(self)} integers, got {labels.dtype} {labels.shape}"
            )
        return labels.astype(np.int64)

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def n_frames(self) -> int:
        return self.positions.shape[1]

    @property
    def complete(self) -> np.ndarray:
        """Which points are visible in every frame, shape (P,), bool."""
        return np.asarray(self.visible.all(axis=1))

    @property
    def n_motions(self) -> int:
        """Motions among the labels, outliers not counted."""
        if self.labels is None:
            raise DataError(f"{self.name}: no labels")
        return len(np.unique(self.labels[self.labels >= 0]))

    def image_positions(self) -> np.ndarray:
        """Return x and y with y pointing down, as pictures have it, shape (P, F, 2)."""
        if not self.y_up:
            return self.positions
        if self.height is None:
            raise DataError(f"{self.name}: y points up and the frame height is not known")
        flipped = self.positions.copy()
        flipped[:, :, 1] = self.height - flipped[:, :, 1]
        return flipped
