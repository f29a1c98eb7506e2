import json

import numpy as np
import pytest

from annealed.app.detection_files import format_detections
from annealed.models.keypoints.detections import join_detections, make_detections
from annealed.models.keypoints.faces import Faces

NAMES = ("left_eye", "chin")


@pytest.fixture
def photos():
    """Two keypoints that stand alone, and a photo without any."""
    parts = [
        make_detections([1.234], [2], [1], [0.9], "left_eye"),
        make_detections([3], [4], [1.5], [0.5], "chin"),
    ]
    return [("a,b.png", (70, 80), join_detections(parts)), ("empty.png", (5, 6), join_detections([]))]


@pytest.fixture
def faces():
    """One face, whose chin is only predicted, and a photo without any."""
    one = Faces(
        NAMES,
        boxes=np.array([[1.0, 2.5, 21.0, 32.5]]),
        poses=np.array([[12.34, -5.0, 0.04]]),
        sizes=np.array([10.128]),
        scores=np.array([3.25]),
        points=np.array([[[5.123, 6.0], [7.0, 30.0]]]),
        found=np.array([[True, False]]),
        keypoint_scores=np.array([[2.5, 0.75]]),
        scales=np.array([0.3617]),
    )
    return [("a.png", (70, 80), one), ("empty.png", (5, 6), one[:0])]


def test_csv_by_hand(photos):
    assert format_detections(photos, NAMES, "csv").splitlines() == [
        "image,face,keypoint,x,y,scale,score",
        '"a,b.png",,left_eye,1.23,2.0,1.0,0.9',
        '"a,b.png",,chin,3.0,4.0,1.5,0.5',
    ]


def test_csv_of_faces_leaves_the_score_of_predicted_keypoints_out(faces):
    assert format_detections(faces, NAMES, "csv").splitlines() == [
        "image,face,keypoint,x,y,scale,score",
        "a.png,0,left_eye,5.12,6.0,0.3617,2.5",
        "a.png,0,chin,7.0,30.0,0.3617,",
    ]


def test_json_by_hand(photos):
    first, second = json.loads(format_detections(photos, NAMES, "json"))
    assert (first["image"], first["width"], first["height"]) == ("a,b.png", 80, 70)
    assert first["detections"][1] == {
        "face": None, "keypoint": "chin", "x": 3.0, "y": 4.0, "scale": 1.5, "score": 0.5,
    }  # fmt: skip
    assert second["detections"] == []


def test_json_of_faces_by_hand(faces):
    first, second = json.loads(format_detections(faces, NAMES, "json"))
    assert second == {"image": "empty.png", "width": 6, "height": 5, "faces": []}
    eye = {"keypoint": "left_eye", "x": 5.12, "y": 6.0, "scale": 0.3617, "score": 2.5, "found": True}
    chin = {"keypoint": "chin", "x": 7.0, "y": 30.0, "scale": 0.3617, "score": 0.75, "found": False}
    assert first["faces"] == [
        {
            "face": 0,
            "score": 3.25,
            "box": [1.0, 2.5, 21.0, 32.5],
            "size": 10.13,
            "pose": {"yaw": 12.3, "pitch": -5.0, "roll": 0.0},
            "keypoints": [eye, chin],
        }
    ]


def test_coco_of_single_detections(photos):
    coco = json.loads(format_detections(photos, NAMES, "coco"))
    assert [image["file_name"] for image in coco["images"]] == ["a,b.png", "empty.png"]
    eye, chin = coco["annotations"]
    assert eye["keypoints"] == [1.23, 2.0, 2, 0.0, 0.0, 0]
    assert chin["keypoints"] == [0.0, 0.0, 0, 3.0, 4.0, 2]
    assert (eye["num_keypoints"], eye["score"], eye["image_id"]) == (1, 0.9, 1)
    assert (eye["id"], chin["id"]) == (1, 2)


def test_coco_of_faces_marks_predicted_keypoints(faces):
    coco = json.loads(format_detections(faces, NAMES, "coco"))
    (face,) = coco["annotations"]
    assert face["keypoints"] == [5.12, 6.0, 2, 7.0, 30.0, 1]
    assert face["bbox"] == [1.0, 2.5, 20.0, 30.0]
    assert face["area"] == 600
    assert (face["num_keypoints"], face["score"], face["category_id"]) == (2, 3.25, 1)
    assert coco["categories"][0]["keypoints"] == list(NAMES)
