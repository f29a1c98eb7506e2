"""Fit the regression of a keypoint's offset (refinement.py) on windows around its annotation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ....features.errors import ParameterError
from ....features.pool import PATCH_PX, WindowPool, cut_windows
from ....features.pyramid import Level
from ...annealing import Progress
from ...designs.windows import WindowsDesign
from ...losses import SquaredError
from ..window_model import WindowModel
from .config_checks import at_least
from .targets import KeypointTargets, TargetConfig
from .window_fitting import fit_window_model


@dataclass(frozen=True)
class RefineConfig:
    """How the regression of offsets is fitted.

    Attributes
    ----------
    k : int
        Features selected; 0: no regression.
    reach : float
        Training windows lie at most this part of the object's size from the keypoint.
    n_windows : int
        Windows drawn for each keypoint on each level.
    n_bins, n_iter, mu, n_batches, shrinkage, smoothness
        As in `FitConfig`.
    """

    k: int = 300
    reach: float = 0.2
    n_windows: int = 5
    n_bins: int = 10
    n_iter: int = 300
    mu: float = 100.0
    n_batches: int = 8
    shrinkage: float = 1e-3
    smoothness: float = 1e-2

    def __post_init__(self) -> None:
        at_least("refinement: ", self, k=0, n_windows=1, n_batches=1)
        if not (np.isfinite(self.reach) and self.reach > 0):
            raise ParameterError(f"refinement: reach must be a finite number above 0, got {self.reach}")


@dataclass(frozen=True, eq=False)
class OffsetExamples:
    """Windows near a keypoint.

    Attributes
    ----------
    patches : ndarray of shape (n, 26, 26, 3), uint8
    offsets : ndarray of shape (n, 2), float64
        x, y from the window's centre pixel to the keypoint, in pixels of the level.
    """

    patches: np.ndarray
    offsets: np.ndarray


def join_offset_examples(parts: Sequence[OffsetExamples]) -> OffsetExamples:
    """Return all examples of several sets, in their order."""
    nothing = OffsetExamples(np.empty((0, PATCH_PX, PATCH_PX, 3), np.uint8), np.empty((0, 2)))
    parts = [nothing, *parts]
    return OffsetExamples(
        np.concatenate([p.patches for p in parts]), np.concatenate([p.offsets for p in parts])
    )


def offset_examples_of_photo(
    levels: Sequence[Level],
    targets: KeypointTargets,
    target_config: TargetConfig,
    config: RefineConfig,
    rng: np.random.Generator,
) -> OffsetExamples:
    """Cut windows at random places around each visible keypoint, on the levels where it is a positive."""
    parts = []
    for level in levels:
        sizes = targets.sizes * np.sqrt(np.prod(level.ratio))
        chosen = targets.visible & target_config.in_range(sizes)
        for point, size in zip(level.from_photo(targets.points[chosen]), sizes[chosen], strict=True):
            # evenly over the disc
            radius = config.reach * size * np.sqrt(rng.random(config.n_windows))
            angle = 2 * np.pi * rng.random(config.n_windows)
            centres = np.rint(point + radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1))
            inside = ((centres >= 0) & (centres < level.size)).all(axis=1)
            centres = centres[inside].astype(np.int64)
            patches = cut_windows(level.image, centres[:, 1], centres[:, 0])
            parts.append(OffsetExamples(patches, point - centres))
    return join_offset_examples(parts)


def fit_offsets(
    pool: WindowPool,
    examples: OffsetExamples,
    config: RefineConfig,
    seed: int,
    callback: Callable[[Progress], None] | None = None,
) -> WindowModel:
    """Select k features of a pool and fit two piecewise linear responses to each, by least squares.

    Parameters
    ----------
    pool : WindowPool
        Features to choose from; all of them are taken where there are fewer than k.
    examples : OffsetExamples
    config : RefineConfig
    seed : int
        Of the order of the examples, in which mini-batches are taken.
    callback : callable, optional
        Called after each iteration.
    """
    n = len(examples.offsets)
    order = np.random.default_rng(seed).permutation(n)
    design = WindowsDesign(pool, examples.patches[order], config.n_bins)
    unit = float(np.sqrt(np.mean(examples.offsets**2)))
    model, _ = fit_window_model(
        design,
        pool,
        (design.low, design.high),
        SquaredError(examples.offsets[order].T / unit),
        config,
        batch_size=-(-n // config.n_batches),
        unit=unit,
        callback=callback,
    )
    return model
