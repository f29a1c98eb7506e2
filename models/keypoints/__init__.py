"""Keypoint detectors: training by hard-negative mining, scanning, detections, evaluation (section 3.3)."""

from .detections import Detections
from .detector import KeypointDetector, PyramidConfig
from .evaluation import Criteria, PrecisionRecall, observed, precision_recall
from .nms import Suppression
from .objects.model import ObjectModel, Objects
from .training.classifier_fitting import FitConfig
from .training.config import TrainingConfig
from .training.targets import TargetConfig, keypoint_targets
from .training.trainer import train_detector

__all__ = [
    "Criteria",
    "Detections",
    "FitConfig",
    "KeypointDetector",
    "ObjectModel",
    "Objects",
    "PrecisionRecall",
    "PyramidConfig",
    "Suppression",
    "TargetConfig",
    "TrainingConfig",
    "keypoint_targets",
    "observed",
    "precision_recall",
    "train_detector",
]
