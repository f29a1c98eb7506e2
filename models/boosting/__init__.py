"""Comparators on the same footing as the annealed estimators."""

from ...features.lazy import lazy_names

_HOME = {
    "BoostingTrace": "trace",
    "LogitBoost": "logitboost",
    "RankBoost": "rankboost",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
