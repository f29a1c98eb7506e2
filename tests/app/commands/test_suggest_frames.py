"""`suggest-frames` with the model that ships: a face that is covered in some frames of a clip."""

import json

import numpy as np
import pytest

from annealed.app.output.video_file import VideoFile
from annealed.datasets.photos.annotation_formats import format_of, read_annotations
from annealed.datasets.photos.images import read_image
from annealed.datasets.photos.sample_photos import load_astronaut
from annealed.datasets.videos import video_frames

COVERED = (6, 15)


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    face = load_astronaut().read()[0:260, 100:340]
    path = tmp_path_factory.mktemp("clip") / "walk.mp4"
    with VideoFile(path, 20) as video:
        for t in range(20):
            image = np.full((280, 330, 3), 90, dtype=np.uint8)
            image[8 : 8 + 260, 4 * t : 4 * t + 240] = face
            if t in COVERED:
                image[130:200, 4 * t + 80 : 4 * t + 170] = 60
            video.write(image)
    return path


@pytest.fixture(scope="module")
def suggested(clip, tmp_path_factory):
    from typer.testing import CliRunner

    from annealed.app.cli import app

    out = tmp_path_factory.mktemp("out") / "frames"
    arguments = ["suggest-frames", str(clip), "-n", "4", "--objects", "1", "--out", str(out)]
    return CliRunner().invoke(app, arguments), out


def test_covered_frames_are_suggested_and_written_as_they_are(suggested, clip):
    result, out = suggested
    assert result.exit_code == 0, result.stderr
    pictures = sorted((out / "labeled-data" / "walk").glob("*.png"))
    assert len(pictures) == 4
    numbers = [int(path.stem.removeprefix("img")) for path in pictures]
    assert set(COVERED) <= set(numbers)
    frames = list(video_frames(clip))
    for path, number in zip(pictures, numbers, strict=True):
        np.testing.assert_array_equal(read_image(path), frames[number])
    assert [line.split("\t")[0] for line in result.stdout.splitlines()] == [
        f"walk/{p.name}" for p in pictures
    ]


def test_the_folder_is_a_project_with_what_the_model_sees(suggested):
    out = suggested[1]
    assert format_of(out) == "deeplabcut"
    photos = read_annotations(out)
    assert "chin" in photos.keypoint_names
    assert len(photos) >= 2
    known = np.isfinite([photo.points for photo in photos]).all(axis=3)
    assert known.mean() > 0.3


@pytest.mark.parametrize("name", ["annotations.json", "annotations.xml"])
def test_pre_annotations_open_in_other_tools(suggested, name):
    photos = read_annotations(suggested[1] / name)
    assert photos.problems == ()
    assert len(photos) == 4
    project = read_annotations(suggested[1])
    by_name = {photo.name.removeprefix("labeled-data/"): photo for photo in photos}
    for photo in project:
        theirs = by_name[photo.name].points[0]
        for mine, name in zip(photo.points[0], project.keypoint_names, strict=True):
            if np.isfinite(mine).all():
                np.testing.assert_allclose(theirs[photos.keypoint_index(name)], mine, atol=0.01)


def test_label_studio_gets_predictions(suggested):
    tasks = json.loads((suggested[1] / "label-studio.json").read_text())
    assert len(tasks) == 4
    assert all("annotations" not in task for task in tasks)
    assert any(task["predictions"][0]["result"] for task in tasks)
    assert '<Label value="chin"/>' in (suggested[1] / "label-studio.config.xml").read_text()


def test_labels_of_before_are_never_replaced(annealed, suggested, clip):
    result = annealed("suggest-frames", clip, "--out", suggested[1])
    assert result.exit_code == 2
    assert "--overwrite" in result.stderr


def test_videos_that_cannot_be_read_are_one_line(annealed, tmp_path):
    (tmp_path / "a.mp4").write_text("hello")
    result = annealed("suggest-frames", tmp_path / "a.mp4", tmp_path / "b.mp4", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 3
    assert not (tmp_path / "out").exists()
