"""Fit how keypoints look in their frame (parts/), zoom by zoom, and what that is worth on frames left out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from ....features.patches import PATCH_PX
from ....features.pool import WindowPool, cut_windows
from ....features.threads import in_threads
from ...designs.windows import WindowsDesign
from ...losses import Logistic, SquaredError
from ..parts.canvas import Canvas
from ..parts.model import Part, PartModel
from ..parts.relations import fit_relations
from ..parts.search import (
    Candidates,
    FoundParts,
    ZoomMaps,
    apart,
    find_candidates,
    find_parts,
    finer_pixels,
    zone_pixels,
)
from ..window_model import WindowModel
from .config_checks import at_least
from .logistic import fit_logistic
from .window_fitting import fit_window_model

FEWEST = 20
"""Fewer frames than this teach nothing of how parts look."""

RIGHT_PX = 4.0
"""A candidate this near to the keypoint, in pixels of the finest zoom, is right."""

WITHIN = 2 / 3
"""Share of the keypoints that lie within the expected error."""

_POSITIVE_PX, _NEGATIVE_PX = 1.0, 2.0
_OFFSET_PX = 2.5
_N_OFFSETS = 12
_ROOM = 0.1  # of the box, around the places that a keypoint was seen at
_SUM_SIGN, _SEEN_SIGNS = 1, np.array([1, -1, -1])
T = TypeVar("T")

_NO_PATCHES = np.empty((0, PATCH_PX, PATCH_PX, 3), dtype=np.uint8)


@dataclass(frozen=True)
class PartsConfig:
    """How parts are fitted.

    Attributes
    ----------
    k : int
        Features selected at each zoom; 0: no parts.
    n_haar : int
        Haar features drawn at random to choose from; other channels always take part.
    n_negatives : int
        Windows of a frame that are no keypoint, in each of two rounds: at random, then the hardest.
    n_folds : int
        The frames are dealt out to so many folds; what parts are worth is found on each in turn.
    n_bins, n_iter, mu, n_batches, shrinkage, smoothness
        As in `FitConfig`.
    """

    k: int = 80
    n_haar: int = 1000
    n_negatives: int = 40
    n_folds: int = 3
    n_bins: int = 10
    n_iter: int = 150
    mu: float = 300.0
    n_batches: int = 8
    shrinkage: float = 1e-2
    smoothness: float = 1e-2

    def __post_init__(self) -> None:
        at_least("parts: ", self, k=0, n_haar=0, n_negatives=1, n_folds=2, n_batches=1)


@dataclass(frozen=True, eq=False)
class Sample:
    """An annotated object, or a whole picture, on its canvas.

    Attributes
    ----------
    canvas : Canvas
    points : ndarray of shape (n_keypoints, 2), float64
        x, y in the frame; NaN where there is none.
    source : int
        Number of the photo.
    """

    canvas: Canvas
    points: np.ndarray
    source: int


def fit_parts(
    samples: Sequence[Sample],
    wrong: Sequence[Sample],
    box: np.ndarray,
    px: float,
    scene_px: float | None,
    pool: WindowPool,
    config: PartsConfig,
    seed: int,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> PartModel:
    """Fit all parts, first on folds of the samples to learn what their evidence is worth, then on all.

    Parameters
    ----------
    samples : sequence of Sample
        All of the same number of zooms.
    wrong : sequence of Sample
        Canvases that show no object, or one that is turned wrongly.
    box, px, scene_px
        See `PartModel`.
    pool : WindowPool
        Features to choose from.
    config : PartsConfig
    seed : int
    report : callable
        Told (done, total).
    """
    n_keypoints = len(samples[0].points)
    n_zooms = len(samples[0].canvas.images)
    total = (config.n_folds + 1) * n_keypoints * n_zooms
    steps = iter(range(1, total + 1))
    zones = _zones(samples, box)

    def fit(some: Sequence[Sample]) -> PartModel:
        parts = _fit_all(some, zones, pool, config, seed, lambda: report(next(steps), total))
        weights = np.tile(np.r_[0.0, np.ones(n_zooms)], (n_keypoints, 1))
        nothing = np.zeros((n_keypoints, 4))
        relations = fit_relations(np.stack([sample.points for sample in some]))
        return PartModel(
            tuple(parts), relations, box, px, scene_px, weights, nothing, nothing, np.array([0.0, 1.0])
        )

    sources = np.array([sample.source for sample in samples])
    order = np.random.default_rng([seed, 8]).permutation(np.unique(sources))
    fold_of = dict(zip(order.tolist(), (np.arange(len(order)) % config.n_folds).tolist(), strict=True))
    folds = [fold_of[source] for source in sources.tolist()]
    models, left_out, others = [], [], []
    for fold in range(config.n_folds):
        models.append(fit([sample for sample, own in zip(samples, folds, strict=True) if own != fold]))
        left_out.append([sample for sample, own in zip(samples, folds, strict=True) if own == fold])
        others.append([sample for sample in wrong if fold_of.get(sample.source) == fold])
    final = fit(samples)
    weights = _candidate_weights(models, left_out, px)
    models = [replace(model, weights=weights) for model in models]
    found = list(_each(models, left_out, lambda model, sample: find_parts(sample.canvas, model)))
    seen, error = _part_weights(found, px)
    scores = [part.score for _, part in found]
    no_scores = [p.score for _, p in _each(models, others, lambda m, s: find_parts(s.canvas, m))]
    return replace(final, weights=weights, seen=seen, error=error, whole=_whole_weights(scores, no_scores))


def _whole_weights(scores: Sequence[float], wrong: Sequence[float]) -> np.ndarray:
    """Log-odds of an object from the score of all keypoints together."""
    label = np.r_[np.ones(len(scores)), np.zeros(len(wrong))].astype(int)
    fitted = fit_logistic(np.array([*scores, *wrong])[:, None], label, np.array([1]))
    return np.array([0.0, 1.0]) if fitted is None else np.r_[fitted[0], fitted[1]]


def _zones(samples: Sequence[Sample], box: np.ndarray) -> np.ndarray:
    """Where each keypoint was seen, with some room, (n_keypoints, 4)."""
    points = np.stack([sample.points for sample in samples])
    room = _ROOM * (box[2:] - box[:2])
    low, high = np.nanmin(points, axis=0) - room, np.nanmax(points, axis=0) + room
    return np.concatenate([np.maximum(low, box[:2]), np.minimum(high, box[2:])], axis=1)


def _fit_all(
    samples: Sequence[Sample],
    zones: np.ndarray,
    pool: WindowPool,
    config: PartsConfig,
    seed: int,
    report: Callable[[], None],
) -> list[Part]:
    """All keypoints' models, from the coarsest zoom to the finest, each where the ones before look."""
    zooms: list[list[WindowModel]] = [[] for _ in zones]
    looks = [[_Look(s, zone_pixels(s.canvas, zone, 0)) for zone in zones] for s in samples]
    for zoom in range(len(samples[0].canvas.images)):
        random = [_random(looks, k, zoom, config, seed) for k in range(len(zones))]
        first = [_fit_zoom(looks, k, zoom, [random[k]], pool, config, seed) for k in range(len(zones))]
        hardest = _over_samples(looks, partial(_hardest, zoom=zoom, models=first, config=config))
        for k in range(len(zones)):
            hard = [places[k] for places in hardest]
            zooms[k].append(_fit_zoom(looks, k, zoom, [random[k], hard], pool, config, seed))
            report()
        last = [models[-1] for models in zooms]
        looks = _over_samples(looks, partial(_next_looks, zoom=zoom, models=last))
    offsets = [_fit_offset(samples, k, pool, config, seed) for k in range(len(zones))]
    return [
        Part(tuple(models), offset, zone) for models, offset, zone in zip(zooms, offsets, zones, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class _Look:
    """Where one keypoint of a sample is looked for at a zoom, and the sums of the coarser zooms there."""

    sample: Sample
    pixels: np.ndarray
    sums: np.ndarray | None = None

    def wrong(self, k: int, zoom: int) -> np.ndarray:
        """Indices of the pixels that are not the keypoint."""
        truth = self.sample.canvas.from_frame(self.sample.points[k], zoom)
        if not np.isfinite(truth).all():
            return np.arange(len(self.pixels))
        return np.flatnonzero(np.linalg.norm(self.pixels - truth, axis=1) > _NEGATIVE_PX)


def _over_samples(looks: Sequence[Sequence[_Look]], function: Callable[..., T]) -> list[T]:
    """What a function makes of each sample's maps and looks."""
    return list(in_threads(lambda of: function(ZoomMaps(of[0].sample.canvas), of), looks))


def _next_looks(
    maps: ZoomMaps, looks: Sequence[_Look], zoom: int, models: Sequence[WindowModel]
) -> list[_Look]:
    """Where a search goes on at the next zoom."""
    if zoom + 1 == len(maps.canvas.images):
        return list(looks)
    found = []
    for look, model in zip(looks, models, strict=True):
        before = np.empty((len(look.pixels), 0)) if look.sums is None else look.sums
        sums = np.column_stack([before, maps.respond(zoom, model, look.pixels)[0].astype(np.float64)])
        kept = apart(look.pixels, sums.sum(axis=1))
        found.append(_Look(look.sample, *finer_pixels(maps.canvas, look.pixels[kept], sums[kept], zoom + 1)))
    return found


def _random(
    looks: Sequence[Sequence[_Look]], k: int, zoom: int, config: PartsConfig, seed: int
) -> list[np.ndarray]:
    """Pixels of each sample that are looked at and are not keypoint k, drawn at random."""
    rng = np.random.default_rng([seed, 9, k, zoom])
    wrong = [look[k].pixels[look[k].wrong(k, zoom)] for look in looks]
    return [pixels[rng.permutation(len(pixels))[: config.n_negatives]] for pixels in wrong]


def _hardest(
    maps: ZoomMaps, looks: Sequence[_Look], zoom: int, models: Sequence[WindowModel], config: PartsConfig
) -> list[np.ndarray]:
    """Pixels of a sample that are looked at, are no keypoint, and look most like it; for each keypoint."""
    chosen = []
    for k, (look, model) in enumerate(zip(looks, models, strict=True)):
        pixels = look.pixels[look.wrong(k, zoom)]
        value = maps.respond(zoom, model, pixels)[0]
        chosen.append(pixels[np.argsort(-value, kind="stable")[: config.n_negatives]])
    return chosen


def _fit_zoom(
    looks: Sequence[Sequence[_Look]],
    k: int,
    zoom: int,
    negatives: Sequence[Sequence[np.ndarray]],
    pool: WindowPool,
    config: PartsConfig,
    seed: int,
) -> WindowModel:
    """Select features that tell the keypoint from what else is looked at."""
    patches, labels = [_NO_PATCHES], [np.empty(0)]
    for i, look in enumerate(looks):
        sample = look[k].sample
        near, _ = _pixels_near(sample, k, zoom, _POSITIVE_PX)
        wrong = np.unique(np.concatenate([pixels[i] for pixels in negatives]), axis=0)
        image = sample.canvas.images[zoom]
        for pixels, side in ((near, 1.0), (wrong, -1.0)):
            patches.append(cut_windows(image, pixels[:, 1], pixels[:, 0]))
            labels.append(np.full(len(pixels), side))
    label = np.concatenate(labels)
    n_positive = max(int((label > 0).sum()), 1)
    n_negative = max(int((label < 0).sum()), 1)
    share = np.where(label > 0, len(label) / n_positive, len(label) / n_negative)
    return _fit(
        np.concatenate(patches), pool, lambda order: Logistic(label[order], share[order]), config, seed
    )


def _fit_offset(
    samples: Sequence[Sample], k: int, pool: WindowPool, config: PartsConfig, seed: int
) -> WindowModel:
    """Select features that say how far the keypoint is from a window's middle, at the finest zoom."""
    patches, offsets = [_NO_PATCHES], [np.empty((0, 2))]
    rng = np.random.default_rng([seed, 10, k])
    for sample in samples:
        zoom = len(sample.canvas.images) - 1
        pixels, truth = _pixels_near(sample, k, zoom, _OFFSET_PX)
        pixels = pixels[rng.permutation(len(pixels))[:_N_OFFSETS]]
        patches.append(cut_windows(sample.canvas.images[zoom], pixels[:, 1], pixels[:, 0]))
        offsets.append(truth - pixels)
    offset = np.concatenate(offsets)
    return _fit(np.concatenate(patches), pool, lambda order: SquaredError(offset[order].T), config, seed)


def _fit(
    patches: np.ndarray, pool: WindowPool, loss_of: Callable, config: PartsConfig, seed: int
) -> WindowModel:
    order = np.random.default_rng([seed, 11]).permutation(len(patches))
    design = WindowsDesign(pool, patches[order], config.n_bins)
    model, _ = fit_window_model(
        design,
        pool,
        (design.low, design.high),
        loss_of(order),
        config,
        batch_size=max(1, -(-len(order) // config.n_batches)),
        tol=1e-3,
    )
    return model


def _pixels_near(sample: Sample, k: int, zoom: int, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Pixels of an image near the keypoint, none where it is not known, and its place there."""
    truth = sample.canvas.from_frame(sample.points[k], zoom)
    if not np.isfinite(truth).all():
        return np.empty((0, 2), np.int64), truth
    around = np.arange(-int(np.ceil(reach)), int(np.ceil(reach)) + 1)
    steps = np.stack(np.meshgrid(around, around), axis=-1).reshape(-1, 2)
    pixels = np.rint(truth).astype(np.int64) + steps
    height, width = sample.canvas.images[zoom].shape[:2]
    inside = ((pixels >= 0) & (pixels < [width, height])).all(axis=1)
    return pixels[inside & (np.linalg.norm(pixels - truth, axis=1) <= reach)], truth


def _each(models: Sequence[PartModel], left_out: Sequence[Sequence[Sample]], look: Callable) -> Iterator:
    """Every sample with what a function of its fold's model and itself gives."""
    pairs = [(model, sample) for model, some in zip(models, left_out, strict=True) for sample in some]
    found = in_threads(lambda pair: look(*pair), pairs)
    for (_, sample), result in zip(pairs, found, strict=True):
        yield sample, result


def _candidate_weights(
    models: Sequence[PartModel], left_out: Sequence[Sequence[Sample]], px: float
) -> np.ndarray:
    """Weights of the zooms' sums, by how well they tell the keypoint in samples left out."""

    def look(model: PartModel, sample: Sample) -> list[Candidates]:
        maps = ZoomMaps(sample.canvas)
        return [find_candidates(maps, part) for part in model.parts]

    weights = models[0].weights.copy()
    sums: list[list[np.ndarray]] = [[] for _ in weights]
    labels: list[list[np.ndarray]] = [[] for _ in weights]
    for sample, found in _each(models, left_out, look):
        for k, candidates in enumerate(found):
            away = np.linalg.norm(candidates.points - sample.points[k], axis=1) * px
            unclear = (away > RIGHT_PX) & (away < 2 * RIGHT_PX)
            sums[k].append(candidates.sums[~unclear])
            labels[k].append((away <= RIGHT_PX)[~unclear])
    for k in range(len(weights)):
        terms, label = np.concatenate(sums[k]), np.concatenate(labels[k]).astype(int)
        fitted = fit_logistic(terms, label, np.full(terms.shape[1], _SUM_SIGN))
        if fitted is not None:
            weights[k] = np.r_[fitted[0], fitted[1]]
    return weights


def _part_weights(found: Sequence[tuple[Sample, FoundParts]], px: float) -> tuple[np.ndarray, np.ndarray]:
    """Weights of what is seen of a keypoint in its log-odds, and in the logarithm of its expected error."""
    terms = np.stack([part.terms for _, part in found])
    away = np.stack([np.linalg.norm(part.points - sample.points, axis=1) for sample, part in found])
    seen, error = np.zeros((terms.shape[1], 4)), np.zeros((terms.shape[1], 4))
    for k in range(terms.shape[1]):
        right = away[:, k] * px <= 2 * RIGHT_PX
        fitted = fit_logistic(terms[:, k, 1:], right.astype(int), _SEEN_SIGNS)
        share = np.clip(right.mean(), 0.01, 0.99)
        seen[k] = (np.log(share / (1 - share)), 0, 0, 0) if fitted is None else np.r_[fitted[0], fitted[1]]
        known = np.isfinite(away[:, k])
        error[k] = _error_weights(terms[known, k], away[known, k], 0.25 / px)
    return seen, error


def _error_weights(terms: np.ndarray, away: np.ndarray, least: float) -> np.ndarray:
    """Linear in the terms: the logarithm of the distance within which two of three keypoints lie."""
    if not len(away):
        return np.zeros(terms.shape[1])
    target = np.log(np.maximum(away, least))
    penalty = np.diag(np.r_[1e-9, np.full(terms.shape[1] - 1, 5.0)])
    factors = np.linalg.solve(terms.T @ terms + penalty, terms.T @ target)
    factors[0] += np.quantile(target - terms @ factors, WITHIN)
    return factors
