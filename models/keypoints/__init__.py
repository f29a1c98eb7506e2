"""Keypoint detectors: training by hard-negative mining, scanning, detections, evaluation (section 3.3)."""

from ...features.lazy import lazy_names

_HOME = {
    "Criteria": "evaluation",
    "Detections": "detections",
    "FitConfig": "training.classifier_fitting",
    "KeypointDetector": "detector",
    "ObjectModel": "objects.model",
    "Objects": "objects.model",
    "PrecisionRecall": "evaluation",
    "PyramidConfig": "detector",
    "Suppression": "nms",
    "TargetConfig": "training.targets",
    "TrainingConfig": "training.config",
    "keypoint_targets": "training.targets",
    "observed": "evaluation",
    "precision_recall": "evaluation",
    "train_detector": "training.trainer",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
