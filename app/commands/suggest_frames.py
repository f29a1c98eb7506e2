"""`annealed suggest-frames`: which frames of videos to label next."""

from pathlib import Path
from typing import Annotated

import typer

from ..arguments import OverwriteOption


def command(
    videos: Annotated[list[Path], typer.Argument(help="Videos.")],
    model: Annotated[str, typer.Option(help="Model file, or the name of a model that ships.")] = "face",
    n: Annotated[int, typer.Option("-n", min=1, help="Frames of each video.")] = 20,
    out: Annotated[Path, typer.Option(help="Folder to write.")] = Path("suggested-frames"),
    objects: Annotated[
        int | None, typer.Option(min=1, help="Objects in the videos; by default whatever is found.")
    ] = None,
    every: Annotated[
        int | None, typer.Option(min=1, help="Look at each N-th frame; by default at about 1500 of a video.")
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Single detections, of one object.")] = False,
    scorer: Annotated[str, typer.Option(help="Name of who labels, in DeepLabCut's files.")] = "annealed",
    seed: Annotated[int, typer.Option(help="Seed of the clustering.")] = 0,
    overwrite: OverwriteOption = False,
) -> None:
    """Choose the frames on which the model is least sure or jumps, spread over the clip and appearances.

    Into the folder go the pictures, and the model's keypoints, to be corrected by hand: as a DeepLabCut
    project (labeled-data/VIDEO/, which napari-deeplabcut opens), COCO (annotations.json), CVAT
    (annotations.xml) and Label Studio (label-studio.json and its labelling interface). Keypoints that
    the model is not sure of are left out. When it is corrected, `train-detector` reads the folder as it is.
    """
    from ...features.errors import DataError
    from ..arguments import load_detector
    from ..frame_suggestion import Suggester
    from ..output.suggested_frames import write_suggested
    from ..places import check_new_folder, results_folder
    from ..progress import Bars, warn
    from ..wording import count

    detector = load_detector(model)
    check_new_folder(out, overwrite)
    with Bars() as bars:
        suggester = Suggester(detector, objects, raw=raw, every=every, seed=seed, bars=bars)
        suggested = []
        for path in videos:
            try:
                suggested += suggester.suggest(path, n)
            except DataError as error:
                warn(str(error) if str(path) in str(error) else f"{path}: {error}")
    if not suggested:
        raise DataError(f"none of the {len(videos)} videos could be used")
    with results_folder(out, overwrite):
        write_suggested(suggested, detector.keypoint_names, out, scorer)
    for frame in suggested:
        print(f"{frame.name}\t{frame.priority:.3f}")
    warn(f"{count(len(suggested), 'frame')}; correct their keypoints before they are trained on")
