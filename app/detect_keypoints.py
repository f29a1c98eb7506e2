"""`annealed detect-keypoints`: find keypoints in photos."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import numpy as np

    from ..models.keypoints.detector import KeypointDetector
    from .detection_files import Found


class Format(StrEnum):
    """How detections are written."""

    csv = "csv"
    json = "json"
    coco = "coco"


def command(
    photos: Annotated[list[str], typer.Argument(help="Photos, folders of photos, or patterns.")],
    model: Annotated[
        str,
        typer.Option(
            help="Model file, or the name of a model that ships ('face': research use only, see its card)."
        ),
    ] = "face",
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for pictures with the detections drawn in, and for their file."),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="Format of the detections.")] = Format.csv,
    raw: Annotated[
        bool, typer.Option("--raw", help="Single detections, whether they make up a face or not.")
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Lowest score of a face, or of a single detection; by default what training chose."
        ),
    ] = None,
) -> None:
    """Find faces (or other objects) and their keypoints in photos; print them, or write them with pictures.

    Coordinates are pixels of the photo as a viewer shows it, pixel centres on integers. Scores are log-odds
    of faces and of their keypoints; a keypoint that is only predicted from the others has none in CSV.
    A model of fewer than three keypoints finds single detections, as with --raw. A photo that cannot be
    read is reported and skipped.
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
                image, found = _detect(path, detector, threshold, raw)
            except DataError as error:
                text = str(error)
                warn(text if str(path) in text else f"{path}: {text}")
                skipped += 1
                continue
            results.append((str(path), image.shape[:2], found))
            if out is not None:
                _save_overlay(out / name, image, found, detector)
        bars.update("detecting", len(paths), len(paths))
    if skipped == len(paths):
        raise DataError(f"none of the {len(paths)} photos could be used")
    text = format_detections(results, detector.keypoint_names, form.value)
    if out is None:
        print(text, end="")
    else:
        (out / f"detections.{FORMATS[form.value]}").write_text(text, encoding="utf-8")
    n_found = sum(len(found) for _, _, found in results)
    what = "detections" if raw or detector.face_model is None else "faces"
    warn(f"{n_found} {what} in {len(results)} photos" + (f", {skipped} skipped" if skipped else ""))


def _detect(
    path: Path, detector: "KeypointDetector", threshold: float | None, raw: bool
) -> tuple["np.ndarray", "Found"]:
    from ..datasets.images import read_image

    image = read_image(path)
    if raw or detector.face_model is None:
        return image, detector.detect(image, threshold=threshold, raw=True)
    return image, detector.detect_faces(image, threshold=threshold)


def _save_overlay(path: Path, image: "np.ndarray", found: "Found", detector: "KeypointDetector") -> None:
    from PIL import Image

    from ..models.keypoints.faces import Faces
    from .overlay import draw_detections, draw_faces

    if isinstance(found, Faces):
        picture = draw_faces(image, found)
    else:
        picture = draw_detections(image, found, detector.keypoint_names, object_px=detector.object_px)
    Image.fromarray(picture).save(path)
