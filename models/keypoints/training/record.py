"""What a training run keeps of each round beside examples and classifiers: times, losses, scores."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ....features.errors import DataError
from ..evaluation import PrecisionRecall
from .validation import best_threshold

CURVE_POINTS = 100


@dataclass(frozen=True)
class SelectionScore:
    """How well a keypoint is detected on held-out photos, by which rounds, thresholds and weights are chosen.

    Attributes
    ----------
    photos, keypoints : int
        How many there are.
    average_precision : float
    threshold : float
        With the best F1; recall, precision and false alarms a photo are those of detections above it.
    recall, precision, false_per_photo : float
    curve : list of (recall, precision)
        Some points of the curve.
    """

    photos: int
    keypoints: int
    average_precision: float
    threshold: float
    recall: float
    precision: float
    false_per_photo: float
    curve: list[list[float]]

    @classmethod
    def of_curve(cls, curve: PrecisionRecall) -> "SelectionScore":
        """Sum a curve up."""
        threshold = best_threshold(curve)
        points = np.unique(np.linspace(0, max(len(curve.threshold) - 1, 0), CURVE_POINTS).astype(int))
        points = points[: len(curve.threshold)]
        return cls(
            curve.n_photos,
            curve.n_keypoints,
            curve.average_precision,
            threshold,
            *curve.at(threshold),
            [[float(curve.recall[p]), float(curve.precision[p])] for p in points],
        )


@dataclass(frozen=True)
class RoundRecord:
    """What a round measured.

    Attributes
    ----------
    seconds : dict of str to float
        Of each phase of the process so far.
    work : dict of str to int
        What was done in them; see `Phases`.
    hardest : list of list of float
        Scores of the hardest negatives that were mined, of each keypoint.
    loss : list of list of float
        After each iteration of the annealing, of each keypoint.
    validation : list of SelectionScore
        Of each keypoint.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    work: dict[str, int] = field(default_factory=dict)
    hardest: list[list[float]] = field(default_factory=list)
    loss: list[list[float]] = field(default_factory=list)
    validation: list[SelectionScore] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "RoundRecord":
        """Read what `to_json` gave.

        Raises
        ------
        DataError
            If a part is missing or unknown.
        """
        try:
            return cls(
                **{**values, "validation": [SelectionScore(**v) for v in values.get("validation", [])]}
            )
        except (TypeError, AttributeError) as error:
            raise DataError(f"not the record of a round ({error})") from None
