"""Motion segmentation: candidate segmentations, their description by features, and their ranking."""

from .candidates import Candidate, candidates
from .description import feature_names, segmentation_features
from .disagreement import disagreement
from .motion_ranker import MotionRanker, Ranking
from .segment import Segmentation, segment

__all__ = [
    "Candidate",
    "MotionRanker",
    "Ranking",
    "Segmentation",
    "candidates",
    "disagreement",
    "feature_names",
    "segment",
    "segmentation_features",
]
