"""The scikit-learn face of the annealing core."""

from ...features.lazy import lazy_names

_HOME = {
    "FSAClassifier": "classifier",
    "FSAClassifierCV": "cv",
    "FSARanker": "ranker",
    "FSARegressor": "regressor",
    "FSARegressorCV": "cv",
    "plot_responses": "plotting",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
