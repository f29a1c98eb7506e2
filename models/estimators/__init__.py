"""The scikit-learn face of the annealing core."""

from .classifier import FSAClassifier
from .cv import FSAClassifierCV, FSARegressorCV
from .plotting import plot_responses
from .ranker import FSARanker
from .regressor import FSARegressor

__all__ = [
    "FSAClassifier",
    "FSAClassifierCV",
    "FSARanker",
    "FSARegressor",
    "FSARegressorCV",
    "plot_responses",
]
