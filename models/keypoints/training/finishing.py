"""What is fitted once the rounds of mining are over: exact places, alignment, objects."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....features.pool import WindowPool
from ....features.pyramid import Level
from ...annealing import Progress
from ..angles import UPRIGHT
from ..detector import KeypointDetector
from ..objects.alignment import AlignmentStage
from ..objects.search import N_ANCHORS
from ..objects.shape import RigidShape, estimate_shape
from ..window_model import WindowModel
from .alignment_fitting import Portrait, fit_alignment, largest_size, portraits_of_photo
from .config import TrainingConfig, training_pool
from .object_fitting import with_object_model
from .part_samples import fit_part_model
from .phases import Phases
from .refinement_fitting import (
    OffsetExamples,
    fit_offsets,
    join_offset_examples,
    offset_examples_of_photo,
)
from .shape_choice import ShapeChoice, choose_shape
from .sides import mirror_order
from .training_photos import TrainingPhoto, TrainingPhotos

_MOST_PHOTOS_FOR_OBJECTS = 100


def fit_refiners(photos: TrainingPhotos, pool: WindowPool, phases: Phases) -> tuple[WindowModel, ...]:
    """Regressions of the exact place, one per keypoint, on windows of the training photos; or none."""
    config = photos.config
    if config.refine.k == 0:
        return ()

    def fit(name: str, parts: Sequence[OffsetExamples]) -> WindowModel:
        def report(progress: Progress) -> None:
            photos.report(f"refining {name}", progress.iteration, progress.n_iter)

        return fit_offsets(pool, join_offset_examples(parts), config.refine, config.seed, report)

    with phases.measure("refinement"):
        by_photo = [cut_out for _, cut_out in photos.each(photos.training, "refinement", _CutOffsets(config))]
        return tuple(map(fit, photos.keypoints, zip(*by_photo, strict=True)))


def with_parts(
    detector: KeypointDetector, photos: TrainingPhotos, phases: Phases
) -> tuple[KeypointDetector, ShapeChoice | None]:
    """Add how keypoints look in the frame of the shape that they have, where parts are asked for."""
    config = photos.config
    if config.parts.k == 0:
        return detector, None
    with phases.measure("parts"):
        choice = choose_shape(photos.sources, photos.columns)
        if choice is None:
            return detector, None
        model = fit_part_model(
            photos.sources,
            list(photos.keypoints),
            photos.columns,
            choice,
            training_pool(config.parts.n_haar, config.seed),
            config.parts,
            config.seed,
            lambda done, total: photos.report("parts", done, total),
        )
    return replace(detector, parts=model), choice


def with_objects(
    detector: KeypointDetector, photos: TrainingPhotos, precision: Sequence[float], phases: Phases
) -> KeypointDetector:
    """Add the top-down step, whose weights are learned on photos that the classifiers do not know.

    Parameters
    ----------
    detector : KeypointDetector
    photos : TrainingPhotos
    precision : sequence of float
        Average precision of each keypoint on the held-out photos.
    phases : Phases
    """
    shape = estimate_shape([photos.photos[i] for i in photos.training.tolist()], photos.columns)
    if shape is None:
        return detector
    stages = _fit_stages(photos, shape, detector.object_px, phases)
    some = photos.held_out if len(photos.held_out) else photos.training[:_MOST_PHOTOS_FOR_OBJECTS]
    with phases.measure("objects"):
        return with_object_model(
            detector,
            shape,
            [photos.photos[i] for i in some],
            photos.columns,
            stages,
            best_keypoints(precision),
            lambda done, total: photos.report("objects", done, total),
        )


def _fit_stages(
    photos: TrainingPhotos, shape: RigidShape, object_px: float, phases: Phases
) -> tuple[AlignmentStage, ...]:
    """Stages that move the keypoints of an object together, fitted on those of the training photos."""
    config = photos.config
    if config.align.k == 0:
        return ()
    cut = _CutPortraits(photos.columns, largest_size(config.align, object_px))

    def report(stage: int, progress: Progress) -> None:
        photos.report(f"alignment, stage {stage + 1}", progress.iteration, progress.n_iter)

    with phases.measure("alignment"):
        by_photo = [found for _, found in photos.each(photos.training, "portraits", cut)]
        return fit_alignment(
            training_pool(config.align.n_haar, config.seed),
            [portrait for found in by_photo for portrait in found],
            # where objects are turned some views are in a mirror already
            mirror_order(list(photos.keypoints)) if photos.angles == UPRIGHT else None,
            shape,
            object_px,
            config.align,
            config.seed,
            report,
        )


@dataclass(frozen=True)
class _CutOffsets:
    """Cut windows beside each keypoint out of a photo; a class, so that it can be sent to a worker."""

    config: TrainingConfig

    def __call__(self, photo: TrainingPhoto, levels: list[Level]) -> list[OffsetExamples]:
        config, i = self.config, photo.number
        return [
            offset_examples_of_photo(
                levels, targets, config.targets, config.refine, np.random.default_rng([config.seed, 5, i, k])
            )
            for k, targets in enumerate(photo.targets)
        ]


@dataclass(frozen=True)
class _CutPortraits:
    """Cut the objects out of a photo; likewise."""

    columns: list[int]
    largest_px: float

    def __call__(self, photo: TrainingPhoto, levels: list[Level]) -> list[Portrait]:
        return portraits_of_photo(photo.photo, levels, self.columns, self.largest_px)


def best_keypoints(precision: Sequence[float]) -> tuple[int, ...]:
    """The keypoints with the highest average precision, ascending; all if there are no photos to judge by."""
    if not any(precision):
        return tuple(range(len(precision)))
    best = np.argsort(-np.array(precision), kind="stable")[:N_ANCHORS]
    return tuple(sorted(best.tolist()))
