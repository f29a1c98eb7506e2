"""Detections and faces as CSV, JSON or COCO keypoints."""

import csv
import io
import json
from typing import Any, TypeAlias

from ..models.keypoints.detections import NO_FACE, Detections
from ..models.keypoints.faces import Faces

CSV_COLUMNS = ("image", "face", "keypoint", "x", "y", "scale", "score")
FORMATS = {"csv": "csv", "json": "json", "coco": "coco.json"}
"""Formats, and the ending of a file in each."""

Found: TypeAlias = Detections | Faces

Photo = tuple[str, tuple[int, int], Found]
"""Name of a photo, its (height, width), and what was found in it: single detections, or faces."""


def format_detections(photos: list[Photo], names: tuple[str, ...], form: str) -> str:
    """Return what was found in several photos as the text of one file.

    Parameters
    ----------
    photos : list of (name, (height, width), Detections or Faces)
    names : tuple of str
        The model's keypoints, in its order.
    form : {"csv", "json", "coco"}
    """
    if form == "csv":
        return _csv(photos)
    document = _coco(photos, names) if form == "coco" else _json(photos)
    return json.dumps(document, indent=1) + "\n"


def _rows(found: Found) -> list[dict[str, Any]]:
    """One dictionary a keypoint; the face of a detection that stands alone is None."""
    detections = found.detections if isinstance(found, Faces) else found
    return [
        {
            "face": None if detections.face[i] == NO_FACE else int(detections.face[i]),
            "keypoint": str(detections.keypoint[i]),
            "x": round(float(detections.x[i]), 2),
            "y": round(float(detections.y[i]), 2),
            "scale": round(float(detections.scale[i]), 4),
            "score": round(float(detections.score[i]), 4),
            "found": bool(detections.found[i]),
        }
        for i in range(len(detections))
    ]


def _csv(photos: list[Photo]) -> str:
    """One line a keypoint; a keypoint that is only predicted has no score."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, CSV_COLUMNS, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for name, _, found in photos:
        for row in _rows(found):
            writer.writerow({"image": name, **row, "score": row["score"] if row["found"] else None})
    return stream.getvalue()


def _json(photos: list[Photo]) -> list[dict[str, Any]]:
    documents = []
    for name, (height, width), found in photos:
        document: dict[str, Any] = {"image": name, "width": width, "height": height}
        if isinstance(found, Faces):
            document["faces"] = _faces(found)
        else:
            rows = _rows(found)
            document["detections"] = [{k: v for k, v in row.items() if k != "found"} for row in rows]
        documents.append(document)
    return documents


def _faces(faces: Faces) -> list[dict[str, Any]]:
    """One dictionary a face, with its keypoints in the model's order."""
    rows: dict[int, dict[str, dict[str, Any]]] = {}
    for row in _rows(faces):
        rows.setdefault(row.pop("face"), {})[row["keypoint"]] = row
    return [
        {
            "face": i,
            "score": round(float(faces.scores[i]), 4),
            "box": _rounded(faces.boxes[i], 2),
            "size": round(float(faces.sizes[i]), 2),
            "pose": dict(zip(("yaw", "pitch", "roll"), _rounded(faces.poses[i], 1), strict=True)),
            "keypoints": [rows[i][name] for name in faces.names],
        }
        for i in range(len(faces))
    ]


def _rounded(values: Any, digits: int) -> list[float]:
    return [round(float(value), digits) for value in values]


def _coco(photos: list[Photo], names: tuple[str, ...]) -> dict[str, Any]:
    """COCO keypoints: one annotation a face; a detection that stands alone is an annotation of its own.

    COCO counts from 1 and puts pixel centres at integers, as we do; visibility is 2 where a keypoint was
    found, 1 where it is only predicted and 0 elsewhere.
    """
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for image_id, (name, (height, width), found) in enumerate(photos, start=1):
        images.append({"id": image_id, "file_name": name, "width": width, "height": height})
        for annotation in _annotations(found, names):
            ids = {"id": len(annotations) + 1, "image_id": image_id, "category_id": 1}
            annotations.append({**ids, **annotation})
    category = {"id": 1, "name": "object", "keypoints": list(names), "skeleton": []}
    return {"images": images, "annotations": annotations, "categories": [category]}


def _annotations(found: Found, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """What COCO says of each face, or of each detection that stands alone."""
    if isinstance(found, Faces):
        return [_coco_face(face, names) for face in _faces(found)]
    return [_coco_keypoints([row], row["score"], names) for row in _rows(found)]


def _coco_face(face: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    x0, y0, x1, y1 = face["box"]
    box = [x0, y0, round(x1 - x0, 2), round(y1 - y0, 2)]
    annotation = _coco_keypoints(face["keypoints"], face["score"], names)
    return {**annotation, "bbox": box, "area": round(box[2] * box[3], 2), "pose": face["pose"]}


def _coco_keypoints(rows: list[dict[str, Any]], score: float, names: tuple[str, ...]) -> dict[str, Any]:
    keypoints = [0.0, 0.0, 0] * len(names)
    for row in rows:
        at = 3 * names.index(row["keypoint"])
        keypoints[at : at + 3] = [row["x"], row["y"], 2 if row["found"] else 1]
    return {"keypoints": keypoints, "num_keypoints": len(rows), "score": score}
