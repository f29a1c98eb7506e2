"""Motion segmentation: candidate segmentations and their description by features."""

from .candidates import Candidate, candidates
from .description import feature_names, segmentation_features
from .evaluation import disagreement

__all__ = ["Candidate", "candidates", "disagreement", "feature_names", "segmentation_features"]
