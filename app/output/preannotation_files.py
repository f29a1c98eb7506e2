"""What a detector found, as labels to be corrected by hand: CVAT's XML and Label Studio's tasks."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from ...datasets.photos.annotation_writers import add_cvat_image
from ...datasets.photos.label_studio import task_of_photo
from ...datasets.photos.photo_set import Photo
from ...models.keypoints.objects.model import Objects
from .detection_files import DetectionWriter, Found, Picture, list_item


class CvatWriter(DetectionWriter):
    """CVAT for images 1.1: an object is a group of points and its box; points only predicted are occluded."""

    def _begin(self) -> None:
        self.stream.write('<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n<version>1.1</version>\n')

    def _add(self, picture: Picture) -> None:
        parent = ElementTree.Element("annotations")
        size = picture.height, picture.width
        add_cvat_image(parent, self.n_pictures - 1, _photo(picture, self.names), self.names, size)
        ElementTree.indent(parent)
        self.stream.write(ElementTree.tostring(parent[0], encoding="unicode").rstrip() + "\n")

    def _end(self) -> None:
        self.stream.write("</annotations>\n")


class LabelStudioWriter(DetectionWriter):
    """A list of tasks with predictions; pictures are named below the root of Label Studio's local files."""

    def _begin(self) -> None:
        self.stream.write("[")

    def _add(self, picture: Picture) -> None:
        size = picture.height, picture.width
        task = task_of_photo(_photo(picture, self.names), self.names, size, predicted=True)
        self.stream.write(list_item(task, self.n_pictures))

    def _end(self) -> None:
        self.stream.write("\n]\n")


PREANNOTATION_WRITERS: dict[str, type[DetectionWriter]] = {
    "cvat": CvatWriter,
    "label-studio": LabelStudioWriter,
}
PREANNOTATION_SUFFIXES = {"cvat": "cvat.xml", "label-studio": "label-studio.json"}
"""Formats, and the ending of a file in each."""


def _photo(picture: Picture, names: tuple[str, ...]) -> Photo:
    """A picture and what was found as an annotated photo, whose pixels are not needed."""
    points, seen, boxes = _labels(picture.found, names)
    name = Path(picture.image).name + ("" if picture.frame is None else f"#{picture.frame}")
    return Photo(
        name=name,
        source=np.empty((0, 0, 3), dtype=np.uint8),
        object_names=tuple(map(str, range(len(points)))),
        points=points,
        visible=seen,
        sizes=np.full(len(points), np.nan),
        boxes=boxes,
    )


def _labels(found: Found, names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, which of them are seen, and boxes; a detection that stands alone is an object of its own."""
    if isinstance(found, Objects):
        return found.points, found.found, found.boxes
    points = np.full((len(found), len(names), 2), np.nan)
    for i, name in enumerate(found.keypoint.tolist()):
        points[i, names.index(name)] = found.x[i], found.y[i]
    return points, np.isfinite(points).all(axis=2), np.full((len(found), 4), np.nan)
