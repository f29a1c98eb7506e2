"""The classifier of one keypoint: k pixel features, a piecewise linear response to each, and their sum.

f(window) = intercept + sum over features of f_j(x_j)                             (equation 12)

A feature's value is first turned into a code, its position in the feature's own training range in 255
steps, and the response is looked up in a table of 256 entries made from the feature's B + 1 knots. It
is the same arithmetic, bit for bit, in training, on stored windows and in a scan.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...features.codes import N_CODES, code_scale
from ...features.errors import DataError
from ...features.pool import WindowPool
from ..knots import response_tables, sum_responses
from .cascade import NEVER


@dataclass(frozen=True, eq=False)
class KeypointClassifier:
    """A trained classifier of 24 x 24 windows.

    Attributes
    ----------
    keypoint : str
    pool : WindowPool
        The k selected features, in the order in which a scan adds them up.
    low, high : ndarray of shape (k,), float32
        Range of each feature on the training windows; values outside clamp.
    knots : ndarray of shape (k, n_bins + 1), float32
        Response of each feature at the ends of its bins.
    intercept : float
    floors : ndarray of shape (n_floors,), float32
        Ascending scores that `rejection` is calibrated for.
    rejection : ndarray of shape (n_floors, k), float32
        A scan that asks for scores of at least a floor gives a window up after feature t if its partial
        sum is below entry t of the floor's row.
    threshold : float
        Windows that score at least this are detections.
    """

    keypoint: str
    pool: WindowPool
    low: np.ndarray
    high: np.ndarray
    knots: np.ndarray
    intercept: float
    floors: np.ndarray
    rejection: np.ndarray
    threshold: float

    def __post_init__(self) -> None:
        k, n_knots = len(self.pool), self.knots.shape[-1]
        shapes = {"low": (k,), "high": (k,), "knots": (k, n_knots), "rejection": (len(self.floors), k)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                found = getattr(self, name).shape
                raise DataError(f"{self.keypoint}: {name} has shape {found}, expected {shape}")
        if k < 1 or not 2 <= n_knots <= N_CODES:
            raise DataError(f"{self.keypoint}: {k} features with {n_knots} knots")
        if not (self.low <= self.high).all():
            raise DataError(f"{self.keypoint}: the range of a feature ends before it begins")
        if np.isnan(self.rejection).any() or not (np.diff(self.floors) > 0).all():
            raise DataError(f"{self.keypoint}: rejection thresholds are no numbers, or floors do not ascend")
        if not np.isfinite([self.intercept, self.threshold]).all():
            raise DataError(f"{self.keypoint}: intercept or threshold is not finite")

    @cached_property
    def tables(self) -> np.ndarray:
        """Response of each feature at each code, (k, 256) float32."""
        return response_tables(self.knots).astype(np.float32)

    @cached_property
    def scaling(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lowest and highest value of each feature, and codes a unit, (k,) float32 each."""
        return code_scale(self.low, self.high)

    def cascade(self, floor: float) -> np.ndarray:
        """Return the rejection thresholds of a scan that asks for scores of at least `floor`, (k,).

        They are those of the highest calibrated floor that is not above it; below all of them nothing
        is rejected.
        """
        row = int(np.searchsorted(self.floors, np.float32(floor), side="right")) - 1
        return self.rejection[row] if row >= 0 else np.full(len(self.pool), NEVER, dtype=np.float32)

    def codes(self, patches: np.ndarray) -> np.ndarray:
        """Return the features' codes on stored windows, (k, n_windows) uint8."""
        return self.pool.codes(patches, self.low, self.high)

    def scores(self, patches: np.ndarray) -> np.ndarray:
        """Return the exact, full sum on stored windows.

        Parameters
        ----------
        patches : ndarray of shape (n_windows, 26, 26, 3), uint8
            As `annealed.features.pool.cut_windows` gives them.

        Returns
        -------
        ndarray of shape (n_windows,), float32
        """
        return sum_responses(self.tables, self.codes(patches), self.intercept)
