"""`annealed rank-segmentations`: the motions of tracked points, from a video or from tracks."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..arguments import OverwriteOption

if TYPE_CHECKING:
    from ...models.motion import MotionRanker
    from ..output.motion_files import Input
    from ..progress import Bars


RANKER = "motion-ranker"
FORMATS = "csv", "npz", "napari", "masks"
ENDINGS = (
    ".tracks.csv",
    ".tracks.npz",
    ".napari.csv",
    ".candidates.csv",
    ".candidates.json",
    ".png",
    ".mp4",
    ".html",
)
"""Of the files that are written for each input."""


def command(
    inputs: Annotated[
        list[Path],
        typer.Argument(
            help="Videos, tracks (.mat as of Hopkins 155, .npz and .npy as of CoTracker and TAPIR, .csv), or "
            "folders of them."
        ),
    ],
    motions: Annotated[
        str, typer.Option(help="Number of motions, the background counted, or 'auto' to find it.")
    ] = "auto",
    model: Annotated[str, typer.Option(help="Ranker's file, or the name of one that ships.")] = "motions",
    out: Annotated[
        Path, typer.Option(help="Folder for labels, candidates and pictures; made if missing.")
    ] = Path("segmentations"),
    points: Annotated[int, typer.Option(help="Points to follow at a time in a video.")] = 600,
    start: Annotated[int, typer.Option(help="Frame of a video to begin at, from 0.")] = 0,
    frames: Annotated[int | None, typer.Option(help="Frames of a video to use; by default all.")] = None,
    formats: Annotated[
        str,
        typer.Option("--format", help="What is written of the labels: csv, npz, napari, masks, with commas."),
    ] = "csv",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Segment tracked points by their motion: rank candidate segmentations and take the best.

    Writes, for each input, the tracks with their labels (NAME.tracks.csv), all candidates with their scores
    (NAME.candidates.csv and .json), a page (NAME.html), a contact sheet (NAME.png) and, where there is a
    video, the video with the tracks drawn in (NAME.mp4). Points that are seen in a part of the clip take
    part; those that fit no motion are outliers, without a label. Long clips are segmented in windows that
    overlap. An input that cannot be used is reported and skipped.
    """
    import json

    from ...features.errors import AnnealedError, DataError, WriteError
    from ...models.model_files import load_model, resolve_model_path, shipped_models
    from ...models.motion import MotionRanker
    from ..output.motion_files import find_motion_inputs, read_input, summary_text
    from ..photo_inputs import check_not_replaced, overlay_names
    from ..places import results_folder
    from ..progress import Bars, warn
    from ..wording import count

    n_motions, kinds = _number(motions), _kinds(formats)
    ranker = load_model(resolve_model_path(model, RANKER))
    if not isinstance(ranker, MotionRanker):
        what, ours = type(ranker).__name__, " and ".join(shipped_models(RANKER))
        raise DataError(f"{model}: holds a {what}, not a ranker of segmentations; of those {ours} ship")
    inputs = find_motion_inputs(inputs)
    names = [Path(name).stem for name in overlay_names(inputs, flat=True)]
    check_not_replaced(inputs, [out / f"{name}{end}" for name in names for end in ENDINGS])
    documents: list[dict[str, Any]] = []
    with results_folder(out, overwrite):
        with Bars() as bars:
            for path, name in zip(inputs, names, strict=True):
                try:
                    source = read_input(
                        path, n_points=points, first_frame=start, n_frames=frames, report=bars.update
                    )
                    document = _segment(source, n_motions, kinds, ranker, out, name, bars)
                except WriteError:
                    raise  # the next would not fare better
                except AnnealedError as error:
                    text = str(error)
                    warn(text if str(path) in text else f"{path}: {text}")
                    continue
                documents.append(document)
                if not as_json:
                    print(summary_text(document))
        if not documents:
            raise DataError(f"no input of {len(inputs)} could be used")
        skipped = len(inputs) - len(documents)
        warn(f"{count(len(documents), 'input')} segmented" + (f", {skipped} skipped" if skipped else ""))
    if as_json:
        print(json.dumps(documents, indent=1))


def _number(motions: str) -> int | None:
    """Read the value of --motions; None for "auto"."""
    from ...features.errors import ParameterError

    if motions == "auto":
        return None
    if not motions.isdecimal():
        raise ParameterError(f"--motions is {motions!r}; accepted are whole numbers from 2, or auto")
    return int(motions)


def _kinds(formats: str) -> list[str]:
    """Read the value of --format."""
    from ...features.errors import ParameterError

    kinds = [kind.strip() for kind in formats.split(",")]
    if not set(kinds) <= set(FORMATS):
        raise ParameterError(f"--format is {formats!r}; accepted are {', '.join(FORMATS)}, with commas")
    return kinds


def _segment(
    source: "Input",
    n_motions: int | None,
    kinds: list[str],
    ranker: "MotionRanker",
    out: Path,
    name: str,
    bars: "Bars",
) -> dict[str, Any]:
    """Segment one input and write its files; return the summary."""
    from ...models.motion import segment
    from ...models.whole_files import whole_folder
    from ..output.motion_files import summary, write_results
    from ..output.motion_masks import write_masks
    from ..output.motion_overlay import TrackCanvas, save_overlays
    from ..output.motion_page import segmentation_page

    tracks = source.tracks
    result = segment(
        tracks.positions,
        tracks.visible,
        n_motions,
        ranker,
        report=lambda done, total: bars.update("segmenting, windows", done, total),
    )
    canvas = TrackCanvas(tracks, source.video)
    document = summary(source, result)
    with whole_folder(out) as folder:
        save_overlays(
            canvas,
            result.labels,
            video=folder / f"{name}.mp4" if source.video is not None else None,
            sheet=folder / f"{name}.png",
            report=lambda done, total: bars.update("drawing", done, total),
        )
        write_results(folder, name, source, result, kinds)
        video = Path(f"{name}.mp4") if source.video is not None else None
        page = segmentation_page(document, canvas.sheet(result.labels, words=False), video)
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    if "masks" in kinds:
        with whole_folder(out / f"{name}.masks") as folder:
            write_masks(
                folder, canvas, result.labels, report=lambda done, total: bars.update("masks", done, total)
            )
    return document
