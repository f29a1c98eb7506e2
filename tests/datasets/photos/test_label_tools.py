"""What the label tools' files may hold beside what every format holds."""

import json

import numpy as np
import pytest
from PIL import Image

from annealed.app.output.annotation_files import write_annotations
from annealed.datasets.photos.annotation_formats import format_of, read_annotations
from annealed.datasets.photos.photo_set import Photo, PhotoSet
from annealed.features.errors import DataError, ParameterError


@pytest.fixture
def folder(tmp_path):
    for name in ("a.jpg", "b c.jpg"):
        Image.new("RGB", (80, 60), (90, 99, 80)).save(tmp_path / name)
    return tmp_path


def make_set(folder, n_objects=1):
    rng = np.random.default_rng(0)
    photos = []
    for name in ("a.jpg", "b c.jpg"):
        points = rng.uniform(5, 50, (n_objects, 2, 2))
        photos.append(
            Photo(
                name=name,
                source=folder / name,
                object_names=tuple(map(str, range(n_objects))),
                points=points,
                visible=np.ones((n_objects, 2), dtype=bool),
                sizes=np.full(n_objects, np.nan),
                boxes=np.concatenate([points.min(axis=1), points.max(axis=1)], axis=1),
            )
        )
    return PhotoSet(("nose", "tail"), tuple(photos))


def test_opencv_list_has_boxes_and_their_middles(folder):
    (folder / "info.txt").write_text("a.jpg 2 10 20 31 11 1 2 5 5\nb c.jpg 1 0 0 21 21\n\n")
    assert format_of(folder / "info.txt") == "opencv"
    photos = read_annotations(folder / "info.txt")
    assert [photo.name for photo in photos] == ["a.jpg", "b c.jpg"]
    assert photos.keypoint_names == ("center",)
    assert photos.photos[0].points.tolist() == [[[25, 25]], [[3, 4]]]
    assert photos.photos[0].boxes[0].tolist() == [10, 20, 40, 30]


def test_opencv_list_written_and_read(folder):
    photos = make_set(folder, 2)
    write_annotations(photos, folder / "info.txt", "opencv")
    again = read_annotations(folder / "info.txt")
    for one, two in zip(photos, again, strict=True):
        np.testing.assert_allclose(two.boxes, np.rint(one.boxes))


@pytest.mark.parametrize(
    "line", ["a.jpg 2 1 2 3 4", "a.jpg", "a.jpg 1 1 2 -3 4", "a.jpg one 1 2 3 4", "a.jpg 1 1 2 nan 4"]
)
def test_a_bad_line_of_an_opencv_list_is_reported(folder, line):
    (folder / "info.txt").write_text("b c.jpg 1 0 0 21 21\n" + line)
    photos = read_annotations(folder / "info.txt")
    assert len(photos) == 1
    assert "info.txt line 2: " in photos.problems[0]


def label_studio(folder, result, image="a.jpg", **task):
    tasks = [{"data": {"image": image}, "annotations": [{"result": result}], **task}]
    (folder / "export.json").write_text(json.dumps(tasks))
    return folder / "export.json"


def region(kind, label, **value):
    size = {"original_width": 80, "original_height": 60}
    return {"type": f"{kind}labels", "value": {f"{kind}labels": [label], **value}, **size}


def test_label_studio_points_belong_to_the_box_around_them(folder):
    boxes = [
        {**region("rectangle", "mouse", x=0, y=0, width=40, height=40), "id": "one"},
        {**region("rectangle", "mouse", x=50, y=50, width=40, height=40), "id": "two"},
    ]
    points = [region("keypoint", "nose", x=60, y=60), region("keypoint", "nose", x=10, y=10)]
    photos = read_annotations(label_studio(folder, boxes + points))
    np.testing.assert_allclose(photos.photos[0].points[:, 0], [[8, 6], [48, 36]])


def test_label_studio_point_in_no_box_is_reported(folder):
    boxes = [{**region("rectangle", "mouse", x=0, y=0, width=9, height=9), "id": str(i)} for i in range(2)]
    points = [region("keypoint", "nose", x=60, y=60), region("keypoint", "tail", x=5, y=5)]
    photos = read_annotations(label_studio(folder, boxes + points))
    assert "nose lies in none of 2 boxes" in photos.problems[0]


def test_label_studio_regions_to_ignore_and_local_files(folder):
    result = [
        region("rectangle", "ignore", x=10, y=10, width=10, height=10),
        region("keypoint", "nose", x=50, y=50),
    ]
    photos = read_annotations(label_studio(folder, result, "/data/local-files/?d=some%2Fb%20c.jpg"))
    assert photos.photos[0].name == "b c.jpg"
    assert photos.photos[0].ignore.tolist() == [[8, 6, 16, 12]]


def test_tasks_that_nobody_labelled_are_no_negatives(folder):
    path = label_studio(folder, [region("keypoint", "nose", x=50, y=50)])
    tasks = json.loads(path.read_text())
    path.write_text(json.dumps([*tasks, {"data": {"image": "b c.jpg"}, "predictions": [{"result": []}]}]))
    assert [photo.name for photo in read_annotations(path)] == ["a.jpg"]


@pytest.mark.parametrize(
    "change",
    [
        {"data": 5},
        {"data": {"text": "no picture"}},
        {"data": {"image": "a" * 300 + ".jpg"}, "annotations": [{"result": 5}]},
        {"annotations": [5]},
        {"annotations": [{"result": [{"type": "keypointlabels"}]}]},
        {"annotations": [{"result": [region("keypoint", "nose", x="ten", y=5)]}]},
        {"annotations": [{"result": [region("rectangle", "mouse", x=5, y=5, width=-5, height=1)]}]},
    ],
)
def test_broken_tasks_are_reported(folder, change):
    path = label_studio(folder, [region("keypoint", "nose", x=50, y=50)])
    (good,) = json.loads(path.read_text())
    path.write_text(json.dumps([good, {**good, "data": {"image": "b c.jpg"}, **change}]))
    photos = read_annotations(path)
    assert photos.photos[0].name == "a.jpg"
    assert photos.problems[0].startswith("export.json task 2: ")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.json", "[{}, 2]", "not an export of Label Studio"),
        ("x.json", '{"shapes": 5}', "not a file of LabelMe"),
        ("x.json", '{"shapes": [{"label": 5}, 7], "imagePath": "a.jpg"}', "no usable photo"),
        ("data.yaml", "kpt_shape: [two]", "kpt_shape"),
        ("data.yaml", "kpt_shape: [1000000, 3]", "kpt_shape is"),
        ("data.yaml", "- a\n- b\n", "holds no settings"),
        ("x.slp", "hello", "x.slp"),
    ],
)
def test_what_cannot_be_read_ends_in_one_line(folder, name, text, message):
    (folder / name).write_text(text)
    with pytest.raises(DataError, match=message):
        read_annotations(folder / name)


def test_yolo_names_without_kpt_names_and_bad_lines(folder):
    (folder / "images").mkdir()
    (folder / "a.jpg").rename(folder / "images" / "a.jpg")
    (folder / "labels").mkdir()
    (folder / "labels" / "a.txt").write_text("0 .5 .5 .5 .5 .25 .5 .5 .5\n0 .5 .5\n0 .5 .5 .5 .5 0 0 nan 1\n")
    (folder / "set.yaml").write_text("train: images\nkpt_shape: [2, 2]\n")
    photos = read_annotations(folder)
    assert photos.keypoint_names == ("keypoint_0", "keypoint_1")
    assert photos.photos[0].points.tolist() == [[[20, 30], [40, 30]]]
    assert len(photos.problems) == 2


@pytest.mark.parametrize("n_objects", [1, 2])
@pytest.mark.filterwarnings("ignore")  # pandas of how PyTables keeps names
def test_deeplabcut_project_written_and_read(folder, n_objects):
    photos = make_set(folder, n_objects)
    write_annotations(photos, folder / "project", "deeplabcut")
    place = folder / "project" / "labeled-data" / "photos"
    for name in ("a.jpg", "b c.jpg"):
        (folder / name).rename(place / name)
    again = read_annotations(folder / "project")
    assert again.problems == ()
    for one, two in zip(photos, again, strict=True):
        np.testing.assert_allclose(two.points, one.points)
    (place / "CollectedData_annealed.csv").unlink()
    if (place / "CollectedData_annealed.h5").exists():
        np.testing.assert_allclose(
            read_annotations(folder / "project").photos[1].points, photos.photos[1].points
        )


@pytest.mark.filterwarnings("ignore")
def test_sleap_written_and_read(folder):
    pytest.importorskip("sleap_io")
    photos = make_set(folder, 2)
    write_annotations(photos, folder / "labels.slp", "sleap")
    assert format_of(folder / "labels.slp") == "sleap"
    again = read_annotations(folder / "labels.slp")
    assert again.keypoint_names == photos.keypoint_names
    for one, two in zip(photos, again, strict=True):
        assert one.name in two.name
        assert two.read().shape == (60, 80, 3)
        np.testing.assert_allclose(two.points, one.points, atol=1e-4)


@pytest.mark.filterwarnings("ignore")
def test_sleap_predictions_and_missing_videos_are_left_out(folder):
    sio = pytest.importorskip("sleap_io")
    skeleton = sio.Skeleton(nodes=["nose", "tail"])
    points = np.array([[10.0, 20.0], [30.0, np.nan]])
    pictures = {"a.jpg": sio.Instance, "b c.jpg": sio.PredictedInstance, "gone.jpg": sio.Instance}
    frames = [
        sio.LabeledFrame(
            video=sio.Video.from_filename([str(folder / name)]),
            frame_idx=0,
            instances=[kind.from_numpy(points, skeleton=skeleton)],
        )
        for name, kind in pictures.items()
    ]
    sio.save_slp(sio.Labels(frames), str(folder / "labels.slp"))
    photos = read_annotations(folder / "labels.slp")
    assert len(photos) == 1
    assert np.isnan(photos.photos[0].points[0, 1]).all()
    assert "gone.jpg" in photos.problems[0]


def test_an_unknown_format_is_refused(folder):
    with pytest.raises(ParameterError, match="can be written as"):
        write_annotations(make_set(folder), folder / "x", "pdf")


def test_settings_that_grow_without_end_are_refused(folder):
    """Names of names of names: a few lines stand for more text than there is memory."""
    lines = ["a: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"b{i}: &a{i + 1} [{', '.join([f'*a{i}'] * 9)}]" for i in range(12)]
    for key in ("kpt_shape", "kpt_names", "train"):
        (folder / "data.yaml").write_text("\n".join([*lines, "kpt_shape: [2, 3]", f"{key}: *a12", ""]))
        with pytest.raises(DataError, match=f"data.yaml: {key}"):
            read_annotations(folder / "data.yaml")
    merged = ["a: &a0 {x: 1}", *(f"b{i}: &a{i + 1} {{<<: [{', '.join([f'*a{i}'] * 9)}]}}" for i in range(12))]
    (folder / "data.yaml").write_text("\n".join([*merged, "kpt_shape: [2, 3]", ""]))
    with pytest.raises(DataError, match="merged mappings"):
        read_annotations(folder / "data.yaml")


def test_a_photo_of_a_name_that_no_file_can_have_is_left_out(folder):
    path = label_studio(folder, [region("keypoint", "nose", x=50, y=50)])
    (good,) = json.loads(path.read_text())
    path.write_text(json.dumps([good, {**good, "data": {"image": "a" * 300 + ".jpg"}}]))
    (problem,) = read_annotations(path).problems
    assert "cannot be the name of a photo" in problem


@pytest.mark.parametrize("place", ["/", "../..", "images/../../..", "a" * 300, '"a\\0b"'])
def test_yolo_looks_for_photos_in_its_own_folder_only(folder, place):
    (folder / "yolo" / "images").mkdir(parents=True)
    (folder / "yolo" / "data.yaml").write_text(f"kpt_shape: [2, 3]\ntrain: {place}\n")
    with pytest.raises(DataError, match="no usable photo"):
        read_annotations(folder / "yolo")


def test_more_keypoints_than_anything_has_are_refused(folder):
    region_of = [region("keypoint", f"k{i}", x=50, y=50) for i in range(1001)]
    with pytest.raises(DataError, match="the most is 1000"):
        read_annotations(label_studio(folder, region_of))
