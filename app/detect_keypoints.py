"""`annealed detect-keypoints`: find keypoints in photos."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import numpy as np

    from ..models.keypoints.detections import Detections
    from ..models.keypoints.detector import KeypointDetector


class Format(StrEnum):
    """How detections are written."""

    csv = "csv"
    json = "json"
    coco = "coco"


def command(
    photos: Annotated[list[str], typer.Argument(help="Photos, folders of photos, or patterns.")],
    model: Annotated[str, typer.Option(help="Model file, or the name of a model that ships.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for pictures with the detections drawn in, and for their file."),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="Format of the detections.")] = Format.csv,
    threshold: Annotated[
        float | None, typer.Option(help="Lowest score; by default each keypoint's own, chosen in training.")
    ] = None,
) -> None:
    """Find keypoints in photos; print them, or write them with pictures into a folder.

    Coordinates are pixels of the photo as a viewer shows it, pixel centres on integers. A photo that
    cannot be read is reported and skipped.
    """
    from ..features.errors import DataError
    from .arguments import load_detector
    from .detection_files import FORMATS, format_detections
    from .photo_inputs import find_photos, overlay_names
    from .progress import Bars, warn

    detector = load_detector(model)
    paths = find_photos(photos)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    results, skipped = [], 0
    with Bars() as bars:
        for i, (path, name) in enumerate(zip(paths, overlay_names(paths), strict=True)):
            bars.update("detecting", i, len(paths))
            try:
                image, detections = _detect(path, detector, threshold)
            except DataError as error:
                text = str(error)
                warn(text if str(path) in text else f"{path}: {text}")
                skipped += 1
                continue
            results.append((str(path), image.shape[:2], detections))
            if out is not None:
                _save_overlay(out / name, image, detections, detector)
        bars.update("detecting", len(paths), len(paths))
    if skipped == len(paths):
        raise DataError(f"none of the {len(paths)} photos could be used")
    text = format_detections(results, detector.keypoint_names, form.value)
    if out is None:
        print(text, end="")
    else:
        (out / f"detections.{FORMATS[form.value]}").write_text(text, encoding="utf-8")
    n_found = sum(len(detections) for _, _, detections in results)
    warn(f"{n_found} detections in {len(results)} photos" + (f", {skipped} skipped" if skipped else ""))


def _detect(
    path: Path, detector: "KeypointDetector", threshold: float | None
) -> tuple["np.ndarray", "Detections"]:
    from ..datasets.images import read_image

    image = read_image(path)
    return image, detector.detect(image, threshold=threshold)


def _save_overlay(
    path: Path, image: "np.ndarray", detections: "Detections", detector: "KeypointDetector"
) -> None:
    from PIL import Image

    from .overlay import draw_detections

    picture = draw_detections(image, detections, detector.keypoint_names, object_px=detector.object_px)
    Image.fromarray(picture).save(path)
