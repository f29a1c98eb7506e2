"""LabelMe: one JSON file a photo, with points, and rectangles as boxes.

Shapes that share a `group_id` are one object; those without stand with the photo's only object. A rectangle
labelled "ignore" is a region to ignore. A point with the flag "occluded" or "hidden" is hidden.
"""

import json
import os
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from ...features.errors import DataError
from ...features.schemas import Identity, Name, Schema, SchemaError, validated
from ..numbers import BadRowError
from .json_files import file_name, read_json
from .photo_rows import PhotoRows, make_photo_set
from .photo_set import Photo, PhotoSet
from .pixel_schemas import Position, each_valid

HIDDEN_FLAGS = ("occluded", "hidden")


class _Shape(Schema):
    label: Name
    points: Annotated[list[tuple[Position, Position]], Field(min_length=1)]
    group_id: Identity | None = None
    shape_type: Name | None = None
    flags: dict[str, Any] | None = None


class _Document(Schema):
    imagePath: Name  # noqa: N815 (LabelMe's)
    shapes: list[Any]


def read_labelme(path: str | os.PathLike) -> PhotoSet:
    """Read LabelMe's files.

    Parameters
    ----------
    path : path-like
        A folder of JSON files, or one of them; photos are looked for by their names beside them, and in
        `images/`.

    Returns
    -------
    PhotoSet
    """
    path = Path(path)
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise DataError(f"{path}: no JSON file in this folder")
    photos: dict[str, PhotoRows] = {}
    problems: list[str] = []
    names: dict[str, None] = {}
    for file in files:
        try:
            document = validated(_Document, read_json(file))
            name = file_name(document.imagePath)
            if name in photos:
                raise BadRowError(f"{name} is there twice; the first counts")
        except DataError as error:
            problems.append(str(error))
        except SchemaError as error:
            problems.append(f"{file.name}: not a file of LabelMe ({error})")
        except BadRowError as error:
            problems.append(f"{file.name}: {error}")
        else:
            photos[name] = PhotoRows()
            _add(photos[name], document.shapes, names, problems, file.name)
    folder = path if path.is_dir() else path.parent
    return make_photo_set(path, folder, photos, list(names), problems)


def _add(rows: PhotoRows, shapes: list[Any], names: dict[str, None], problems: list[str], where: str) -> None:
    for place, shape in each_valid(_Shape, shapes, f"{where} shape", problems):
        try:
            _add_shape(rows, shape, names)
        except BadRowError as error:
            problems.append(f"{place}: {error}")


def _add_shape(rows: PhotoRows, shape: _Shape, names: dict[str, None]) -> None:
    owner = "0" if shape.group_id is None else str(shape.group_id)
    if shape.shape_type == "point":
        flags = shape.flags or {}
        rows.add(
            owner, shape.label, shape.points[0], visible=not any(flags.get(flag) for flag in HIDDEN_FLAGS)
        )
        names[shape.label] = None
    elif shape.shape_type == "rectangle":
        points = np.array(shape.points)
        (x0, y0), (x1, y1) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
        if shape.label == "ignore":
            rows.ignore.append((x0, y0, x1, y1))
        else:
            rows.points.setdefault(owner, {})
            rows.boxes[owner] = x0, y0, x1, y1


def format_labelme(photo: Photo, names: tuple[str, ...], size: tuple[int, int]) -> str:
    """Return a photo's annotation as LabelMe's file beside it."""
    shapes: list[dict[str, Any]] = []
    for n in range(len(photo.object_names)):
        if np.isfinite(photo.boxes[n]).all():
            shapes.append(_shape("object", "rectangle", photo.boxes[n].reshape(2, 2), n, {}))
        for k in np.flatnonzero(np.isfinite(photo.points[n]).all(axis=1)).tolist():
            flags = {} if photo.visible[n, k] else {HIDDEN_FLAGS[0]: True}
            shapes.append(_shape(names[k], "point", photo.points[n, k : k + 1], n, flags))
    shapes += [_shape("ignore", "rectangle", region.reshape(2, 2), None, {}) for region in photo.ignore]
    document: dict[str, Any] = {
        "version": "5.4.1",
        "flags": {},
        "shapes": shapes,
        "imagePath": file_name(photo.name),
        "imageData": None,
        "imageHeight": size[0],
        "imageWidth": size[1],
    }
    return json.dumps(document, indent=1) + "\n"


def _shape(label: str, kind: str, points: np.ndarray, group: int | None, flags: dict[str, bool]) -> dict:
    return {
        "label": label,
        "points": points.tolist(),
        "group_id": group,
        "shape_type": kind,
        "flags": flags,
    }
