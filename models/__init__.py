"""Numbers into decisions: the annealing core, estimators, comparators, detectors and rankers."""

from .boosting import LogitBoost, RankBoost
from .estimators import (
    FSAClassifier,
    FSAClassifierCV,
    FSARanker,
    FSARegressor,
    FSARegressorCV,
    plot_responses,
)
from .model_files import load_model
from .responses import Linear, Piecewise

__all__ = [
    "FSAClassifier",
    "FSAClassifierCV",
    "FSARanker",
    "FSARegressor",
    "FSARegressorCV",
    "Linear",
    "LogitBoost",
    "Piecewise",
    "RankBoost",
    "load_model",
    "plot_responses",
]
