"""Numbers into decisions: the annealing core, estimators, comparators, detectors and rankers."""

from .estimators import (
    FSAClassifier,
    FSAClassifierCV,
    FSARanker,
    FSARegressor,
    FSARegressorCV,
    plot_responses,
)
from .store import load_model

__all__ = [
    "FSAClassifier",
    "FSAClassifierCV",
    "FSARanker",
    "FSARegressor",
    "FSARegressorCV",
    "load_model",
    "plot_responses",
]
