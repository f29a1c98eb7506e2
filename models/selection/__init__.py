"""Selectors beyond annealing: the other papers' methods, with the estimators' face."""

from .embedded import EmbeddedSelector
from .fgm import FeatureGeneratingMachine
from .filters import FilterSelector
from .lp_inf import L21Selector, LpInfSelector
from .registry import METHODS, make_selector
from .screening import ScreenedLasso
from .sparse_coding import SparseCoding
from .stability import StabilitySelector
from .wrappers import WrapperSelector

__all__ = [
    "METHODS",
    "EmbeddedSelector",
    "FeatureGeneratingMachine",
    "FilterSelector",
    "L21Selector",
    "LpInfSelector",
    "ScreenedLasso",
    "SparseCoding",
    "StabilitySelector",
    "WrapperSelector",
    "make_selector",
]
