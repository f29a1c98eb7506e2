"""Comparators on the same footing as the annealed estimators."""

from .logitboost import LogitBoost
from .rankboost import RankBoost
from .trace import BoostingTrace

__all__ = ["BoostingTrace", "LogitBoost", "RankBoost"]
