import json

import numpy as np
import pytest

from annealed.app.detection_files import format_detections
from annealed.models.keypoints.detections import join_detections, make_detections

NAMES = ("left_eye", "chin")


@pytest.fixture
def photos():
    """A face with two keypoints, a keypoint that stands alone, and a photo without any."""
    faces = [make_detections([1.234, 50], [2, 60], [1, 2], [0.9, 0.2], "left_eye", face=0)]
    faces[0].face[1] = -1
    faces.append(make_detections([3], [4], [1.5], [0.5], "chin", face=0))
    nothing = join_detections([])
    return [("a,b.png", (70, 80), join_detections(faces)), ("empty.png", (5, 6), nothing)]


def test_csv_by_hand(photos):
    assert format_detections(photos, NAMES, "csv").splitlines() == [
        "image,face,keypoint,x,y,scale,score",
        '"a,b.png",0,left_eye,1.23,2.0,1.0,0.9',
        '"a,b.png",0,chin,3.0,4.0,1.5,0.5',
        '"a,b.png",,left_eye,50.0,60.0,2.0,0.2',
    ]


def test_json_by_hand(photos):
    first, second = json.loads(format_detections(photos, NAMES, "json"))
    assert (first["image"], first["width"], first["height"]) == ("a,b.png", 80, 70)
    assert first["detections"][1] == {
        "face": 0, "keypoint": "chin", "x": 3.0, "y": 4.0, "scale": 1.5, "score": 0.5,
    }  # fmt: skip
    assert first["detections"][2]["face"] is None
    assert second["detections"] == []


def test_coco_puts_a_face_together(photos):
    coco = json.loads(format_detections(photos, NAMES, "coco"))
    assert [image["file_name"] for image in coco["images"]] == ["a,b.png", "empty.png"]
    face, alone = coco["annotations"]
    assert face["keypoints"] == [1.23, 2.0, 2, 3.0, 4.0, 2]
    assert (face["num_keypoints"], face["score"], face["image_id"]) == (2, 0.9, 1)
    assert alone["keypoints"] == [50.0, 60.0, 2, 0.0, 0.0, 0]
    assert np.unique([face["id"], alone["id"]]).size == 2
