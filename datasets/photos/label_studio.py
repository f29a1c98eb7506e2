"""Label Studio: a JSON list of tasks, with keypoints and boxes in percent of the picture's width and height.

Keypoints belong to the box that is their parent; without parents, to the only box, or to the smallest
box that holds them; without boxes, to the only object of the picture. A box labelled "ignore" is a region
to ignore. Of several annotations of a task the first that was not cancelled counts.
"""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import unquote

import numpy as np
from pydantic import Field

from ...features.errors import DataError
from ...features.schemas import Identity, Name, Schema
from ..numbers import BadRowError
from .images import is_there
from .json_files import file_name, read_json
from .photo_rows import PhotoRows, make_photo_set
from .photo_set import Photo, PhotoSet
from .pixel_schemas import Extent, Length, Position, each_valid

ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp")
LOCAL_FILES = "/data/local-files/?d="
KEYPOINT_PX = 0.5  # percent; how wide Label Studio draws a keypoint
_UPLOADED = re.compile(r"^[0-9a-f]{8}-(?=.)")


class _Annotation(Schema):
    was_cancelled: bool | None = None
    result: list[dict[str, Any]] | None = None


class _Task(Schema):
    data: dict[str, Any]
    annotations: list[_Annotation] | None = None

    @property
    def result(self) -> list[dict[str, Any]] | None:
        """The regions of the first annotation that counts; None if nobody labelled the picture."""
        for annotation in self.annotations or []:
            if not annotation.was_cancelled:
                return annotation.result or []
        return None


class _Region(Schema):
    id: Identity | None = None
    parentID: Identity | None = None  # noqa: N815 (Label Studio's)
    original_width: Length
    original_height: Length

    def pixels(self, x: float, y: float) -> tuple[float, float]:
        """A place in percent as pixels."""
        return x * self.original_width / 100, y * self.original_height / 100


class _PointValue(Schema):
    x: Position
    y: Position
    keypointlabels: Annotated[list[Name], Field(min_length=1, max_length=1)]


class _Point(_Region):
    value: _PointValue

    @property
    def keypoint(self) -> str:
        return self.value.keypointlabels[0]

    @property
    def place(self) -> tuple[float, float]:
        return self.pixels(self.value.x, self.value.y)


class _BoxValue(Schema):
    x: Position
    y: Position
    width: Extent
    height: Extent
    rectanglelabels: list[Name]


class _Box(_Region):
    value: _BoxValue

    @property
    def corners(self) -> tuple[float, float, float, float]:
        value = self.value
        x0, y0 = self.pixels(value.x, value.y)
        width, height = self.pixels(value.width, value.height)
        return x0, y0, x0 + width, y0 + height


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
    for where, task in each_valid(_Task, document, f"{path.name} task", problems):
        try:
            name = _photo_name(task.data, path.parent)
            if name in photos:
                raise BadRowError(f"{name} is there twice; the first counts")
            if task.result is not None:
                photos[name] = PhotoRows()
                _add(photos[name], task.result, names, problems, where)
        except BadRowError as error:
            problems.append(f"{where}: {error}")
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
            there = any(is_there(place / name) for place in (folder, folder / "images"))
            return name if there else plain
    raise BadRowError("names no picture")


def _add(
    rows: PhotoRows, result: list[dict[str, Any]], names: dict[str, None], problems: list[str], where: str
) -> None:
    boxes: dict[Identity | None, _Box] = {}
    for _, box in each_valid(_Box, _of_type(result, "rectanglelabels"), f"{where}: box", problems):
        if box.value.rectanglelabels == ["ignore"]:
            rows.ignore.append(box.corners)
        else:
            boxes[box.id] = box
    for owner, box in boxes.items():
        rows.points[str(owner)] = {}
        rows.boxes[str(owner)] = box.corners
    for place, point in each_valid(_Point, _of_type(result, "keypointlabels"), f"{where}: point", problems):
        try:
            names[point.keypoint] = None
            rows.add(_owner(point, boxes), point.keypoint, point.place)
        except BadRowError as error:
            problems.append(f"{place}: {error}")


def _of_type(result: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [region for region in result if region.get("type") == kind]


def _owner(point: _Point, boxes: dict[Identity | None, _Box]) -> str:
    """The box that a point belongs to."""
    if point.parentID is not None and point.parentID in boxes:
        return str(point.parentID)
    if len(boxes) < 2:
        return str(next(iter(boxes), "0"))
    x, y = point.place
    around = {}
    for owner, box in boxes.items():
        x0, y0, x1, y1 = box.corners
        if x0 <= x <= x1 and y0 <= y <= y1:
            around[owner] = (x1 - x0) * (y1 - y0)
    if not around:
        raise BadRowError(f"{point.keypoint} lies in none of {len(boxes)} boxes")
    return str(min(around, key=lambda owner: around[owner]))


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
