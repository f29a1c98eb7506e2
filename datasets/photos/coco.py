"""COCO keypoints: one JSON file, and a folder of photos.

Coordinates are x, y with pixel centres on integers, visibility 0 (not annotated), 1 (hidden), 2 (seen).
A category without keypoint names is read by the number of its points: 21 or 19 are AFLW's. Annotations
with `iscrowd` are regions to ignore. Segmentations are passed over.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from ...features.errors import DataError
from .images import read_image_size
from .keypoint_schemes import names_for
from .photo_rows import BadRowError, PhotoRows, make_photo_set
from .photo_set import PhotoSet


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
    files = {}
    for image in document["images"]:
        name = str(image.get("file_name", ""))
        files[image.get("id")] = name
        rows = photos.setdefault(name, PhotoRows())
        if "width" in image and "height" in image:
            rows.size_stated = int(image["height"]), int(image["width"])
    schemes = {c.get("id"): [str(n) for n in c.get("keypoints", [])] for c in document.get("categories", [])}
    names: dict[str, None] = {}
    for number, annotation in enumerate(document["annotations"], start=1):
        where = f"{path.name} annotation {annotation.get('id', number)}"
        try:
            image_id = annotation.get("image_id")
            if image_id not in files:
                raise BadRowError(f"image_id {image_id!r} is none of the images")
            _add(photos[files[image_id]], annotation, schemes.get(annotation.get("category_id"), []), names)
        except (BadRowError, TypeError, ValueError) as error:
            problems.append(f"{where}: {error}")
    return make_photo_set(path, path.parent, photos, list(names), problems)


def _load(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(f"{path}: not JSON ({error})") from None
    if not isinstance(document, dict) or not all(
        isinstance(document.get(key), list) for key in ("images", "annotations")
    ):
        raise DataError(f"{path}: not a COCO file; it needs the lists 'images' and 'annotations'")
    return document


def _add(rows: PhotoRows, annotation: dict[str, Any], scheme: list[str], names: dict[str, None]) -> None:
    """Add one annotation to its photo, and the names of its points to `names`."""
    box = _box(annotation)
    if annotation.get("iscrowd"):
        if box is None:
            raise BadRowError("a crowd without a bbox")
        rows.ignore.append(box)
        return
    values = np.array(annotation.get("keypoints", []), dtype=np.float64).reshape(-1, 3)
    if len(scheme) != len(values):
        known = names_for(len(values))
        if scheme or known is None:
            raise BadRowError(f"{len(values)} keypoints; its category names {len(scheme)}")
        scheme = list(known)
    owner = str(len(rows.points))
    rows.points[owner] = {}
    if box is not None:
        rows.boxes[owner] = box
    names.update(dict.fromkeys(scheme))
    for keypoint, (x, y, visibility) in zip(scheme, values, strict=True):
        if visibility > 0:
            rows.add(owner, keypoint, (float(x), float(y)), visible=visibility > 1)


def _box(annotation: dict[str, Any]) -> tuple[float, float, float, float] | None:
    """x0, y0, x1, y1 of x, y, width, height."""
    if not annotation.get("bbox"):
        return None
    x, y, width, height = (float(value) for value in annotation["bbox"])
    if not np.isfinite([x, y, width, height]).all() or width < 0 or height < 0:
        raise BadRowError(f"bbox is {annotation['bbox']}, expected x, y, width, height")
    return x, y, x + width, y + height


def format_coco(photos: PhotoSet) -> str:
    """Return a set as the text of a COCO keypoints file; sizes of objects have no place in it."""
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
            _append(document, image_id, photo.boxes[i], keypoints=flat, num_keypoints=int(known.sum()))
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
