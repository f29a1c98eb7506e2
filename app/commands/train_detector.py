"""`annealed train-detector`: train a keypoint detector from annotated photos."""

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..arguments import PHOTOS_HELP, SCALE_BY_HELP, AnglesOption, ClusterOption, OverwriteOption

if TYPE_CHECKING:
    from ...datasets.photos.photo_set import PhotoSet
    from ...models.keypoints.training.config import TrainingConfig
    from ...models.keypoints.training.trainer import TrainingResult

PRESETS: dict[str, dict[str, Any]] = {
    "paper": {"k": 1500, "rounds": 10, "hard": 20_000, "scan": 1.0, "haar": None},
    "fast": {"k": 300, "rounds": 4, "hard": 10_000, "scan": 0.5, "haar": 20_000},
    "quick": {"k": 150, "rounds": 2, "hard": 4000, "scan": 0.34, "haar": 4000},
}
for _preset in PRESETS.values():
    _preset.update(random=20_000, refine=300, align=300, parts=0, regions=150, iterations=500)
PRESETS["quick"].update(random=8000, refine=0, align=200, parts=80, regions=0, iterations=250)

FEW_OBJECTS = 500
"""Fewer annotated objects than this are trained on with the quick preset, unless one is named."""


class Preset(StrEnum):
    """Sets of defaults."""

    auto = "auto"
    paper = "paper"
    fast = "fast"
    quick = "quick"


class LossName(StrEnum):
    """Losses, equations (6) to (8)."""

    lorenz = "lorenz"
    logistic = "logistic"
    huber = "huber"


def command(
    data: Annotated[Path, typer.Argument(help=PHOTOS_HELP)],
    out: Annotated[Path, typer.Option(help="Model file to write.", rich_help_panel="Output")],
    keypoint: Annotated[
        str | None,
        typer.Option(
            help="Keypoint to detect, or several with commas between them; all by default.",
            rich_help_panel="Data",
        ),
    ] = None,
    k: Annotated[
        int | None, typer.Option("-k", help="Features to select; 1500, 300 or 150.", rich_help_panel="Model")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(help="Rounds of mining; 10, 4 or 2.", rich_help_panel="Mining")
    ] = None,
    loss: Annotated[LossName, typer.Option(help="Loss.", rich_help_panel="Model")] = LossName.lorenz,
    preset: Annotated[
        Preset,
        typer.Option(
            help="The paper's setting, a fast or a quick one; the other options give their defaults in "
            f"this order. 'auto' is quick for fewer than {FEW_OBJECTS} objects, otherwise the paper's.",
            rich_help_panel="Model",
        ),
    ] = Preset.auto,
    run: Annotated[
        Path | None,
        typer.Option(
            help="Folder for checkpoints and the report; by default OUT with '.run'.",
            rich_help_panel="Output",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the run in the run folder.", rich_help_panel="Output")
    ] = False,
    hard: Annotated[
        int | None,
        typer.Option(
            help="Most hard negatives a round adds; 20000, 10000 or 4000.", rich_help_panel="Mining"
        ),
    ] = None,
    scan: Annotated[
        float | None,
        typer.Option(
            help="Share of the photos that a round scans; 1, 0.5 or 0.34.", rich_help_panel="Mining"
        ),
    ] = None,
    random: Annotated[
        int | None,
        typer.Option(
            help="Random negatives to begin with; 20000, or 8000 with quick.", rich_help_panel="Mining"
        ),
    ] = None,
    haar: Annotated[
        int | None,
        typer.Option(
            help="Haar features drawn at random to choose from; all 60939, 20000 or 4000.",
            rich_help_panel="Model",
        ),
    ] = None,
    refine: Annotated[
        int | None,
        typer.Option(
            help="Features of the regression that moves detections to the exact place; 300, or none: 0.",
            rich_help_panel="Model",
        ),
    ] = None,
    align: Annotated[
        int | None,
        typer.Option(
            help="Features of each stage that moves all keypoints of an object to their place; 300, or 200 "
            "with quick; 0: none.",
            rich_help_panel="Model",
        ),
    ] = None,
    parts: Annotated[
        int | None,
        typer.Option(
            help="Features by which each keypoint is told, at each zoom, from what else there is in its "
            "object or scene; none, or 80 with quick; 0: none.",
            rich_help_panel="Model",
        ),
    ] = None,
    regions: Annotated[
        int | None,
        typer.Option(
            help="Features of the classifier of whole objects that goes over photos first; 150, or none with "
            "quick; 0: photos are scanned for keypoints.",
            rich_help_panel="Model",
        ),
    ] = None,
    scale_by: Annotated[str, typer.Option(help=SCALE_BY_HELP, rich_help_panel="Data")] = "auto",
    angles: AnglesOption = None,
    size_range: Annotated[
        str,
        typer.Option(
            help="Sizes, in pixels of a pyramid level, at which positives are cut.", rich_help_panel="Data"
        ),
    ] = "20,40",
    validation: Annotated[
        float, typer.Option(help="Share of the photos that is held out.", rich_help_panel="Data")
    ] = 0.1,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.")] = 0,
    overwrite: OverwriteOption = False,
    cluster: ClusterOption = None,
) -> None:
    """Train a keypoint detector from annotated photos.

    Positives are cut around the annotation, negatives are mined from all photos in rounds. Where the
    annotated objects are turned every way, windows are cut upright, and photos are scanned at several angles.
    An interrupted run continues with --resume to the same model.
    """
    from ...datasets.photos.annotation_formats import read_annotations
    from ...models.cluster.lost import WorkersLostError
    from ...models.keypoints.training.checkpoints import RunFolder
    from ...models.keypoints.training.trainer import train_detector
    from ...models.whole_files import write_whole
    from ..arguments import angles as read_angles
    from ..arguments import keypoint_names, sized
    from ..cluster import on_cluster
    from ..output.training_report import RunFacts, describe_written, training_page
    from ..places import check_new_file
    from ..progress import Bars, warn, warn_of_problems
    from ..status import ExitStatus, exit_with
    from ..training_stages import training_stages
    from ..wording import count

    facts = RunFacts(out, data)
    check_new_file(out, overwrite or resume)
    names = None if keypoint is None else keypoint_names(keypoint)
    changed = {"k": k, "rounds": rounds, "hard": hard, "scan": scan, "haar": haar, "random": random}
    changed |= {"refine": refine, "align": align, "parts": parts, "regions": regions}
    turned = None if angles is None else read_angles(angles)
    photos = read_annotations(data)
    warn_of_problems(photos.problems)
    if preset is Preset.auto:
        preset = Preset.quick if photos.n_objects < FEW_OBJECTS else Preset.paper
    config = make_config(preset, changed, loss, size_range)
    config = replace(config, validation=validation, seed=seed, angles=turned)
    photos = sized(photos, scale_by)
    columns = {name: photos.keypoint_index(name) for name in names or _visible_names(photos)}
    folder = RunFolder(run or out.with_name(f"{out.name}.run"))
    if overwrite and not resume:
        folder.clear()
    rounds_done = len(list(folder.path.glob("round-*.safetensors"))) if resume else 0
    stages = training_stages(config, list(columns), rounds_done)
    with on_cluster(cluster), Bars(stages, log=folder.path / "train.log") as bars:
        try:
            result = train_detector(
                photos.photos, columns, config, run=folder, resume=resume, report=bars.update
            )
        except KeyboardInterrupt:
            message = f"interrupted; the same command with --resume continues the run in {folder.path}"
            raise exit_with(message, ExitStatus.INTERRUPTED) from None
        except WorkersLostError as error:
            raise WorkersLostError(
                f"{error}; the same command with --resume continues the run in {folder.path}"
            ) from None
    result.detector.save(out)
    report = folder.path / "report.html"
    write_whole(report, training_page(result, facts, photos).encode())
    warn_of_problems(result.problems)
    _print_summary(result)
    n_bad = len(photos.problems) + len(result.problems)
    problems = f"; {count(n_bad, 'problem')}" if n_bad else ""
    warn(f"{out}: written; {describe_written(result)}; report in {report}{problems}")


def _visible_names(photos: "PhotoSet") -> list[str]:
    """The keypoints that any photo shows, with a word on the others; all of them where none is."""
    from ..progress import warn

    shown = {k for photo in photos for k in photo.visible.any(axis=0).nonzero()[0].tolist()}
    names = [name for k, name in enumerate(photos.keypoint_names) if k in shown]
    if not names:
        return list(photos.keypoint_names)
    for name in photos.keypoint_names:
        if name not in names:
            warn(f"{name}: never visible, left out")
    return names


def make_config(preset: Preset, changed: dict[str, Any], loss: LossName, size_range: str) -> "TrainingConfig":
    """Return a preset, with whatever options change of it."""
    from ...models.keypoints.training.alignment_fitting import AlignConfig
    from ...models.keypoints.training.classifier_fitting import FitConfig
    from ...models.keypoints.training.config import TrainingConfig
    from ...models.keypoints.training.part_fitting import PartsConfig
    from ...models.keypoints.training.refinement_fitting import RefineConfig
    from ...models.keypoints.training.region_fitting import RegionConfig
    from ...models.keypoints.training.targets import TargetConfig

    chosen = PRESETS[preset.value] | {name: value for name, value in changed.items() if value is not None}
    return TrainingConfig(
        rounds=chosen["rounds"],
        n_hard=chosen["hard"],
        scanned=chosen["scan"],
        n_haar=chosen["haar"],
        n_random=chosen["random"],
        fit=FitConfig(k=chosen["k"], loss=loss.value, n_iter=chosen["iterations"]),
        targets=TargetConfig(size_range_px=_two_numbers(size_range)),
        refine=RefineConfig(k=chosen["refine"]),
        align=AlignConfig(k=chosen["align"]),
        parts=PartsConfig(k=chosen["parts"]),
        regions=RegionConfig(k=chosen["regions"]),
    )


def _two_numbers(text: str) -> tuple[float, float]:
    from ...features.errors import ParameterError

    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise ParameterError(f"--size-range is {text!r}; accepted are two numbers such as 20,40") from None
    return low, high


def _print_summary(result: "TrainingResult") -> None:
    """Print one line per keypoint, and seconds and rates by phase."""
    from ..output.training_report import describe_kept, describe_rates

    metadata, angles = result.detector.metadata, result.detector.angles
    for k, classifier in enumerate(result.detector.classifiers):
        print(
            f"{classifier.keypoint}: {len(classifier.pool)} features, {metadata['positives'][k]} positives, "
            f"{metadata['negatives'][k]} negatives; {describe_kept(result, k)}"
        )
    if len(angles) > 1:
        print("objects are turned: photos are scanned at " + ", ".join(f"{a:g}" for a in angles) + " degrees")
    print("seconds: " + ", ".join(f"{name} {value:.1f}" for name, value in result.phases.seconds.items()))
    for line in describe_rates(result.phases):
        print(line)
