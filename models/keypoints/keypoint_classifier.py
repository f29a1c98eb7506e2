"""The classifier of one keypoint: a sum of responses to pixel features, and when a scan may give it up."""

from dataclasses import dataclass

import numpy as np

from ...features.errors import DataError
from ...features.pool import WindowPool
from .cascade import NEVER
from .window_model import WindowModel


@dataclass(frozen=True, eq=False)
class KeypointClassifier:
    """A trained classifier of 24 x 24 windows.

    Attributes
    ----------
    keypoint : str
    model : WindowModel
        One sum; its features in the order in which a scan adds them up.
    floors : ndarray of shape (n_floors,), float32
        Ascending scores that `rejection` is calibrated for.
    rejection : ndarray of shape (n_floors, k), float32
        A scan that asks for scores of at least a floor gives a window up after feature t if its partial
        sum is below entry t of the floor's row.
    threshold : float
        Windows that score at least this are detections.
    """

    keypoint: str
    model: WindowModel
    floors: np.ndarray
    rejection: np.ndarray
    threshold: float

    def __post_init__(self) -> None:
        shape = len(self.floors), len(self.model)
        if self.rejection.shape != shape:
            raise DataError(f"{self.keypoint}: rejection has shape {self.rejection.shape}, expected {shape}")
        if np.isnan(self.rejection).any() or not (np.diff(self.floors) > 0).all():
            raise DataError(f"{self.keypoint}: rejection thresholds are no numbers, or floors do not ascend")
        if len(self.model.intercept) != 1 or not np.isfinite(self.threshold):
            raise DataError(f"{self.keypoint}: more than one sum, or a threshold that is not finite")

    @classmethod
    def without_cascade(cls, keypoint: str, model: WindowModel) -> "KeypointClassifier":
        """Make a classifier that no scan gives up early, with the detection threshold 0."""
        nothing = np.empty(0, dtype=np.float32)
        return cls(keypoint, model, nothing, nothing.reshape(0, len(model)), threshold=0.0)

    @property
    def pool(self) -> WindowPool:
        """The k selected features."""
        return self.model.pool

    @property
    def tables(self) -> np.ndarray:
        """Response of each feature at each code, (k, 256) float32."""
        return self.model.tables[0]

    @property
    def intercept(self) -> float:
        """Where sums start."""
        return float(self.model.intercept[0])

    def cascade(self, floor: float) -> np.ndarray:
        """Return the rejection thresholds of a scan that asks for scores of at least `floor`, (k,).

        They are those of the highest calibrated floor that is not above it; below all of them nothing
        is rejected.
        """
        row = int(np.searchsorted(self.floors, np.float32(floor), side="right")) - 1
        return self.rejection[row] if row >= 0 else np.full(len(self.model), NEVER, dtype=np.float32)

    def codes(self, patches: np.ndarray) -> np.ndarray:
        """Return the features' codes on stored windows, (k, n_windows) uint8."""
        return self.model.codes(patches)

    def scores(self, patches: np.ndarray) -> np.ndarray:
        """Return the exact, full sum on stored windows, (n_windows,) float32; see `WindowModel.respond`."""
        return self.model.respond(patches)[0]
