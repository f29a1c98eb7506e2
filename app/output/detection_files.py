"""Detections and objects as CSV, JSON or COCO keypoints, written picture by picture."""

import csv
import json
import math
import shutil
from abc import ABC, abstractmethod
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import Any, TextIO, TypeAlias

from ...models.keypoints.detections import NO_OBJECT, Detections
from ...models.keypoints.objects.model import Objects

CSV_COLUMNS = (
    *("image", "frame", "object", "keypoint", "x", "y", "scale", "score"),
    *("object_score", "x0", "y0", "x1", "y1"),
)
SUFFIXES = {"csv": "csv", "json": "json", "coco": "coco.json"}
"""Formats, and the ending of a file in each."""

Found: TypeAlias = Detections | Objects

_SPOOL_BYTES = 2**20  # what waits for the end of a file beyond this waits on disk


@dataclass(frozen=True)
class Picture:
    """A photo, or a frame of a video, and what was found in it.

    Attributes
    ----------
    image : str
        Name of the photo or video.
    frame : int or None
        Number of the frame, from 0; None for a photo.
    height, width : int
        Pixels.
    found : Detections or Objects
        Single detections, or objects.
    """

    image: str
    frame: int | None
    height: int
    width: int
    found: Found


class DetectionWriter(ABC):
    """Writes what is found, picture by picture, and nothing before the first one.

    A context manager; the end of the file is written at the end of its block, also after an error.

    Parameters
    ----------
    stream : text stream
        Stays open.
    names : tuple of str
        The model's keypoints, in its order.
    """

    def __init__(self, stream: TextIO, names: tuple[str, ...]) -> None:
        self.stream = stream
        self.names = names
        self.n_pictures = 0

    def __enter__(self) -> "DetectionWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.n_pictures:
            self._end()

    def write(self, picture: Picture) -> None:
        """Write what was found in the next picture."""
        if self.n_pictures == 0:
            self._begin()
        self.n_pictures += 1
        self._add(picture)
        self.stream.flush()

    @abstractmethod
    def _begin(self) -> None:
        """Write what comes before the first picture."""

    @abstractmethod
    def _add(self, picture: Picture) -> None:
        """Write what was found in a picture."""

    def _end(self) -> None:  # noqa: B027 (most formats need it, CSV does not)
        """Write what closes the file."""


class CsvWriter(DetectionWriter):
    """One line a keypoint; one that is only predicted has no score, a photo no frame.

    Objects come from the best to the worst, each with the keypoints in the model's order. Image, frame,
    object and keypoint together name a line, so that tables of them can be pivoted; the object's score and
    box are in every line of it. A detection that stands alone has no object.
    """

    def _begin(self) -> None:
        self._rows = csv.DictWriter(self.stream, CSV_COLUMNS, lineterminator="\n", extrasaction="ignore")
        self._rows.writeheader()

    def _add(self, picture: Picture) -> None:
        place = {"image": picture.image, "frame": picture.frame}
        rows = _rows(picture.found)
        if isinstance(picture.found, Objects):
            rows.sort(key=lambda row: (row["object"], self.names.index(row["keypoint"])))
        for row in rows:
            whole = _object_columns(picture.found, row["object"])
            self._rows.writerow({**place, **row, **whole, "score": row["score"] if row["found"] else None})


class JsonWriter(DetectionWriter):
    """A list with one object a picture, each on a line of its own."""

    def _begin(self) -> None:
        self.stream.write("[")

    def _add(self, picture: Picture) -> None:
        self.stream.write(list_item(_json(picture), self.n_pictures))

    def _end(self) -> None:
        self.stream.write("\n]\n")


class CocoWriter(DetectionWriter):
    """COCO keypoints: one annotation an object; a detection that stands alone is an annotation of its own.

    COCO counts from 1 and puts pixel centres at integers, as we do; visibility is 2 where a keypoint was
    found, 1 where it is only predicted and 0 elsewhere. Frame 12 of a video is the image `clip.mp4#12`.
    The list of annotations follows that of images, and waits in a temporary file until that is complete.
    """

    def _begin(self) -> None:
        self._annotations = SpooledTemporaryFile(_SPOOL_BYTES, "w+", encoding="utf-8")  # noqa: SIM115 (_end closes it)
        self._n_annotations = 0
        self.stream.write('{"images": [')

    def _add(self, picture: Picture) -> None:
        self.stream.write(list_item(_coco_image(picture, self.n_pictures), self.n_pictures))
        for annotation in _annotations(picture.found, self.names):
            self._n_annotations += 1
            ids = {"id": self._n_annotations, "image_id": self.n_pictures, "category_id": 1}
            self._annotations.write(list_item({**ids, **annotation}, self._n_annotations))

    def _end(self) -> None:
        self.stream.write('\n],\n"annotations": [')
        with self._annotations as annotations:
            annotations.seek(0)
            shutil.copyfileobj(annotations, self.stream)
        category = {"id": 1, "name": "object", "keypoints": list(self.names), "skeleton": []}
        self.stream.write(f'\n],\n"categories": [\n{json.dumps(category)}\n]}}\n')


WRITERS: dict[str, type[DetectionWriter]] = {"csv": CsvWriter, "json": JsonWriter, "coco": CocoWriter}


def list_item(document: dict[str, Any], number: int) -> str:
    """The number-th item, from 1, of a JSON list that stands open."""
    return ("\n" if number == 1 else ",\n") + json.dumps(document)


def _rows(found: Found) -> list[dict[str, Any]]:
    """One dictionary a keypoint; the object of a detection that stands alone is None."""
    detections = found.detections if isinstance(found, Objects) else found
    return [
        {
            "object": None if detections.object[i] == NO_OBJECT else int(detections.object[i]),
            "keypoint": str(detections.keypoint[i]),
            "x": round(float(detections.x[i]), 2),
            "y": round(float(detections.y[i]), 2),
            "scale": round(float(detections.scale[i]), 4),
            "score": round(float(detections.score[i]), 4),
            "found": bool(detections.found[i]),
        }
        for i in range(len(detections))
    ]


def _object_columns(found: Found, number: int | None) -> dict[str, float]:
    """Score and box of a keypoint's object."""
    if number is None or not isinstance(found, Objects):
        return {}
    box = _rounded(found.boxes[number], 2)
    return dict(zip(CSV_COLUMNS[-5:], (round(float(found.scores[number]), 4), *box), strict=True))


def _json(picture: Picture) -> dict[str, Any]:
    document: dict[str, Any] = {"image": picture.image, "frame": picture.frame}
    document |= {"width": picture.width, "height": picture.height}
    if isinstance(picture.found, Objects):
        return {**document, "objects": _objects(picture.found)}
    rows = [{k: v for k, v in row.items() if k != "found"} for row in _rows(picture.found)]
    return {**document, "detections": rows}


def _objects(objects: Objects) -> list[dict[str, Any]]:
    """One dictionary an object, with its keypoints in the model's order."""
    rows: dict[int, dict[str, dict[str, Any]]] = {}
    for row in _rows(objects):
        rows.setdefault(row.pop("object"), {})[row["keypoint"]] = row
    return [
        {
            "object": i,
            "score": round(float(objects.scores[i]), 4),
            "box": _rounded(objects.boxes[i], 2),
            "size": round(float(objects.sizes[i]), 2),
            "pose": dict(zip(("yaw", "pitch", "roll"), _rounded(objects.poses[i], 1), strict=True)),
            "keypoints": [
                rows[i][name] | _expected_error(objects, i, k) for k, name in enumerate(objects.names)
            ],
        }
        for i in range(len(objects))
    ]


def _expected_error(objects: Objects, i: int, k: int) -> dict[str, float]:
    """The pixels within which two of three such keypoints lie, if the model knows."""
    error = float(objects.errors[i, k])
    return {"error": round(error, 2)} if math.isfinite(error) else {}


def _rounded(values: Any, digits: int) -> list[float]:
    return [round(float(value), digits) for value in values]


def _coco_image(picture: Picture, image_id: int) -> dict[str, Any]:
    """COCO's entry of a picture; names are unique, as each stands for one image."""
    size = {"width": picture.width, "height": picture.height}
    if picture.frame is None:
        return {"id": image_id, "file_name": picture.image, **size}
    name = f"{picture.image}#{picture.frame}"
    return {"id": image_id, "file_name": name, "video": picture.image, "frame": picture.frame, **size}


def _annotations(found: Found, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """What COCO says of each object, or of each detection that stands alone."""
    if isinstance(found, Objects):
        return [_coco_object(entry, names) for entry in _objects(found)]
    return [_coco_keypoints([row], row["score"], names) for row in _rows(found)]


def _coco_object(entry: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    x0, y0, x1, y1 = entry["box"]
    box = [x0, y0, round(x1 - x0, 2), round(y1 - y0, 2)]
    annotation = _coco_keypoints(entry["keypoints"], entry["score"], names)
    return {**annotation, "bbox": box, "area": round(box[2] * box[3], 2), "pose": entry["pose"]}


def _coco_keypoints(rows: list[dict[str, Any]], score: float, names: tuple[str, ...]) -> dict[str, Any]:
    keypoints = [0.0, 0.0, 0] * len(names)
    for row in rows:
        at = 3 * names.index(row["keypoint"])
        keypoints[at : at + 3] = [row["x"], row["y"], 2 if row["found"] else 1]
    return {"keypoints": keypoints, "num_keypoints": len(rows), "score": score}
