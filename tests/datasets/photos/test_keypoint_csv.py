import numpy as np
import pytest
from PIL import Image

from annealed.datasets.photos.keypoint_csv import load_keypoints
from annealed.features.errors import DataError


@pytest.fixture
def folder(tmp_path):
    """Two photos of 40 x 30 pixels; the first has two faces."""
    (tmp_path / "images").mkdir()
    for name in ("a.png", "b.png"):
        Image.new("RGB", (40, 30)).save(tmp_path / "images" / name)
    (tmp_path / "keypoints.csv").write_text(
        "image,face,keypoint,x,y,visible\n"
        "a.png,0,eye,10.5,5,1\n"
        "a.png,0,chin,11,20,0\n"
        "a.png,1,eye,30,6,1\n"
        "b.png,0,chin,7,8,1\n"
    )
    return tmp_path


def test_load_keypoints_reads_points(folder):
    photos = load_keypoints(folder)
    assert photos.problems == ()
    assert photos.keypoint_names == ("eye", "chin")
    assert [photo.name for photo in photos] == ["a.png", "b.png"]
    first, second = photos.photos
    assert first.object_names == ("0", "1")
    np.testing.assert_array_equal(first.points, [[(10.5, 5), (11, 20)], [(30, 6), (np.nan, np.nan)]])
    np.testing.assert_array_equal(first.visible, [[True, False], [True, False]])
    np.testing.assert_array_equal(second.points, [[(np.nan, np.nan), (7, 8)]])
    assert first.read().shape == (30, 40, 3)


def test_load_keypoints_reads_boxes_sizes_and_ignore_regions(folder):
    (folder / "faces.csv").write_text(
        "image,face,x0,y0,x1,y1,eye_distance\na.png,0,1,2,3,4,12.5\na.png,1,5,6,7,8,\n"
    )
    (folder / "ignore.csv").write_text("image,x0,y0,x1,y1\nb.png,1,2,3,4\nb.png,5,6,7,8\n")
    first, second = load_keypoints(folder).photos
    np.testing.assert_array_equal(first.boxes, [[1, 2, 3, 4], [5, 6, 7, 8]])
    np.testing.assert_array_equal(first.sizes, [12.5, np.nan])
    assert np.isnan(second.sizes).all()
    np.testing.assert_array_equal(second.ignore, [[1, 2, 3, 4], [5, 6, 7, 8]])
    assert first.ignore.shape == (0, 4)


def test_load_keypoints_images_csv_names_photos_without_objects(folder):
    Image.new("RGB", (8, 9)).save(folder / "images" / "empty.png")
    (folder / "images.csv").write_text("image,width,height\nempty.png,8,9\na.png,40,30\n")
    photos = load_keypoints(folder)
    assert [photo.name for photo in photos] == ["empty.png", "a.png", "b.png"]
    assert photos.photos[0].points.shape == (0, 2, 2)


def test_load_keypoints_takes_the_file_photos_beside_it_and_few_columns(tmp_path):
    Image.new("RGB", (40, 30)).save(tmp_path / "a.png")
    (tmp_path / "keypoints.csv").write_text("\ufeffimage,keypoint,x,y\na.png,tip,3,4\n", encoding="utf-8")
    photos = load_keypoints(tmp_path / "keypoints.csv")
    assert photos.photos[0].object_names == ("0",)
    assert photos.photos[0].visible.all()


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("a.png,2,eye,ten,5,1", "line 6: x is 'ten', expected a number"),
        ("a.png,2,eye,1,nan,1", "line 6: y is 'nan', expected a finite number"),
        ("a.png,2,eye,1", "line 6: y is '', expected a number"),
        ("a.png,2,,1,1,1", "line 6: keypoint is empty"),
        ("a.png,0,eye,1,1,1", "line 6: eye of object 0 is there twice"),
        ("a.png,2,eye,1,1,maybe", "line 6: visible is 'maybe', expected 1 or 0"),
        ("gone.png,0,eye,1,1,1", "gone.png: no such photo"),
    ],
)
def test_load_keypoints_leaves_out_one_bad_row_and_says_so(folder, row, problem):
    good = load_keypoints(folder)
    with open(folder / "keypoints.csv", "a") as stream:
        stream.write(row + "\n")
    photos = load_keypoints(folder)
    assert len(photos.problems) == 1
    assert problem in photos.problems[0]
    for before, after in zip(good, photos, strict=True):
        np.testing.assert_array_equal(after.points, before.points)


def test_load_keypoints_point_outside_its_photo_is_hidden(folder):
    with open(folder / "keypoints.csv", "a") as stream:
        stream.write("b.png,0,eye,40,3,1\n")
    photos = load_keypoints(folder)
    assert "eye of object 0 at x=40, y=3 lies outside the photo (40 x 30)" in photos.problems[0]
    np.testing.assert_array_equal(photos.photos[1].points[0, 0], (40, 3))
    assert not photos.photos[1].visible[0, 0]


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("faces.csv", "image,face,x0,y0,x1,y1\na.png,0,9,2,3,4\n", "box 9,2,3,4 ends before it begins"),
        (
            "faces.csv",
            "image,face,eye_distance\na.png,0,-3\n",
            "eye_distance is -3, expected a positive number",
        ),
        ("ignore.csv", "image,x0,y0,x1,y1\nz.png,1,2,3,4\n", "z.png has no other annotation"),
        (
            "images.csv",
            "image,width,height\na.png,39,30\n",
            "40 x 30 pixels, but the annotation says 39 x 30",
        ),
    ],
)
def test_load_keypoints_bad_row_in_a_companion_file(folder, file, text, problem):
    (folder / file).write_text(text)
    photos = load_keypoints(folder)
    assert len(photos.problems) == 1
    assert problem in photos.problems[0]


def test_load_keypoints_corrupt_photo_among_good_ones(folder):
    (folder / "images" / "a.png").write_bytes(b"not a picture")
    photos = load_keypoints(folder)
    assert [photo.name for photo in photos] == ["b.png"]
    assert "a.png: not a picture" in photos.problems[0]


def test_load_keypoints_missing_folder(tmp_path):
    with pytest.raises(DataError, match=r"nowhere.*no such annotation file"):
        load_keypoints(tmp_path / "nowhere")


def test_load_keypoints_missing_column(folder):
    (folder / "keypoints.csv").write_text("image,keypoint,x\na.png,eye,1\n")
    with pytest.raises(DataError, match=r"column y is missing \(found image, keypoint, x\)"):
        load_keypoints(folder)


@pytest.mark.parametrize("text", ["", "image,keypoint,x,y\n", "image,keypoint,x,y\ngone.png,eye,1,1\n"])
def test_load_keypoints_nothing_usable(folder, text):
    (folder / "keypoints.csv").write_text(text)
    with pytest.raises(DataError, match=r"is missing|no usable photo"):
        load_keypoints(folder)


def test_load_keypoints_binary_file(folder):
    (folder / "keypoints.csv").write_bytes(b"\xff\xfe\x00\x81" * 9)
    with pytest.raises(DataError, match="not UTF-8 text"):
        load_keypoints(folder)
