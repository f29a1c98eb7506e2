"""What a training run of a detector depends on, besides the photos."""

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ....features.channels.haar import HAAR
from ....features.errors import ParameterError
from ....features.pool import WindowPool
from ..angles import UPRIGHT
from ..detector import PyramidConfig
from .alignment_fitting import AlignConfig
from .classifier_fitting import FitConfig
from .config_checks import at_least
from .part_fitting import PartsConfig
from .refinement_fitting import RefineConfig
from .region_fitting import FAR, RegionConfig
from .targets import TargetConfig


@dataclass(frozen=True)
class TrainingConfig:
    """What a training run depends on, besides the photos; the defaults are the paper's, but for the spacing.

    Attributes
    ----------
    rounds : int
        Rounds of mining, after the training on random negatives.
    n_hard : int
        Most hard negatives that a round adds.
    scanned : float
        Share of the training photos that a round scans; the next round goes on with the others.
    spacing_px : int
        Of the negatives in a square of so many pixels of a level only the hardest is added; 1: all.
    photos_a_batch : int
        Photos that are scanned for negatives above the same scores, by threads or workers; the first
        batches are smaller.
    n_random : int
        Random negatives to begin with.
    hard_floor : float
        Negatives that score less are never hard: at -1 and below they have no part in a margin loss.
    n_haar : int or None
        Haar features drawn at random from the pool for a quick run; None: all.
        Other channels always take part.
    validation : float
        Share of the photos that is held out, to choose detection thresholds and to report on.
    seed : int
    fit : FitConfig
    targets : TargetConfig
    pyramid : PyramidConfig
    refine : RefineConfig
        The regression stays only if the held-out photos are not the worse for it.
    align : AlignConfig
        So do the stages that align the keypoints of an object.
    parts : PartsConfig
        How keypoints look in their object's frame, zoom by zoom.
    regions : RegionConfig
        By which whole objects are found first.
    angles : tuple of float or None
        By which objects are turned, in degrees (see `KeypointDetector`); None: what the annotation shows.
    """

    rounds: int = 10
    n_hard: int = 20_000
    scanned: float = 1.0
    spacing_px: int = 4
    photos_a_batch: int = 32
    n_random: int = 20_000
    hard_floor: float = -1.0
    n_haar: int | None = None
    validation: float = 0.1
    seed: int = 0
    fit: FitConfig = field(default_factory=FitConfig)
    targets: TargetConfig = field(default_factory=TargetConfig)
    pyramid: PyramidConfig = field(default_factory=PyramidConfig)
    refine: RefineConfig = field(default_factory=RefineConfig)
    align: AlignConfig = field(default_factory=AlignConfig)
    parts: PartsConfig = field(default_factory=partial(PartsConfig, k=0))
    regions: RegionConfig = field(default_factory=RegionConfig)
    angles: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        at_least("", self, rounds=0, n_hard=1, spacing_px=1, n_random=1, seed=0)
        if not 0 < self.scanned <= 1:
            raise ParameterError(f"scanned must be above 0 and at most 1, got {self.scanned}")
        if not 0 <= self.validation <= 0.5:
            raise ParameterError(f"validation must lie in 0..0.5, got {self.validation}")
        if self.n_haar is not None and self.n_haar < 0:
            raise ParameterError(f"n_haar must be at least 0, got {self.n_haar}")

    def of_regions(self, size_range_px: tuple[float, float]) -> "TrainingConfig":
        """How the classifier of whole objects is trained, on photos none of which is held out."""
        regions = self.regions
        return replace(
            self,
            rounds=regions.rounds,
            n_hard=regions.n_hard,
            n_random=regions.n_random,
            n_haar=regions.n_haar,
            scanned=min(self.scanned, 0.5),
            validation=0.0,
            fit=replace(self.fit, k=regions.k, n_iter=regions.n_iter),
            targets=replace(self.targets, size_range_px=size_range_px, negative_distance=FAR),
            refine=RefineConfig(k=0),
            angles=UPRIGHT,
        )


def training_pool(n_haar: int | None, seed: int) -> WindowPool:
    """Return the pool to select from: all features, or a random share of those of Haar and all others."""
    pool = WindowPool.default()
    is_haar = pool.belongs_to(HAAR)
    haar = np.flatnonzero(is_haar)
    if n_haar is None or n_haar >= len(haar):
        return pool
    drawn = np.random.default_rng([seed, 1]).choice(haar, n_haar, replace=False)
    return pool[np.sort(np.concatenate([np.flatnonzero(~is_haar), drawn]))]
