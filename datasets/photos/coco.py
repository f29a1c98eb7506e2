"""COCO keypoints: one JSON file, and a folder of photos.

Coordinates are x, y with pixel centres on integers, visibility 0 (not annotated), 1 (hidden), 2 (seen).
A category without keypoint names is read by the number of its points: 21 or 19 are AFLW's. Annotations
with `iscrowd` are regions to ignore. Segmentations are passed over.
"""

import json
import os
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from ...features.errors import DataError
from ...features.schemas import Identity, Name, Schema
from ..numbers import BadRowError
from .images import read_image_size
from .json_files import read_json
from .keypoint_schemes import names_for
from .photo_rows import PhotoRows, make_photo_set
from .photo_set import PhotoSet
from .pixel_schemas import Position, Side, each_valid


def read_coco(path: str | os.PathLike) -> PhotoSet:
    """Read a COCO keypoints file.

    Parameters
    ----------
    path : path-like
        The JSON file. Photos are looked for beside it and in `images/`.

    Returns
    -------
    PhotoSet
    """
    path = Path(path)
    document = _load(path)
    photos: dict[str, PhotoRows] = {}
    problems: list[str] = []
    files: dict[Identity, str] = {}
    for _, image in each_valid(_Image, document["images"], f"{path.name} image", problems):
        files[image.id] = image.file_name
        rows = photos.setdefault(image.file_name, PhotoRows())
        if image.width is not None and image.height is not None:
            rows.size_stated = image.height, image.width
    categories = each_valid(_Category, document.get("categories", []), f"{path.name} category", problems)
    schemes = {category.id: category.keypoints for _, category in categories}
    names: dict[str, None] = {}
    where = f"{path.name} annotation"
    for place, annotation in each_valid(_Annotation, document["annotations"], where, problems):
        try:
            if annotation.image_id not in files:
                raise BadRowError(f"image_id {annotation.image_id!r} is none of the images")
            scheme = schemes.get(annotation.category_id) or []
            _add(photos[files[annotation.image_id]], annotation, scheme, names)
        except BadRowError as error:
            problems.append(f"{f'{where} {annotation.id}' if annotation.id else place}: {error}")
    return make_photo_set(path, path.parent, photos, list(names), problems)


class _Image(Schema):
    id: Identity
    file_name: Name
    width: Side | None = None
    height: Side | None = None


class _Category(Schema):
    id: Identity | None = None
    keypoints: list[Name] | None = None


class _Annotation(Schema):
    id: Identity | None = None
    image_id: Identity
    category_id: Identity | None = None
    iscrowd: int | bool | None = 0
    bbox: list[Position] | None = None
    keypoints: list[Position] | None = None
    eye_distance: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    original: Name | None = None


def _load(path: Path) -> dict[str, Any]:
    document = read_json(path)
    if not isinstance(document, dict) or not all(
        isinstance(document.get(key), list) for key in ("images", "annotations")
    ):
        raise DataError(f"{path}: not a COCO file; it needs the lists 'images' and 'annotations'")
    if not isinstance(document.get("categories", []), list):
        raise DataError(f"{path}: not a COCO file; 'categories' must be a list")
    return document


def _add(rows: PhotoRows, annotation: _Annotation, scheme: list[str], names: dict[str, None]) -> None:
    """Add one annotation to its photo, and the names of its points to `names`."""
    box = _box(annotation)
    if annotation.iscrowd:
        if box is None:
            raise BadRowError("a crowd without a bbox")
        rows.ignore.append(box)
        return
    values = annotation.keypoints or []
    n_points, left = divmod(len(values), 3)
    if left:
        raise BadRowError(f"{len(values)} numbers for keypoints, expected x, y and visibility of each")
    if len(scheme) != n_points:
        known = names_for(n_points)
        if scheme or known is None:
            raise BadRowError(f"{n_points} keypoints; its category names {len(scheme)}")
        scheme = list(known)
    owner = str(len(rows.points))
    rows.points[owner] = {}
    if box is not None:
        rows.boxes[owner] = box
    if annotation.eye_distance is not None:
        rows.sizes[owner] = annotation.eye_distance
    if annotation.original:
        rows.originals[owner] = annotation.original
    names.update(dict.fromkeys(scheme))
    for i, keypoint in enumerate(scheme):
        x, y, visibility = values[3 * i : 3 * i + 3]
        if visibility > 0:
            rows.add(owner, keypoint, (x, y), visible=visibility > 1)


def _box(annotation: _Annotation) -> tuple[float, float, float, float] | None:
    """x0, y0, x1, y1 of x, y, width, height."""
    if not annotation.bbox:
        return None
    if len(annotation.bbox) != 4 or min(annotation.bbox[2:]) < 0:
        raise BadRowError(f"bbox is {annotation.bbox[:8]}, expected x, y, width, height")
    x, y, width, height = annotation.bbox
    return x, y, x + width, y + height


def format_coco(photos: PhotoSet) -> str:
    """Return a set as the text of a COCO keypoints file.

    Sizes and origins of objects, for which COCO has no place, are `eye_distance` and `original`.
    """
    document: dict[str, Any] = {
        "images": [],
        "annotations": [],
        "categories": [{"id": 1, "name": "object", "keypoints": list(photos.keypoint_names), "skeleton": []}],
    }
    for image_id, photo in enumerate(photos, start=1):
        source = photo.source
        height, width = source.shape[:2] if isinstance(source, np.ndarray) else read_image_size(source)
        document["images"].append({"id": image_id, "file_name": photo.name, "width": width, "height": height})
        for i in range(len(photo.object_names)):
            known = np.isfinite(photo.points[i]).all(axis=1)
            flat: list[float | int] = []
            for (x, y), is_known, is_visible in zip(
                photo.points[i].tolist(), known.tolist(), photo.visible[i].tolist(), strict=True
            ):
                flat += [x, y, 2 if is_visible else 1] if is_known else [0, 0, 0]
            more: dict[str, Any] = {}
            if np.isfinite(photo.sizes[i]):
                more["eye_distance"] = float(photo.sizes[i])
            if photo.originals and photo.originals[i]:
                more["original"] = photo.originals[i]
            _append(
                document, image_id, photo.boxes[i], keypoints=flat, num_keypoints=int(known.sum()), **more
            )
        for region in photo.ignore:
            _append(document, image_id, region, iscrowd=1)
    return json.dumps(document) + "\n"


def _append(document: dict[str, Any], image_id: int, box: np.ndarray, **values: Any) -> None:
    annotations = document["annotations"]
    annotation = {"id": len(annotations) + 1, "image_id": image_id, "category_id": 1, "iscrowd": 0, **values}
    if np.isfinite(box).all():
        x0, y0, x1, y1 = box.tolist()
        annotation["bbox"] = [x0, y0, x1 - x0, y1 - y0]
        annotation["area"] = (x1 - x0) * (y1 - y0)
    annotations.append(annotation)
