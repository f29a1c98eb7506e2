"""Label Studio: a JSON list of tasks, with keypoints and boxes in percent of the picture's width and height.

Keypoints belong to the box that is their parent; without parents, to the only box, or to the smallest
box that holds them; without boxes, to the only object of the picture. A box labelled "ignore" is a region
to ignore. Of several annotations of a task the first that was not cancelled counts.
"""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from ...features.errors import DataError
from .json_files import BAD_ITEM, file_name, number, read_json
from .photo_rows import BadRowError, PhotoRows, make_photo_set
from .photo_set import Photo, PhotoSet

ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp")
LOCAL_FILES = "/data/local-files/?d="
KEYPOINT_PX = 0.5  # percent; how wide Label Studio draws a keypoint
_UPLOADED = re.compile(r"^[0-9a-f]{8}-(?=.)")


def is_label_studio(document: Any) -> bool:
    """Whether a JSON document is a list of tasks."""
    return isinstance(document, list) and any(
        isinstance(task, dict) and isinstance(task.get("data"), dict) for task in document
    )


def read_label_studio(path: str | os.PathLike) -> PhotoSet:
    """Read a JSON export of Label Studio.

    Parameters
    ----------
    path : path-like
        The JSON file. Photos are looked for by their names beside it and in `images/`; the eight letters
        that Label Studio puts before the name of an uploaded file may be there or not.

    Returns
    -------
    PhotoSet
    """
    path = Path(path)
    document = read_json(path)
    if not is_label_studio(document):
        raise DataError(f"{path}: not an export of Label Studio; expected is a list of tasks with 'data'")
    photos: dict[str, PhotoRows] = {}
    problems: list[str] = []
    names: dict[str, None] = {}
    for place, task in enumerate(document, start=1):
        where = f"{path.name} task {place}"
        try:
            name = _photo_name(task["data"], path.parent)
            if name in photos:
                raise BadRowError(f"{name} is there twice; the first counts")
            result = _result(task)
            if result is not None:
                photos[name] = PhotoRows()
                _add(photos[name], result, names, problems, where)
        except BAD_ITEM as error:
            problems.append(f"{where}: {error or type(error).__name__}")
    return make_photo_set(path, path.parent, photos, list(names), problems)


def _photo_name(data: dict[str, Any], folder: Path) -> str:
    """The picture's file name: of the value that looks like one."""
    for value in data.values():
        if not isinstance(value, str):
            continue
        text = unquote(value.split("?d=", 1)[-1])
        name = file_name(text)
        if name.lower().endswith(ENDINGS):
            plain = _UPLOADED.sub("", name)
            there = any((place / name).is_file() for place in (folder, folder / "images"))
            return name if there else plain
    raise BadRowError("names no picture")


def _result(task: dict[str, Any]) -> list[dict[str, Any]] | None:
    for annotation in task.get("annotations") or []:
        if not annotation.get("was_cancelled"):
            return list(annotation.get("result") or [])
    return None  # not labelled yet


def _add(
    rows: PhotoRows, result: list[dict[str, Any]], names: dict[str, None], problems: list[str], where: str
) -> None:
    boxes: dict[str, tuple[float, float, float, float]] = {}
    for region in result:
        if region.get("type") != "rectanglelabels":
            continue
        box = _box(region)
        if region["value"]["rectanglelabels"] == ["ignore"]:
            rows.ignore.append(box)
        else:
            boxes[str(region.get("id"))] = box
    for owner, box in boxes.items():
        rows.points[owner] = {}
        rows.boxes[owner] = box
    for region in result:
        if region.get("type") != "keypointlabels":
            continue
        try:
            (keypoint,) = region["value"]["keypointlabels"]
            width, height = _size(region)
            x = number(region["value"], "x") * width / 100
            y = number(region["value"], "y") * height / 100
            names[str(keypoint)] = None
            rows.add(_owner(region, (x, y), boxes), str(keypoint), (x, y))
        except BAD_ITEM as error:
            problems.append(f"{where}: {error}")


def _owner(region: dict[str, Any], point: tuple[float, float], boxes: dict[str, tuple]) -> str:
    if region.get("parentID") in boxes:
        return str(region["parentID"])
    if len(boxes) < 2:
        return next(iter(boxes), "0")
    x, y = point
    around = [owner for owner, (x0, y0, x1, y1) in boxes.items() if x0 <= x <= x1 and y0 <= y <= y1]
    if not around:
        raise BadRowError(f"{region['value']['keypointlabels'][0]} lies in none of {len(boxes)} boxes")
    return min(around, key=lambda o: (boxes[o][2] - boxes[o][0]) * (boxes[o][3] - boxes[o][1]))


def _size(region: dict[str, Any]) -> tuple[float, float]:
    return number(region, "original_width"), number(region, "original_height")


def _box(region: dict[str, Any]) -> tuple[float, float, float, float]:
    width, height = _size(region)
    value = region["value"]
    x0, y0 = number(value, "x") * width / 100, number(value, "y") * height / 100
    x1, y1 = x0 + number(value, "width") * width / 100, y0 + number(value, "height") * height / 100
    if x1 < x0 or y1 < y0:
        raise BadRowError(f"box {x0:g},{y0:g},{x1:g},{y1:g} ends before it begins")
    return x0, y0, x1, y1


def task_of(
    name: str,
    size: tuple[int, int],
    names: tuple[str, ...],
    objects: Sequence[tuple[np.ndarray, np.ndarray | None, float | None]],
    *,
    predicted: bool,
    ignore: Iterable[np.ndarray] = (),
) -> dict[str, Any]:
    """Return a picture's task, its labels as annotation or, to be corrected, as prediction.

    Parameters
    ----------
    name : str
        Of the picture, below the root of Label Studio's local files.
    size : (height, width)
    names : tuple of str
        Keypoints.
    objects : sequence of (points, box, score)
        Points of shape (n_keypoints, 2), x, y, NaN where there is none; box x0, y0, x1, y1 or None.
    predicted : bool
    ignore : iterable of ndarray of shape (4,)
        Regions to ignore, x0, y0, x1, y1.
    """
    height, width = size
    scale = 100 / np.array([width, height])
    common = {"to_name": "image", "original_width": width, "original_height": height, "image_rotation": 0}
    result: list[dict[str, Any]] = []
    for n, (points, box, _) in enumerate(objects):
        parent: dict[str, str] = {}
        if box is not None and np.isfinite(box).all():
            parent = {"parentID": f"object{n}"}
            result.append({**common, "id": f"object{n}", **_rectangle("object", box, scale)})
        for k in np.flatnonzero(np.isfinite(points).all(axis=1)).tolist():
            x, y = (points[k] * scale).tolist()
            value = {"x": x, "y": y, "width": KEYPOINT_PX, "keypointlabels": [names[k]]}
            region = {**common, **parent, "id": f"object{n}-{k}", "type": "keypointlabels"}
            result.append({**region, "from_name": "keypoint", "value": value})
    for n, ignored in enumerate(ignore):
        result.append({**common, "id": f"ignore{n}", **_rectangle("ignore", ignored, scale)})
    scores = [score for _, _, score in objects if score is not None]
    labels: dict[str, Any] = {"result": _plain(result)}
    if predicted:
        labels |= {"model_version": "annealed", "score": float(np.mean(scores)) if scores else 0.0}
    data = {"image": LOCAL_FILES + name}
    return {"data": data, "predictions" if predicted else "annotations": [labels]}


def _rectangle(label: str, box: np.ndarray, scale: np.ndarray) -> dict[str, Any]:
    (x, y), (width, height) = box[:2] * scale, (box[2:] - box[:2]) * scale
    value = {"x": x, "y": y, "width": width, "height": height, "rotation": 0, "rectanglelabels": [label]}
    return {"type": "rectanglelabels", "from_name": "box", "value": value}


def _plain(result: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """NumPy's numbers as Python's."""
    for region in result:
        region["value"] = {
            key: round(float(v), 6) if isinstance(v, float | np.floating) else v
            for key, v in region["value"].items()
        }
    return result


def task_of_photo(photo: Photo, names: tuple[str, ...], size: tuple[int, int], *, predicted: bool) -> dict:
    """Return the task of an annotated photo; see `task_of`."""
    objects = [(points, box, None) for points, box in zip(photo.points, photo.boxes, strict=True)]
    return task_of(photo.name, size, names, objects, predicted=predicted, ignore=photo.ignore)


def labelling_config(names: tuple[str, ...]) -> str:
    """Return the labelling interface that fits the tasks, to be pasted into a project's settings."""
    labels = "".join(f'    <Label value="{_escaped(name)}"/>\n' for name in names)
    return (
        '<View>\n  <Image name="image" value="$image"/>\n'
        '  <RectangleLabels name="box" toName="image">\n    <Label value="object"/>\n'
        '    <Label value="ignore"/>\n  </RectangleLabels>\n'
        f'  <KeyPointLabels name="keypoint" toName="image">\n{labels}  </KeyPointLabels>\n</View>\n'
    )


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
