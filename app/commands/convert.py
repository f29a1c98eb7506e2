"""`annealed convert`: annotated photos from one format into another."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

OUT_HELP = "File to write, or folder: csv, deeplabcut, labelme, yolo-pose."


class Source(StrEnum):
    """Formats that are read."""

    csv = "csv"
    coco = "coco"
    aflw = "aflw"
    aflw_mat = "aflw-mat"
    pts = "pts"
    imglab = "imglab"
    cvat = "cvat"
    deeplabcut = "deeplabcut"
    sleap = "sleap"
    label_studio = "label-studio"
    labelme = "labelme"
    yolo_pose = "yolo-pose"
    opencv = "opencv"


class Target(StrEnum):
    """Formats that are written."""

    csv = "csv"
    coco = "coco"
    cvat = "cvat"
    deeplabcut = "deeplabcut"
    label_studio = "label-studio"
    labelme = "labelme"
    opencv = "opencv"
    sleap = "sleap"
    yolo_pose = "yolo-pose"


def command(
    source: Annotated[Path, typer.Argument(help="Annotation: a file, or a folder.")],
    out: Annotated[
        Path, typer.Argument(help="File, or folder (csv, deeplabcut, labelme, yolo-pose), to write.")
    ],
    to: Annotated[Target, typer.Option("--to", help="Format to write.")] = Target.csv,
    form: Annotated[
        Source | None, typer.Option("--from", help="Format to read; told from the file by default.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is at OUT.")] = False,
) -> None:
    """Convert the annotation of photos from one format into another.

    Read are COCO, AFLW, 300-W, imglab, CVAT, DeepLabCut (projects, CSV, H5), SLEAP, Label Studio, LabelMe,
    YOLO-pose, lists of opencv_annotation (boxes) and our own CSV.

    The photos are not copied: they stay where they are, or are put into OUT/images by hand. What cannot
    be used is reported and left out.
    """
    from ...datasets.photos.annotation_formats import read_annotations
    from ...features.errors import DataError
    from ..output.annotation_files import check_not_source, would_replace, write_annotations
    from ..progress import warn, warn_of_problems

    there = would_replace(out, to.value)
    check_not_source(source, there or out)
    if there is not None and not force:
        raise DataError(f"{there}: is there already; --force replaces it")
    photos = read_annotations(source, None if form is None else form.value)
    warn_of_problems(photos.problems)
    write_annotations(photos, out, to.value)
    print(
        f"{len(photos)} photos, {photos.n_objects} objects, {len(photos.keypoint_names)} keypoints: "
        + ", ".join(photos.keypoint_names)
    )
    warn(f"{out}: written" + (f"; {len(photos.problems)} problems" if photos.problems else ""))
