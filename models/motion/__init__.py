"""Motion segmentation: candidate segmentations, their description by features, and their ranking."""

from .candidates import Candidate, candidates
from .description import feature_names, segmentation_features
from .evaluation import disagreement
from .ranker import MotionRanker, Ranking

__all__ = [
    "Candidate",
    "MotionRanker",
    "Ranking",
    "candidates",
    "disagreement",
    "feature_names",
    "segmentation_features",
]
