"""Detections as CSV, JSON or COCO keypoints."""

import csv
import io
import json
from typing import Any

from ..models.keypoints.detections import NO_FACE, Detections

CSV_COLUMNS = ("image", "face", "keypoint", "x", "y", "scale", "score")
FORMATS = {"csv": "csv", "json": "json", "coco": "coco.json"}
"""Formats, and the ending of a file in each."""

Photo = tuple[str, tuple[int, int], Detections]
"""Name of a photo, its (height, width), and what was found in it."""


def format_detections(photos: list[Photo], names: tuple[str, ...], form: str) -> str:
    """Return the detections of several photos as the text of one file.

    Parameters
    ----------
    photos : list of (name, (height, width), Detections)
    names : tuple of str
        The model's keypoints, in its order.
    form : {"csv", "json", "coco"}
    """
    if form == "csv":
        return _csv(photos)
    document = _coco(photos, names) if form == "coco" else _json(photos)
    return json.dumps(document, indent=1) + "\n"


def _rows(name: str, detections: Detections) -> list[dict[str, Any]]:
    """One dictionary a detection; the face of a detection that stands alone is None."""
    return [
        {
            "image": name,
            "face": None if detections.face[i] == NO_FACE else int(detections.face[i]),
            "keypoint": str(detections.keypoint[i]),
            "x": round(float(detections.x[i]), 2),
            "y": round(float(detections.y[i]), 2),
            "scale": round(float(detections.scale[i]), 4),
            "score": round(float(detections.score[i]), 4),
        }
        for i in range(len(detections))
    ]


def _csv(photos: list[Photo]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for name, _, detections in photos:
        writer.writerows(_rows(name, detections))
    return stream.getvalue()


def _json(photos: list[Photo]) -> list[dict[str, Any]]:
    return [
        {
            "image": name,
            "width": width,
            "height": height,
            "detections": [{k: v for k, v in row.items() if k != "image"} for row in _rows(name, detections)],
        }
        for name, (height, width), detections in photos
    ]


def _coco(photos: list[Photo], names: tuple[str, ...]) -> dict[str, Any]:
    """COCO keypoints: one annotation a face; a detection that stands alone is an annotation of its own.

    COCO counts from 1 and puts pixel centres at integers, as we do; visibility is 2 where a keypoint was
    found and 0 elsewhere.
    """
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for image_id, (name, (height, width), detections) in enumerate(photos, start=1):
        images.append({"id": image_id, "file_name": name, "width": width, "height": height})
        for group in _groups(_rows(name, detections)):
            keypoints = [0.0, 0.0, 0] * len(names)
            for row in group:
                at = 3 * names.index(row["keypoint"])
                keypoints[at : at + 3] = [row["x"], row["y"], 2]
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": image_id,
                    "category_id": 1,
                    "keypoints": keypoints,
                    "num_keypoints": len(group),
                    "score": max(row["score"] for row in group),
                }
            )
    category = {"id": 1, "name": "object", "keypoints": list(names), "skeleton": []}
    return {"images": images, "annotations": annotations, "categories": [category]}


def _groups(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Rows of one face together, in the order of each face's best row; the others alone."""
    groups: dict[Any, list[dict[str, Any]]] = {}
    for i, row in enumerate(rows):
        groups.setdefault(("alone", i) if row["face"] is None else row["face"], []).append(row)
    return list(groups.values())
