"""`annealed convert`: annotated photos from one format into another."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..arguments import OverwriteOption


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


class Images(StrEnum):
    """What becomes of the photos."""

    none = "none"
    copy = "copy"
    link = "link"


def command(
    source: Annotated[Path, typer.Argument(help="Annotation: a file, or a folder.")],
    out: Annotated[
        Path, typer.Argument(help="File, or folder (csv, deeplabcut, labelme, yolo-pose), to write.")
    ],
    to: Annotated[Target, typer.Option("--to", help="Format to write.")] = Target.csv,
    form: Annotated[
        Source | None, typer.Option("--from", help="Format to read; told from the file by default.")
    ] = None,
    images: Annotated[
        Images,
        typer.Option("--images", help="Put the photos beside the annotation: copies, or links to them."),
    ] = Images.none,
    overwrite: OverwriteOption = False,
    force: Annotated[bool, typer.Option("--force", hidden=True)] = False,
) -> None:
    """Convert the annotation of photos from one format into another.

    Read are COCO, AFLW, 300-W, imglab, CVAT, DeepLabCut (projects, CSV, H5), SLEAP, Label Studio, LabelMe,
    YOLO-pose, lists of opencv_annotation (boxes) and our own CSV.

    Photos stay where they are unless --images puts them where the new annotation looks for them. What cannot
    be used is reported and left out.
    """
    from ...datasets.photos.annotation_formats import read_annotations
    from ...features.errors import DataError
    from ..output.annotation_files import check_not_source, would_replace, write_annotations
    from ..output.placed_photos import place_photos
    from ..progress import warn, warn_of_problems
    from ..wording import count

    there = would_replace(out, to.value)
    check_not_source(source, there or out)
    if force:
        warn("--force is called --overwrite now, and will go")
    if there is not None and not (overwrite or force):
        raise DataError(f"{there}: is there already; --overwrite replaces it")
    photos = read_annotations(source, None if form is None else form.value)
    warn_of_problems(photos.problems)
    n_placed = 0
    if images is not Images.none:
        n_placed = place_photos(
            photos, out, to.value, copy=images is Images.copy, overwrite=overwrite or force
        )
    write_annotations(photos, out, to.value)
    print(
        f"{count(len(photos), 'photo')}, {count(photos.n_objects, 'object')}, "
        f"{count(len(photos.keypoint_names), 'keypoint')}: " + ", ".join(photos.keypoint_names)
    )
    placed = f", with {count(n_placed, 'photo')}" if n_placed else ""
    warn(
        f"{out}: written{placed}" + (f"; {count(len(photos.problems), 'problem')}" if photos.problems else "")
    )
