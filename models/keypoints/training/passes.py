"""What passes of the rounds do to each photo: classes and not closures, so that workers can be sent them."""

from dataclasses import dataclass

import numpy as np

from ....features.pyramid import Level
from ..detections import Detections
from ..detector import KeypointDetector
from ..keypoint_classifier import KeypointClassifier
from .config import TrainingConfig
from .mining import Examples, WantedNegatives, mine_photo, positives_of_photo, random_negatives_of_photo
from .targets import TargetConfig
from .training_photos import TrainingPhoto
from .validation import VALIDATION_FLOOR


@dataclass(frozen=True, eq=False)
class FirstExamples:
    """Cut examples of each kind out of a photo, one set a keypoint."""

    config: TrainingConfig
    n_random: int
    held_out: frozenset[int]

    def __call__(self, photo: TrainingPhoto, levels: list[Level]) -> dict[str, list[Examples]]:
        i, config = photo.number, self.config
        positives = [positives_of_photo(i, levels, targets, config.targets) for targets in photo.targets]
        if i in self.held_out:
            return {"held_out": positives}
        negatives = [
            random_negatives_of_photo(
                i,
                levels,
                targets,
                config.targets,
                self.n_random,
                np.random.default_rng([config.seed, 2, i, k]),
            )
            for k, targets in enumerate(photo.targets)
        ]
        return {"positives": positives, "negatives": negatives}


@dataclass(frozen=True, eq=False)
class Mine:
    """Scan a photo for negatives above some floors; count its windows."""

    config: TargetConfig
    classifiers: tuple[KeypointClassifier, ...]
    wanted: list[WantedNegatives]
    spacing_px: int

    def __call__(
        self, photo: TrainingPhoto, levels: list[Level], floors: list[float]
    ) -> tuple[int, list[tuple[Examples, np.ndarray]]]:
        n_windows = sum(level.image[..., 0].size for level in levels)
        found = mine_photo(
            photo.number,
            levels,
            self.config,
            self.classifiers,
            photo.targets,
            self.wanted,
            floors,
            self.spacing_px,
        )
        return n_windows, found


@dataclass(frozen=True, eq=False)
class Detect:
    """Detect keypoints in a photo, down to scores that are none."""

    detector: KeypointDetector

    def __call__(self, photo: TrainingPhoto, levels: list[Level]) -> Detections:
        return self.detector.detect_levels(levels, threshold=VALIDATION_FLOOR, parallel=False)
