"""Selectors beyond annealing: the other papers' methods, with the estimators' face."""

from .lp_inf import L21Selector, LpInfSelector
from .screening import ScreenedLasso

__all__ = [
    "L21Selector",
    "LpInfSelector",
    "ScreenedLasso",
]
