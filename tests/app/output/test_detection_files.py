import io
import json

import numpy as np
import pytest

from annealed.app.output import detection_files
from annealed.app.output.detection_files import WRITERS, Picture
from annealed.models.keypoints.detections import join_detections, make_detections
from annealed.models.keypoints.objects.model import Objects

NAMES = ("left_eye", "chin")


@pytest.fixture
def photos():
    """Two keypoints that stand alone, and a photo without any."""
    parts = [
        make_detections([1.234], [2], [1], [0.9], "left_eye"),
        make_detections([3], [4], [1.5], [0.5], "chin"),
    ]
    first = Picture("a,b.png", None, 70, 80, join_detections(parts))
    return [first, Picture("empty.png", None, 5, 6, join_detections([]))]


@pytest.fixture
def faces():
    """One face, whose chin is only predicted, and a photo without any."""
    one = Objects(
        NAMES,
        boxes=np.array([[1.0, 2.5, 21.0, 32.5]]),
        poses=np.array([[12.34, -5.0, 0.04]]),
        sizes=np.array([10.128]),
        scores=np.array([3.25]),
        points=np.array([[[5.123, 6.0], [7.0, 30.0]]]),
        found=np.array([[True, False]]),
        keypoint_scores=np.array([[2.5, 0.75]]),
        scales=np.array([0.3617]),
        errors=np.array([[1.26, np.nan]]),
    )
    return [Picture("a.png", None, 70, 80, one), Picture("empty.png", None, 5, 6, one[:0])]


@pytest.fixture
def clip(faces):
    """Three frames of a video, the second without a face."""
    one, none = faces[0].found, faces[1].found
    return [Picture("clip.mp4", i, 70, 80, found) for i, found in ((0, one), (4, none), (8, one))]


def written(pictures, form):
    """The text of a file."""
    stream = io.StringIO()
    with WRITERS[form](stream, NAMES) as writer:
        for picture in pictures:
            writer.write(picture)
    return stream.getvalue()


def test_csv_by_hand(photos):
    assert written(photos, "csv").splitlines() == [
        "image,frame,object,keypoint,x,y,scale,score,object_score,x0,y0,x1,y1",
        '"a,b.png",,,left_eye,1.23,2.0,1.0,0.9,,,,,',
        '"a,b.png",,,chin,3.0,4.0,1.5,0.5,,,,,',
    ]


def test_csv_of_faces_leaves_the_score_of_predicted_keypoints_out(faces):
    assert written(faces, "csv").splitlines() == [
        "image,frame,object,keypoint,x,y,scale,score,object_score,x0,y0,x1,y1",
        "a.png,,0,left_eye,5.12,6.0,0.3617,2.5,3.25,1.0,2.5,21.0,32.5",
        "a.png,,0,chin,7.0,30.0,0.3617,,3.25,1.0,2.5,21.0,32.5",
    ]


def test_json_by_hand(photos):
    first, second = json.loads(written(photos, "json"))
    assert (first["image"], first["width"], first["height"]) == ("a,b.png", 80, 70)
    assert first["detections"][1] == {
        "object": None, "keypoint": "chin", "x": 3.0, "y": 4.0, "scale": 1.5, "score": 0.5,
    }  # fmt: skip
    assert second["detections"] == []


def test_json_of_faces_by_hand(faces):
    first, second = json.loads(written(faces, "json"))
    assert second == {"image": "empty.png", "frame": None, "width": 6, "height": 5, "objects": []}
    eye = {"keypoint": "left_eye", "x": 5.12, "y": 6.0, "scale": 0.3617, "score": 2.5, "found": True}
    eye["error"] = 1.26  # of the chin the model knows none
    chin = {"keypoint": "chin", "x": 7.0, "y": 30.0, "scale": 0.3617, "score": 0.75, "found": False}
    assert first["objects"] == [
        {
            "object": 0,
            "score": 3.25,
            "box": [1.0, 2.5, 21.0, 32.5],
            "size": 10.13,
            "pose": {"yaw": 12.3, "pitch": -5.0, "roll": 0.0},
            "keypoints": [eye, chin],
        }
    ]


def test_coco_of_single_detections(photos):
    coco = json.loads(written(photos, "coco"))
    assert [image["file_name"] for image in coco["images"]] == ["a,b.png", "empty.png"]
    eye, chin = coco["annotations"]
    assert eye["keypoints"] == [1.23, 2.0, 2, 0.0, 0.0, 0]
    assert chin["keypoints"] == [0.0, 0.0, 0, 3.0, 4.0, 2]
    assert (eye["num_keypoints"], eye["score"], eye["image_id"]) == (1, 0.9, 1)
    assert (eye["id"], chin["id"]) == (1, 2)


def test_coco_of_faces_marks_predicted_keypoints(faces):
    coco = json.loads(written(faces, "coco"))
    (face,) = coco["annotations"]
    assert face["keypoints"] == [5.12, 6.0, 2, 7.0, 30.0, 1]
    assert face["bbox"] == [1.0, 2.5, 20.0, 30.0]
    assert face["area"] == 600
    assert (face["num_keypoints"], face["score"], face["category_id"]) == (2, 3.25, 1)
    assert coco["categories"][0]["keypoints"] == list(NAMES)


def test_csv_of_a_video_numbers_the_frames(clip):
    rows = [line.split(",")[:4] for line in written(clip, "csv").splitlines()[1:]]
    assert rows == [
        ["clip.mp4", frame, "0", keypoint] for frame in ("0", "8") for keypoint in ("left_eye", "chin")
    ]


def test_json_of_a_video_lists_every_frame(clip):
    documents = json.loads(written(clip, "json"))
    assert [(d["image"], d["frame"], len(d["objects"])) for d in documents] == [
        ("clip.mp4", 0, 1), ("clip.mp4", 4, 0), ("clip.mp4", 8, 1),
    ]  # fmt: skip


def test_coco_of_photos_and_a_video(faces, clip):
    coco = json.loads(written([*faces, *clip], "coco"))
    names = ["a.png", "empty.png", "clip.mp4#0", "clip.mp4#4", "clip.mp4#8"]
    assert [image["file_name"] for image in coco["images"]] == names
    assert [image.get("frame") for image in coco["images"]] == [None, None, 0, 4, 8]
    assert coco["images"][-1]["video"] == "clip.mp4"
    assert [(a["id"], a["image_id"]) for a in coco["annotations"]] == [(1, 1), (2, 3), (3, 5)]


@pytest.mark.parametrize("form", ["json", "coco"])
def test_pictures_without_detections_make_a_document(form, faces):
    document = json.loads(written(faces[1:], form))
    assert document[0]["objects"] == [] if form == "json" else document["annotations"] == []


@pytest.mark.parametrize("form", list(WRITERS))
def test_without_a_picture_nothing_is_written(form):
    assert written([], form) == ""


def test_each_picture_is_written_at_once(clip):
    """What a reader of the file sees after each picture, before the end."""
    sizes = {}
    for form, make in WRITERS.items():
        stream = io.StringIO()
        writer = make(stream, NAMES)
        sizes[form] = []
        for picture in clip:
            writer.write(picture)
            sizes[form].append(stream.getvalue().count("clip.mp4"))
        writer.__exit__(None, None, None)
    assert sizes == {"csv": [2, 2, 4], "json": [1, 2, 3], "coco": [2, 4, 6]}


def test_coco_annotations_wait_on_disk(clip, monkeypatch):
    expected = written(clip, "coco")
    monkeypatch.setattr(detection_files, "_SPOOL_BYTES", 10)
    assert written(clip, "coco") == expected


@pytest.mark.parametrize("form", ["json", "coco"])
def test_an_interrupted_file_can_be_read(form, clip):
    stream = io.StringIO()

    def interrupted():
        with WRITERS[form](stream, NAMES) as writer:
            writer.write(clip[0])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    document = json.loads(stream.getvalue())
    assert len(document if form == "json" else document["images"]) == 1
