"""`annealed detect-keypoints`: find keypoints in photos and videos."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..arguments import AnglesOption, DetectorOption, OverwriteOption, RawOption

if TYPE_CHECKING:
    from ..detection_run import Finder
    from ..output.detection_files import DetectionWriter

INPUTS_HELP = "Photos, videos, folders of them, or patterns; or the number or address of a camera."


class Format(StrEnum):
    """How detections are written."""

    csv = "csv"
    json = "json"
    coco = "coco"
    cvat = "cvat"
    label_studio = "label-studio"


def command(
    inputs: Annotated[
        list[str],
        typer.Argument(help=INPUTS_HELP),
    ],
    model: DetectorOption = "face",
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for pictures and videos with the detections drawn in, and for their file."),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="Format of the detections.")] = Format.csv,
    raw: RawOption = False,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Lowest score of an object, or of a single detection; by default what training chose."
        ),
    ] = None,
    angles: AnglesOption = None,
    every: Annotated[int, typer.Option(min=1, help="Of a video, use each N-th frame only.")] = 1,
    objects: Annotated[
        int | None,
        typer.Option(min=1, help="Of a video, follow the best N objects from frame to frame; see --track."),
    ] = None,
    track: Annotated[
        bool, typer.Option("--track", help="Follow whatever is found in videos from frame to frame.")
    ] = False,
    raw_tracks: Annotated[
        bool, typer.Option("--raw-tracks", help="Leave trajectories as found: not smoothed, gaps open.")
    ] = False,
    max_gap: Annotated[
        int, typer.Option(min=0, help="Frames without an object, in a row, that are filled in.")
    ] = 15,
    seconds: Annotated[
        float | None, typer.Option(min=0, help="End a camera after so long; q or Ctrl-C ends it too.")
    ] = None,
    save_crops: Annotated[
        bool,
        typer.Option("--save-crops", help="Into OUT/crops, a picture of every object, cut out of its photo."),
    ] = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Find objects and their keypoints (faces, with the model that ships); print or draw them.

    Coordinates are pixels of the photo or frame as a viewer shows it, pixel centres on integers; frames count
    from 0. Scores are log-odds of objects and of their keypoints; a keypoint that is only predicted from the
    others has none in CSV. A model of fewer than three keypoints finds single detections, as with --raw.

    --format cvat and label-studio write what was found as labels to be corrected by hand.

    With --out photos keep their size, format and folders. CSV has a row for each keypoint, in the order of
    the inputs, their frames, objects from the best to the worst, and the model's keypoints; image, frame,
    object and keypoint name it, and its object's score and box (x0, y0, x1, y1) are repeated in every row.

    A photo or video that cannot be read is reported and skipped. Videos are read and their detections written
    frame by frame; Ctrl-C ends the files with what was found by then.

    With --objects or --track the objects of a video are linked over time, smoothed, and short gaps filled
    and marked. Into the folder of --out (by default that of the video's name with '-tracks') go, for each
    video: the labelled video with trails, the trajectories as tidy CSV (NAME.tracks.csv), as DeepLabCut's
    CSV and H5 (NAMEDLC_annealed), as COCO keypoints, and a page (NAME.html). With --objects a frame is
    searched near the last poses only, and as a whole where one is lost.

    A camera (0, 1, ... or rtsp://...) is followed live, with a One-Euro filter: in a window where there is a
    display, and into --out; frames that come too fast are dropped, none waits, and the latency is shown.
    """
    from ...datasets.cameras import is_camera
    from ...features.errors import DataError, ParameterError
    from ..arguments import angles as read_angles
    from ..arguments import load_detector
    from ..detection_run import DetectionRun, Finder
    from ..photo_inputs import check_not_replaced, find_inputs, overlay_names
    from ..places import results_folder
    from ..progress import Bars, warn
    from ..status import ExitStatus, exit_with

    detector = load_detector(model)
    if angles is not None:
        detector = replace(detector, angles=read_angles(angles))
    finder = Finder(detector, threshold, raw)
    if any(is_camera(text) and not Path(text).exists() for text in inputs):
        with ExitStack() as stack:
            if out is not None:
                stack.enter_context(results_folder(out, overwrite))
            _follow_camera(inputs, finder, objects, out, seconds)
        return
    paths = find_inputs(inputs)
    names = overlay_names(paths)
    tracking = track or objects is not None
    if tracking and out is None:
        out = Path(f"{paths[0].stem}-tracks")
    if out is not None:
        check_not_replaced(paths, [out / name for name in names])
    elif save_crops:
        raise ParameterError("--save-crops needs a folder to save them in: --out")
    with ExitStack() as stack:
        if out is not None:
            stack.enter_context(results_folder(out, overwrite))
            out.mkdir(parents=True, exist_ok=True)
        with Bars() as bars:
            run = DetectionRun(finder, paths, every, bars)
            if tracking:
                from ..track_run import TrackOptions, TrackRun

                run = TrackRun(finder, paths, every, bars, TrackOptions(objects, not raw_tracks, max_gap))
            try:
                with _writer(out, form, finder.detector.keypoint_names) as writer:
                    for path, name in zip(paths, names, strict=True):
                        run.crops = out / "crops" / name if out is not None and save_crops else None
                        run.detect(path, writer, None if out is None else out / name)
                    if writer.n_pictures == 0:
                        raise DataError(f"none of the {len(paths)} photos and videos could be used")
            except KeyboardInterrupt:
                raise exit_with(f"interrupted; {run.summary()}", ExitStatus.INTERRUPTED) from None
        warn(run.summary())


def _follow_camera(
    inputs: list[str], finder: "Finder", objects: int | None, out: Path | None, seconds: float | None
) -> None:
    """Follow objects live."""
    from ...features.errors import DataError
    from ...models.keypoints.videos.tracker import ObjectTracker
    from ..live_run import run_live
    from ..photo_inputs import overlay_names

    if len(inputs) > 1:
        raise DataError(f"a camera is followed alone, got {len(inputs)} inputs")
    tracker = ObjectTracker(finder.detector, objects, finder.threshold, finder.raw, record=False)
    (video_name,) = overlay_names([Path("live.mp4")])
    run_live(tracker, inputs[0], out, video_name, seconds)


@contextmanager
def _writer(out: Path | None, form: Format, keypoints: tuple[str, ...]) -> Iterator["DetectionWriter"]:
    """What writes detections to stdout, or to a file in a folder."""
    from ...models.whole_files import whole_file
    from ..output.detection_files import SUFFIXES, WRITERS

    writers, suffixes = WRITERS, SUFFIXES
    if form.value not in writers:
        from ..output.preannotation_files import PREANNOTATION_SUFFIXES, PREANNOTATION_WRITERS

        writers, suffixes = PREANNOTATION_WRITERS, PREANNOTATION_SUFFIXES
    if out is None:
        with writers[form.value](sys.stdout, keypoints) as writer:
            yield writer
        return
    path = out / f"detections.{suffixes[form.value]}"
    with (
        whole_file(path, keep_interrupted=True) as temporary,
        temporary.open("w", encoding="utf-8", errors="backslashreplace") as stream,
        writers[form.value](stream, keypoints) as writer,
    ):
        yield writer
