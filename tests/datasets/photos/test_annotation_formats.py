"""Every format, written by hand here, reads as the same three photos."""

import json
import sqlite3

import numpy as np
import pytest
from PIL import Image
from scipy.io import loadmat, savemat

from annealed.app.output.annotation_files import write_annotations
from annealed.datasets.photos.annotation_formats import (
    READERS,
    format_of,
    read_annotations,
)
from annealed.datasets.photos.annotation_writers import WRITERS
from annealed.datasets.photos.keypoint_schemes import AFLW_19, AFLW_21, POINTS_OF_68, from_68
from annealed.features.errors import DataError, ParameterError

# photo -> object -> keypoint -> x, y, seen
TRUTH = {
    "a.jpg": [{"left_eye_center": (10.5, 12, True), "chin": (14, 30.25, True)}],
    "b.jpg": [
        {"left_eye_center": (5, 6, True), "chin": (6, 18, False)},
        {"left_eye_center": (25, 7, True)},
    ],
}
BOXES = {"a.jpg": [(5, 6, 24, 35)], "b.jpg": [(1, 2, 14, 21), (20, 2, 33, 21)]}  # x0, y0, x1, y1
WIDTH, HEIGHT = 40, 44
HIDES = {"csv", "coco", "cvat", "labelme", "yolo-pose"}  # formats that know hidden keypoints


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "images").mkdir()
    rng = np.random.default_rng(0)
    for name in TRUTH:
        pixels = rng.integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "images" / name)
    return tmp_path


def every_point():
    for photo, objects in TRUTH.items():
        for i, points in enumerate(objects):
            for keypoint, (x, y, seen) in points.items():
                yield photo, i, keypoint, x, y, seen


def write_csv(folder):
    lines = ["image,face,keypoint,x,y,visible"]
    lines += [
        f"{photo},{i},{keypoint},{x},{y},{int(seen)}" for photo, i, keypoint, x, y, seen in every_point()
    ]
    (folder / "keypoints.csv").write_text("\n".join(lines))
    boxes = [f"{photo},{i},{','.join(map(str, b))}" for photo in TRUTH for i, b in enumerate(BOXES[photo])]
    (folder / "faces.csv").write_text("image,face,x0,y0,x1,y1\n" + "\n".join(boxes))
    return folder


def write_coco(folder):
    names = ["left_eye_center", "chin"]
    annotations = []
    for image_id, (photo, objects) in enumerate(TRUTH.items()):
        for i, points in enumerate(objects):
            flat = [points.get(name, (0, 0, None)) for name in names]
            flat = [v for x, y, seen in flat for v in (x, y, 0 if seen is None else 1 + seen)]
            x0, y0, x1, y1 = BOXES[photo][i]
            annotations.append(
                {"id": len(annotations), "image_id": image_id, "category_id": 7, "keypoints": flat,
                 "bbox": [x0, y0, x1 - x0, y1 - y0]}
            )  # fmt: skip
    images = [{"id": i, "file_name": n, "width": WIDTH, "height": HEIGHT} for i, n in enumerate(TRUTH)]
    categories = [{"id": 7, "name": "face", "keypoints": names}]
    document = {"images": images, "annotations": annotations, "categories": categories}
    (folder / "people.json").write_text(json.dumps(document))
    return folder / "people.json"


def write_aflw(folder):
    path = folder / "aflw.sqlite"
    database = sqlite3.connect(path)
    database.executescript(
        """
        CREATE TABLE Objects (face_id INTEGER, file_id TEXT, db_id TEXT);
        CREATE TABLE FaceImages (image_id INTEGER, db_id TEXT, file_id TEXT, filepath TEXT, width, height);
        CREATE TABLE FaceRect (face_id INTEGER, x, y, w, h);
        CREATE TABLE FeatureCoords (face_id INTEGER, feature_id INTEGER, x, y);
        """
    )
    face_id = 100
    for image_id, (photo, objects) in enumerate(TRUTH.items()):
        database.execute(
            "INSERT INTO FaceImages VALUES (?, 'flickr', ?, ?, ?, ?)",
            (image_id, f"id{image_id}", photo, WIDTH, HEIGHT),
        )
        for i, points in enumerate(objects):
            face_id += 1
            x0, y0, x1, y1 = BOXES[photo][i]
            database.execute("INSERT INTO Objects VALUES (?, ?, 'flickr')", (face_id, f"id{image_id}"))
            database.execute(
                "INSERT INTO FaceRect VALUES (?, ?, ?, ?, ?)", (face_id, x0, y0, x1 - x0, y1 - y0)
            )
            for keypoint, (x, y, _) in points.items():
                feature_id = AFLW_21.index(keypoint) + 1
                database.execute("INSERT INTO FeatureCoords VALUES (?, ?, ?, ?)", (face_id, feature_id, x, y))
    database.commit()
    database.close()
    return path


def write_imglab(folder):
    lines = ["<?xml version='1.0'?>", "<dataset><images>"]
    for photo, objects in TRUTH.items():
        lines.append(f"<image file='images/{photo}'>")
        for i, points in enumerate(objects):
            x0, y0, x1, y1 = BOXES[photo][i]
            lines.append(f"<box top='{y0}' left='{x0}' width='{x1 - x0 + 1}' height='{y1 - y0 + 1}'>")
            lines += [f"<part name='{name}' x='{x}' y='{y}'/>" for name, (x, y, _) in points.items()]
            lines.append("</box>")
        lines.append("</image>")
    (folder / "faces.xml").write_text("\n".join([*lines, "</images></dataset>"]))
    return folder / "faces.xml"


def write_cvat(folder):
    lines = ["<?xml version='1.0'?>", "<annotations>"]
    for photo, objects in TRUTH.items():
        lines.append(f"<image id='0' name='{photo}' width='{WIDTH}' height='{HEIGHT}'>")
        for i, points in enumerate(objects):
            x0, y0, x1, y1 = BOXES[photo][i]
            lines.append(f"<box label='face' group_id='{i}' xtl='{x0}' ytl='{y0}' xbr='{x1}' ybr='{y1}'/>")
            lines += [
                f"<points label='{name}' group_id='{i}' occluded='{int(not seen)}' points='{x},{y}'/>"
                for name, (x, y, seen) in points.items()
            ]
        lines.append("</image>")
    (folder / "annotations.xml").write_text("\n".join([*lines, "</annotations>"]))
    return folder / "annotations.xml"


def write_deeplabcut(folder):
    columns = [(who, name) for who in ("one", "two") for name in ("left_eye_center", "chin")]
    header = [
        ["scorer"] + ["me"] * 8,
        ["individuals"] + [who for who, _ in columns for _ in "xy"],
        ["bodyparts"] + [name for _, name in columns for _ in "xy"],
        ["coords"] + list("xy") * 4,
    ]
    rows = []
    for photo, objects in TRUTH.items():
        cells = {
            (("one", "two")[i], name): (x, y)
            for i, points in enumerate(objects)
            for name, (x, y, _) in points.items()
        }
        rows.append([f"labeled-data/clip/{photo}"] + [v for c in columns for v in cells.get(c, ("", ""))])
    text = "\n".join(",".join(map(str, row)) for row in header + rows)
    (folder / "CollectedData_me.csv").write_text(text)
    return folder / "CollectedData_me.csv"


def write_pts(folder):
    """68 points, of which those that a keypoint is the mean of lie around it."""
    offsets = np.array([[-2, 0], [-1, -1], [1, -1], [2, 0], [1, 1], [-1, 1]])
    for photo, objects in TRUTH.items():
        for i, points in enumerate(objects):
            all_68 = np.full((68, 2), 9.0)
            for name, (x, y, _) in points.items():
                indices = list(POINTS_OF_68[name])
                all_68[indices] = np.array([x, y]) + (offsets if len(indices) == 6 else 0)
            lines = [f"{x + 1} {y + 1}" for x, y in all_68]  # counted from 1
            if photo == "a.jpg":
                lines = ["version: 1", "n_points: 68", "{", *lines, "}"]
            stem = photo.removesuffix(".jpg") + (f"_{i + 1}" if len(objects) > 1 else "")
            (folder / f"{stem}.pts").write_text("\n".join(lines))
    return folder


def write_aflw_mat(folder):
    for photo, objects in TRUTH.items():
        points = np.full((2, 21), -1.0)
        for name, (x, y, _) in objects[0].items():
            points[:, AFLW_21.index(name)] = x, y
        savemat(folder / f"{photo.removesuffix('.jpg')}.mat", {"pt2d": points})
    return folder


def write_label_studio(folder):
    tasks = []
    for photo, objects in TRUTH.items():
        size = {"original_width": WIDTH, "original_height": HEIGHT}
        result = []
        for i, points in enumerate(objects):
            sides = WIDTH, HEIGHT, WIDTH, HEIGHT
            x0, y0, x1, y1 = (100 * v / side for v, side in zip(BOXES[photo][i], sides, strict=True))
            value = {"x": x0, "y": y0, "width": x1 - x0, "height": y1 - y0, "rectanglelabels": ["face"]}
            result.append({"id": f"b{i}", "type": "rectanglelabels", "value": value, **size})
            for name, (x, y, _) in points.items():
                value = {"x": 100 * x / WIDTH, "y": 100 * y / HEIGHT, "keypointlabels": [name]}
                result.append({"type": "keypointlabels", "value": value, "parentID": f"b{i}", **size})
        data = {"img": f"/data/upload/1/0a1b2c3d-{photo}"}
        tasks.append({"data": data, "annotations": [{"was_cancelled": True}, {"result": result}]})
    (folder / "export.json").write_text(json.dumps(tasks))
    return folder / "export.json"


def write_labelme(folder):
    for photo, objects in TRUTH.items():
        shapes = []
        for i, points in enumerate(objects):
            x0, y0, x1, y1 = BOXES[photo][i]
            shapes.append(
                {"label": "face", "shape_type": "rectangle", "group_id": i, "points": [[x1, y0], [x0, y1]]}
            )
            for name, (x, y, seen) in points.items():
                shapes.append(
                    {"label": name, "shape_type": "point", "group_id": i, "points": [[x, y]],
                     "flags": {"occluded": not seen}}
                )  # fmt: skip
        document = {"version": "5", "shapes": shapes, "imagePath": f"..\\images\\{photo}", "imageData": None}
        (folder / photo).with_suffix(".json").write_text(json.dumps(document))
    return folder


def write_yolo_pose(folder):
    (folder / "labels").mkdir()
    (folder / "data.yaml").write_text(
        "path: .\ntrain: images\nkpt_shape: [2, 3]\nnames: {0: face}\n"
        "kpt_names: {0: [left_eye_center, chin]}\n"
    )
    for photo, objects in TRUTH.items():
        lines = []
        for i, points in enumerate(objects):
            x0, y0, x1, y1 = BOXES[photo][i]
            values = [(x0 + x1) / 2 / WIDTH, (y0 + y1) / 2 / HEIGHT, (x1 - x0) / WIDTH, (y1 - y0) / HEIGHT]
            for name in ("left_eye_center", "chin"):
                x, y, seen = points.get(name, (0, 0, None))
                values += [x / WIDTH, y / HEIGHT, 0 if seen is None else 1 + seen]
            lines.append(" ".join(["0", *map(str, values)]))
        (folder / "labels" / photo).with_suffix(".txt").write_text("\n".join(lines))
    return folder


WRITTEN = {
    "csv": write_csv,
    "coco": write_coco,
    "aflw": write_aflw,
    "imglab": write_imglab,
    "cvat": write_cvat,
    "deeplabcut": write_deeplabcut,
    "label-studio": write_label_studio,
    "labelme": write_labelme,
    "yolo-pose": write_yolo_pose,
    "pts": write_pts,
    "aflw-mat": write_aflw_mat,
}


def test_every_reader_is_tested():
    assert set(WRITTEN) | {"opencv", "sleap"} == set(READERS)  # these two in test_label_tools.py


@pytest.mark.parametrize("form", WRITTEN)
def test_formats_read_as_the_same_photos(folder, form):
    path = WRITTEN[form](folder)
    assert format_of(path) == form
    photos = read_annotations(path)
    assert photos.problems == ()
    assert [photo.name.removeprefix("images/") for photo in photos] == list(TRUTH)
    for photo, (name, objects) in zip(photos, TRUTH.items(), strict=True):
        if form == "aflw-mat":  # one face a photo
            objects = objects[:1]
        if form == "deeplabcut":  # every individual that is in the photo
            objects = [points for points in objects if points]
        assert len(photo.object_names) == len(objects)
        assert photo.read().shape == (HEIGHT, WIDTH, 3)
        for i, points in enumerate(objects):
            for keypoint, (x, y, seen) in points.items():
                j = photos.keypoint_index(keypoint)
                np.testing.assert_allclose(photo.points[i, j], (x, y))
                assert photo.visible[i, j] == (seen or form not in HIDES)
            if form != "pts":  # there, all 68 points are always annotated
                assert np.isfinite(photo.points[i]).all(axis=1).sum() == len(points)
            if form not in ("deeplabcut", "pts", "aflw-mat"):
                np.testing.assert_allclose(photo.boxes[i], BOXES[name][i])


@pytest.mark.parametrize("form", sorted(set(WRITERS) - {"opencv", "sleap", "deeplabcut"}))
def test_written_sets_read_back(folder, tmp_path, form):
    photos = read_annotations(write_coco(folder))
    region = np.array([[1.0, 2.0, 8.0, 9.0]])
    object.__setattr__(photos.photos[0], "ignore", region)
    is_folder = form in ("csv", "labelme", "yolo-pose")
    out = folder / ("converted" if is_folder else "converted.xml" if form == "cvat" else "converted.json")
    write_annotations(photos, out, form)
    if is_folder:
        (folder / "images").rename(out / "images")
    again = read_annotations(out)
    assert again.problems == ()
    assert again.keypoint_names == photos.keypoint_names
    for one, two in zip(photos, again, strict=True):
        np.testing.assert_allclose(two.points, one.points, rtol=1e-6)
        if form in HIDES:
            np.testing.assert_array_equal(two.visible, one.visible)
        np.testing.assert_allclose(two.boxes, one.boxes, rtol=1e-6)
        if form != "yolo-pose":  # which has no place for them
            np.testing.assert_allclose(two.ignore, one.ignore, rtol=1e-6)


def test_points_of_68():
    points = np.stack([np.arange(68.0), 100 + np.arange(68.0)], axis=1)
    found = from_68(points)
    assert found["left_eye_center"].tolist() == [38.5, 138.5]
    assert found["right_eye_center"].tolist() == [44.5, 144.5]
    singles = {
        "left_nose": 31,
        "right_nose": 35,
        "left_mouth_corner": 48,
        "right_mouth_corner": 54,
        "chin": 8,
    }
    assert {name: found[name][0] for name in singles} == singles


def test_schemes():
    assert len(AFLW_21) == len(set(AFLW_21)) == 21
    assert len(AFLW_19) == 19
    assert (AFLW_21.index("left_eye_center"), AFLW_19.index("chin")) == (7, 18)


def test_unnamed_coco_points_are_told_by_their_number(folder):
    path = write_coco(folder)
    document = json.loads(path.read_text())
    document["categories"][0]["keypoints"] = []
    for annotation in document["annotations"]:
        annotation["keypoints"] = [1, 2, 2] * 19
    path.write_text(json.dumps(document))
    photos = read_annotations(path)
    assert photos.keypoint_names == AFLW_19
    assert photos.photos[0].points[0, 7].tolist() == [1, 2]


def test_regions_to_ignore(folder):
    path = write_coco(folder)
    document = json.loads(path.read_text())
    document["annotations"][0]["iscrowd"] = 1
    path.write_text(json.dumps(document))
    assert read_annotations(path).photos[0].ignore.tolist() == [[5, 6, 24, 35]]
    path = write_imglab(folder)
    path.write_text(path.read_text().replace("<box top='6'", "<box ignore='1' top='6'"))
    assert read_annotations(path).photos[0].ignore.tolist() == [[5, 6, 24, 35]]
    path = write_cvat(folder)
    path.write_text(path.read_text().replace("label='face'", "label='ignore'", 1))
    assert read_annotations(path).photos[0].ignore.tolist() == [[5, 6, 24, 35]]


@pytest.mark.parametrize("width", ["wide", "nan", "inf"])
def test_a_stated_size_that_is_no_number_is_a_problem_of_its_photo(folder, width):
    path = write_cvat(folder)
    path.write_text(path.read_text().replace(f"width='{WIDTH}'", f"width='{width}'", 1))
    photos = read_annotations(path)
    assert len(photos.photos) == len(TRUTH)
    assert len(photos.problems) == 1


def test_cvat_skeletons(folder):
    (folder / "annotations.xml").write_text(
        "<annotations><image name='a.jpg' width='40' height='44'>"
        "<skeleton label='fly'><points label='wing' points='3,4' occluded='1'/>"
        "<points label='leg' points='9,9' outside='1'/></skeleton>"
        "<skeleton label='fly'><points label='wing' points='13,14'/></skeleton>"
        "</image></annotations>"
    )
    photos = read_annotations(folder / "annotations.xml")
    wing = photos.keypoint_index("wing")
    assert photos.photos[0].points[:, wing].tolist() == [[3, 4], [13, 14]]
    assert photos.photos[0].visible[:, wing].tolist() == [False, True]
    assert np.isnan(photos.photos[0].points[:, photos.keypoint_index("leg")]).all()


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("form", "old", "new", "problem"),
    [
        ("coco", '"image_id": 0', '"image_id": 99', "image_id 99 is none of the images"),
        ("coco", "[10.5, 12, 2, 14, 30.25, 2]", "[1, 2, 2]", "1 keypoints; its category names 2"),
        ("coco", '"bbox": [5, 6', '"bbox": [5, 6, -1, 9], "x": [0', "expected x, y, width, height"),
        ("imglab", "x='10.5'", "x='left'", "x of a part is 'left', expected a number"),
        ("imglab", "name='chin'", "name='left_eye_center'", "left_eye_center of object 0 is there twice"),
        ("cvat", "points='10.5,12'", "points='10.5'", "points is '10.5', expected x,y"),
        ("deeplabcut", ",10.5,", ",west,", "left_eye_center is 'west', expected a number"),
    ],
)
def test_a_bad_part_is_reported_and_the_rest_is_read(folder, form, old, new, problem):
    path = WRITTEN[form](folder)
    edit(path, old, new)
    photos = read_annotations(path)
    assert problem in " ".join(photos.problems)
    assert "b.jpg" in photos.photos[-1].name


HUGE = "1" + 400 * "0"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"image_id": 0', '"image_id": {}', "annotation 1: image_id"),
        ('"image_id": 0', '"image_id": null', "annotation 1: image_id"),
        ("[10.5, 12, 2, 14, 30.25, 2]", '{"a": 1}', "annotation 1: keypoints"),
        ("[10.5, 12, 2, 14, 30.25, 2]", "[10.5, 12, 2, 14]", "4 numbers for keypoints"),
        ("10.5, 12, 2", "Infinity, 12, 2", "annotation 1: keypoints.0"),
        ("10.5, 12, 2", f"{HUGE}, 12, 2", "annotation 1: keypoints.0"),
        ("10.5, 12, 2", "1e200, 12, 2", "annotation 1: keypoints.0"),
        ("10.5, 12, 2", "[[[]]], 12, 2", "annotation 1: keypoints.0"),
        ('"bbox": [5, 6', '"bbox": "wide", "x": [0', "annotation 1: bbox"),
        ('"bbox": [5, 6', '"bbox": [null, null, 3, 4], "x": [0', "annotation 1: bbox.0"),
        ('"annotations": [', '"annotations": [7, null, "x", ', "annotation 3: Input should be"),
        ('"images": [', '"images": [7, {"id": []}, ', "image 2: id"),
        ('"categories": [', '"categories": [[], ', "category 1: "),
        ('"images": [', f'"images": [{{"id": 9, "file_name": "{300 * "n"}"}}, ', "nnn: "),
        ('"images": [', '"images": [{"id": 9, "file_name": "a", "width": 1e99, "height": 1}, ', "width"),
    ],
)
def test_members_of_the_wrong_type_are_problems(folder, old, new, problem):
    path = write_coco(folder)
    edit(path, old, new)
    photos = read_annotations(path)
    assert problem in " ".join(photos.problems)
    assert photos.photos[-1].name == "b.jpg"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"images": [], "annotations": ' + "9" * 5000 + "}",
        '{"images": 3, "annotations": []}',
        '{"images": [], "annotations": [], "categories": 5}',
        "null",
        '"',
    ],
)
def test_a_file_that_is_no_coco_is_one_line(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(DataError, match=r"a\.json: not"):
        read_annotations(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE FaceImages SET width = 'wide'", "'wide' where a number of pixels is expected"),
        ("UPDATE FaceImages SET height = 9e999", "'inf' where a number of pixels"),
        ("UPDATE FaceRect SET w = x'ff'", "where a number of pixels"),
        ("UPDATE FeatureCoords SET x = 1e200", "'1e+200' where a number of pixels"),
        ("INSERT INTO FeatureCoords VALUES (101, 'chin', 1, 1)", "feature_id is 'chin'"),
    ],
)
def test_values_of_another_type_in_aflw_are_problems(folder, statement, problem):
    path = write_aflw(folder)
    database = sqlite3.connect(path)
    database.execute(statement)
    database.commit()
    database.close()
    try:
        problems = " ".join(read_annotations(path).problems)
    except DataError as error:
        problems = str(error)
    assert problem in problems


def test_text_of_aflw_that_is_no_utf8_is_a_photo_that_is_not_there(folder):
    path = write_aflw(folder)
    database = sqlite3.connect(path)
    database.execute("UPDATE FaceImages SET filepath = CAST(x'ff41' AS TEXT) WHERE filepath = 'a.jpg'")
    database.commit()
    database.close()
    assert "no such photo" in " ".join(read_annotations(path).problems)


def test_views_that_compute_for_ever_are_refused(tmp_path):
    path = tmp_path / "a.sqlite"
    database = sqlite3.connect(path)
    database.execute(
        "CREATE VIEW Objects AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT i AS face_id, i AS file_id FROM n"
    )
    database.commit()
    database.close()
    with pytest.raises(DataError, match="it needs the tables Objects, FaceImages"):
        read_annotations(path)


def test_joins_without_end_are_stopped(folder, monkeypatch):
    path = write_aflw(folder)
    database = sqlite3.connect(path)
    database.executemany(
        "INSERT INTO Objects (face_id, file_id) VALUES (?, 1)", [(i,) for i in range(5000, 30000)]
    )
    database.commit()
    database.close()
    monkeypatch.setenv("ANNEALED_INPUT_WORK", "1000")
    with pytest.raises(DataError, match="more than 1000 steps to read; ANNEALED_INPUT_WORK=2G"):
        read_annotations(path)


def test_bad_aflw_rows(folder):
    path = write_aflw(folder)
    database = sqlite3.connect(path)
    database.execute("INSERT INTO FeatureCoords VALUES (101, 44, 1, 1)")
    database.execute("INSERT INTO FeatureCoords VALUES (999, 1, 1, 1)")
    database.execute("INSERT INTO FeatureCoords VALUES (102, 21, NULL, 1)")
    database.commit()
    database.close()
    problems = " ".join(read_annotations(path).problems)
    assert "feature_id is 44, expected 1 to 21" in problems
    assert "a point of a face that is not in the table Objects" in problems
    assert "face 102" in problems


def test_bad_pts_and_mat_files(folder):
    write_pts(folder)
    (folder / "c.pts").write_text("1 1\n")
    (folder / "a.pts").write_text("1 2\n" * 67)
    (folder / "b_1.pts").write_text("one two\n" * 68)
    photos = read_annotations(folder)
    assert sorted(photos.problems) == [
        "a.pts: 67 points; 68 are expected",
        "b_1.pts: a coordinate is 'one', expected a number",
        "c.pts: no photo of this name",
    ]
    write_aflw_mat(folder)
    savemat(folder / "b.mat", {"pt2d": np.zeros((2, 5))})
    (folder / "c.mat").write_bytes(b"nothing")
    problems = " ".join(read_annotations(folder, "aflw-mat").problems)
    assert "b.mat: pt2d has shape (2, 5), expected (2, 21)" in problems
    assert "c.mat: not a MATLAB file" in problems


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.json", "{", "not JSON"),
        ("x.json", "[]", "not a COCO file"),
        ("x.xml", "<dataset", "not XML"),
        ("x.xml", "<dataset><images/></dataset>", "no usable photo"),
        ("x.xml", "<other/>", "begins with <other>, expected <annotations>"),
        ("x.sqlite", "nothing", "not the database of AFLW"),
        ("x.csv", "bodyparts,a,a\n", "needs the header rows"),
        ("x.csv", "bodyparts,a,a\ncoords,x,y\nimg,1\n", "line 3 has 2 cells"),
        ("x.txt", "1 2", "annotation format cannot be told"),
    ],
)
def test_files_that_are_no_annotation(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message):
        read_annotations(tmp_path / name)


def test_nothing_there(tmp_path):
    with pytest.raises(DataError, match="no annotation in this folder"):
        read_annotations(tmp_path)
    with pytest.raises(DataError, match="no such file or folder"):
        read_annotations(tmp_path / "none")
    with pytest.raises(ParameterError, match="format must be one of csv"):
        read_annotations(tmp_path, "yaml")


@pytest.mark.real_data
def test_aflw_sample_agrees_with_its_table(data_folder):
    """The points that its own CSV was derived from."""
    root = data_folder / "faces" / "aflw-sample"
    table = read_annotations(root)
    expected = {photo.name: photo for photo in table}
    mats = sorted((root / "original").glob("*.mat"))
    assert mats
    for mat in mats:
        points = dict(zip(AFLW_21, loadmat(mat)["pt2d"].T, strict=True))
        photo = expected[f"{mat.stem}.jpg"]
        for name in table.keypoint_names:
            point = photo.points[0, table.keypoint_index(name)]
            if np.isfinite(point).all():
                np.testing.assert_allclose(point, points[name], atol=0.006)
