"""Numbers into decisions: the annealing core, estimators, comparators, detectors and rankers."""

from ..features.lazy import lazy_names

_HOME = {
    "FSAClassifier": "estimators",
    "FSAClassifierCV": "estimators",
    "FSARanker": "estimators",
    "FSARegressor": "estimators",
    "FSARegressorCV": "estimators",
    "Linear": "responses",
    "LogitBoost": "boosting",
    "Piecewise": "responses",
    "RankBoost": "boosting",
    "load_model": "model_files",
    "plot_responses": "estimators",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
