"""Select features of windows and fit their responses: design, annealing, additive model."""

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from ....features.pool import WindowPool
from ...additive import PiecewiseModel
from ...annealing import AnnealingResult, anneal
from ...designs.binned import BinnedDesign
from ...designs.windows import WindowsDesign
from ...losses import Loss
from ...penalties import SecondDifference
from ...schedules import InverseSchedule
from ..window_model import WindowModel


class WindowFit(Protocol):
    """What the settings of a classifier, a refinement and an alignment have in common."""

    @property
    def k(self) -> int: ...
    @property
    def n_iter(self) -> int: ...
    @property
    def mu(self) -> float: ...
    @property
    def shrinkage(self) -> float: ...
    @property
    def smoothness(self) -> float: ...


def fit_window_model(
    design: WindowsDesign | BinnedDesign,
    pool: WindowPool,
    ranges: tuple[np.ndarray, np.ndarray],
    loss: Loss,
    config: WindowFit,
    *,
    unit: float = 1.0,
    **options: Any,
) -> tuple[WindowModel, AnnealingResult]:
    """Anneal a design of windows and return what is left as a model.

    Parameters
    ----------
    design : WindowsDesign or BinnedDesign
        Consumed.
    pool : WindowPool
        The design's columns; all of them are taken where there are fewer than k.
    ranges : two ndarray of shape (n_features,), float32
        Lowest and highest value of each.
    loss : Loss
    config : WindowFit
    unit : float
        What the loss's targets were divided by.
    options
        See `AnnealingConfig`.
    """
    penalty = SecondDifference(config.shrinkage, config.smoothness)
    schedule = InverseSchedule(min(config.k, len(pool)), config.n_iter, config.mu)
    result = anneal(design, loss, penalty, schedule, **options)
    assert isinstance(result.model, PiecewiseModel)
    n_outputs, kept = len(result.intercept), result.kept
    low, high = (ends[kept] for ends in ranges)
    responses = result.model.rescaled(np.full(n_outputs, unit), np.zeros(n_outputs))
    responses = replace(responses, features=np.arange(len(kept)), low=low, high=high)
    return WindowModel(pool[kept], responses.astype(np.float32)), result
