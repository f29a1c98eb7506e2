"""Which stages the training of a detector has, so that its progress is that of the whole run."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .progress import Stage
from .wording import count

if TYPE_CHECKING:
    from ..models.keypoints.training.config import TrainingConfig

# Rough times of stages, in any unit, for as long as a run has not met one of the kind.
POSITIVES, VALIDATION, SCAN, ANNEALING, REFINING, ALIGNMENT, OBJECTS = 1.0, 0.5, 6.0, 2.0, 1.0, 4.0, 1.0
PARTS = 6.0  # of a keypoint


def training_stages(config: "TrainingConfig", keypoints: Sequence[str], rounds_done: int = 0) -> list[Stage]:
    """Return the stages of a run in their order, without those of rounds that are over.

    Parameters
    ----------
    config : TrainingConfig
    keypoints : sequence of str
    rounds_done : int
        Rounds of an interrupted run, the one before any mining included.
    """
    stages: list[Stage] = []
    for number in range(rounds_done, config.rounds + 1):
        stages += _round(number, config, keypoints)
    if config.refine.k:
        stages.append(Stage("refinement", "exact places", POSITIVES))
        stages += [Stage(f"refining {name}", "exact places", REFINING) for name in keypoints]
        stages.append(Stage("validation", "exact places", VALIDATION))
    if config.parts.k:
        stages.append(Stage("parts", "parts", PARTS * len(keypoints)))
    if len(keypoints) > 2:
        if config.align.k:
            stages.append(Stage("portraits", "alignment", POSITIVES))
            stages += [
                Stage(f"alignment, stage {n + 1}", "alignment", ALIGNMENT)
                for n in range(len(config.align.zooms))
            ]
        stages.append(Stage("objects", "objects", OBJECTS))
    return stages


def _round(number: int, config: "TrainingConfig", keypoints: Sequence[str]) -> Iterator[Stage]:
    """The stages of one round."""
    if number == 0:
        label = f"before {count(config.rounds, 'round')} of mining"
        yield Stage("positives", label, POSITIVES)
    else:
        label = f"round {number} of {config.rounds}"
        yield Stage("scan", label, SCAN)
    for name in keypoints:
        yield Stage(f"annealing {name}", label, ANNEALING)
    yield Stage("validation", label, VALIDATION)
