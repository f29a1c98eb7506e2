"""LabelMe: one JSON file a photo, with points, and rectangles as boxes.

Shapes that share a `group_id` are one object; those without stand with the photo's only object. A rectangle
labelled "ignore" is a region to ignore. A point with the flag "occluded" or "hidden" is hidden.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from ...features.errors import DataError
from .json_files import BAD_ITEM, file_name, read_json
from .photo_rows import BadRowError, PhotoRows, make_photo_set
from .photo_set import Photo, PhotoSet

HIDDEN_FLAGS = ("occluded", "hidden")


def is_labelme(document: Any) -> bool:
    """Whether a JSON document is LabelMe's of a photo."""
    return isinstance(document, dict) and isinstance(document.get("shapes"), list)


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
            document = read_json(file)
            if not is_labelme(document):
                raise DataError(f"{file}: not a file of LabelMe; expected is a list of 'shapes'")
            name = file_name(document.get("imagePath"))
            if name in photos:
                raise BadRowError(f"{name} is there twice; the first counts")
            photos[name] = PhotoRows()
            _add(photos[name], document["shapes"], names, problems, file.name)
        except DataError as error:
            problems.append(str(error))
        except BAD_ITEM as error:
            problems.append(f"{file.name}: {error}")
    folder = path if path.is_dir() else path.parent
    return make_photo_set(path, folder, photos, list(names), problems)


def _add(rows: PhotoRows, shapes: list[Any], names: dict[str, None], problems: list[str], where: str) -> None:
    for place, shape in enumerate(shapes, start=1):
        try:
            _add_shape(rows, shape, names)
        except BAD_ITEM as error:
            problems.append(f"{where} shape {place}: {error}")


def _add_shape(rows: PhotoRows, shape: dict[str, Any], names: dict[str, None]) -> None:
    label, kind = str(shape["label"]), shape.get("shape_type")
    group = shape.get("group_id")
    owner = "0" if group is None else str(group)
    points = np.array(shape["points"], dtype=np.float64).reshape(-1, 2)
    if not np.isfinite(points).all():
        raise BadRowError(f"{label} is at {shape['points']}, expected finite numbers")
    if kind == "point":
        (x, y) = points[0].tolist()
        flags = shape.get("flags") or {}
        rows.add(owner, label, (x, y), visible=not any(flags.get(flag) for flag in HIDDEN_FLAGS))
        names[label] = None
    elif kind == "rectangle":
        (x0, y0), (x1, y1) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
        if label == "ignore":
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
