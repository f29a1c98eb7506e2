import io
import json

import numpy as np
import pytest
from PIL import Image

from annealed.app.output.detection_files import Picture
from annealed.app.output.preannotation_files import PREANNOTATION_SUFFIXES, PREANNOTATION_WRITERS
from annealed.datasets.photos.annotation_formats import read_annotations
from annealed.models.keypoints.detections import join_detections, make_detections
from annealed.models.keypoints.objects.model import Objects

NAMES = ("left<eye", "chin")


def objects():
    return Objects(
        NAMES,
        boxes=np.array([[1.0, 2.5, 21.0, 32.5]]),
        poses=np.zeros((1, 3)),
        sizes=np.array([10.0]),
        scores=np.array([3.25]),
        points=np.array([[[5.12, 6.0], [7.0, 30.0]]]),
        found=np.array([[True, False]]),
        keypoint_scores=np.array([[2.5, 0.75]]),
        scales=np.array([0.36]),
        errors=np.full((1, 2), np.nan),
    )


def written(form, *pictures):
    stream = io.StringIO()
    with PREANNOTATION_WRITERS[form](stream, NAMES) as writer:
        for picture in pictures:
            writer.write(picture)
    return stream.getvalue()


def test_cvat_reads_back(tmp_path):
    Image.new("RGB", (80, 70)).save(tmp_path / "a&b.png")
    Image.new("RGB", (80, 70)).save(tmp_path / "c.png")
    pictures = [Picture(f"/some/where/{name}", None, 70, 80, objects()) for name in ("a&b.png", "c.png")]
    (tmp_path / "annotations.xml").write_text(written("cvat", *pictures))
    photos = read_annotations(tmp_path / "annotations.xml")
    assert photos.problems == ()
    assert [photo.name for photo in photos] == ["a&b.png", "c.png"]
    for photo in photos:
        np.testing.assert_allclose(photo.points[0], objects().points[0], atol=0.01)
        assert photo.visible.tolist() == [[True, False]]
        np.testing.assert_allclose(photo.boxes, objects().boxes, atol=0.01)


def test_label_studio_gets_predictions_in_percent():
    (task,) = json.loads(written("label-studio", Picture("a.png", None, 70, 80, objects())))
    (prediction,) = task["predictions"]
    box, eye, _ = prediction["result"]
    assert box["value"]["rectanglelabels"] == ["object"]
    assert eye["value"]["keypointlabels"] == ["left<eye"]
    assert eye["value"]["x"] == pytest.approx(100 * 5.12 / 80)
    assert eye["parentID"] == box["id"]
    assert task["data"]["image"].endswith("a.png")


@pytest.mark.parametrize("form", list(PREANNOTATION_WRITERS))
def test_single_detections_and_frames_and_pictures_without_any(form):
    found = join_detections([make_detections([1.0, 5.0], [2, 6], [1, 1], [0.9, 0.5], "chin")])
    text = written(
        form, Picture("clip.mp4", 12, 70, 80, found), Picture("b.png", None, 70, 80, join_detections([]))
    )
    assert "clip.mp4#12" in text
    assert "b.png" in text
    assert text.count('"chin"') == 2


@pytest.mark.parametrize("form", list(PREANNOTATION_WRITERS))
def test_the_command_writes_them(annealed, object_model, photo_folder, tmp_path, form):
    photo = min((photo_folder / "images").iterdir())
    result = annealed(
        "detect-keypoints", photo, "--model", object_model, "--format", form, "--out", tmp_path / "out"
    )
    assert result.exit_code == 0, result.stderr
    assert "chin" in (tmp_path / "out" / f"detections.{PREANNOTATION_SUFFIXES[form]}").read_text()
