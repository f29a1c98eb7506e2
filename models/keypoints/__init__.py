"""Keypoint detectors: training by hard-negative mining, scanning, detections, evaluation (section 3.3)."""

from .detections import Detections
from .detector import KeypointDetector, PyramidRule
from .evaluation import Criteria, PrecisionRecall, observed, precision_recall
from .faces import FaceModel, Faces
from .fitting import FitRule
from .nms import Suppression
from .targets import TargetRule, keypoint_targets
from .training import train_detector
from .training_rule import TrainingRule

__all__ = [
    "Criteria",
    "Detections",
    "FaceModel",
    "Faces",
    "FitRule",
    "KeypointDetector",
    "PrecisionRecall",
    "PyramidRule",
    "Suppression",
    "TargetRule",
    "TrainingRule",
    "keypoint_targets",
    "observed",
    "precision_recall",
    "train_detector",
]
