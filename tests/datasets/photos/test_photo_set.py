import numpy as np
import pytest

from annealed.datasets.photos.photo_set import Photo, PhotoSet, object_boxes, with_sizes
from annealed.features.errors import DataError, ParameterError

NAMES = ("left_eye_center", "right_eye_center", "chin")
NAN = np.nan


def make_photo(points, *, sizes=None, boxes=None, name="a", source=None):
    points = np.array(points, dtype=np.float64).reshape(-1, len(NAMES), 2)
    n = len(points)
    return Photo(
        name=name,
        source=np.zeros((50, 60, 3), dtype=np.uint8) if source is None else source,
        object_names=tuple(str(i) for i in range(n)),
        points=points,
        visible=np.isfinite(points).all(axis=2),
        sizes=np.array([NAN] * n if sizes is None else sizes, dtype=np.float64),
        boxes=np.array([[NAN] * 4] * n if boxes is None else boxes, dtype=np.float64).reshape(n, 4),
    )


TWO_FACES = [[(10, 10), (13, 14), (30, 12)], [(10, 40), (NAN, NAN), (30, 44)]]


def sizes_of(photo, reference, names=NAMES):
    return with_sizes(PhotoSet(names, (photo,)), reference).photos[0].sizes


def test_with_sizes_pair_falls_back_on_the_annotated_size():
    photo = make_photo(TWO_FACES, sizes=[99, 7])
    np.testing.assert_allclose(sizes_of(photo, ("left_eye_center", "right_eye_center")), [5, 7])


def test_with_sizes_pair_without_anything_is_nan():
    np.testing.assert_allclose(sizes_of(make_photo(TWO_FACES), "auto"), [5, NAN])


def test_with_sizes_of_coinciding_points_is_not_zero():
    photo = make_photo([[(10, 10), (10, 10), (30, 12)]], sizes=[8])
    np.testing.assert_allclose(sizes_of(photo, "auto"), [8])


def test_with_sizes_annotated():
    np.testing.assert_allclose(sizes_of(make_photo(TWO_FACES, sizes=[99, 7]), "size"), [99, 7])


def test_with_sizes_box_of_annotation_or_points():
    photo = make_photo(TWO_FACES, boxes=[[0, 0, 8, 18], [NAN] * 4])
    np.testing.assert_allclose(sizes_of(photo, "box"), [12, np.sqrt(20 * 4)])


def test_with_sizes_auto_without_eyes_uses_annotation_then_box():
    names = ("a", "b", "c")
    np.testing.assert_allclose(sizes_of(make_photo(TWO_FACES, sizes=[99, 7]), "auto", names), [99, 7])
    np.testing.assert_allclose(
        sizes_of(make_photo(TWO_FACES, boxes=[[0, 0, 9, 4], [0, 0, 4, 4]]), "auto", names), [6, 4]
    )


@pytest.mark.parametrize(
    ("reference", "message"),
    [("nose", "'auto', 'size', 'box'"), (("chin", "beard"), "'beard' is not annotated")],
)
def test_with_sizes_unknown_reference(reference, message):
    with pytest.raises(ParameterError, match=message):
        sizes_of(make_photo(TWO_FACES), reference)


def test_object_boxes_of_an_object_without_anything():
    boxes = object_boxes(make_photo([[(NAN, NAN)] * 3]))
    assert np.isnan(boxes).all()


def test_photo_set_slices_and_counts():
    photos = PhotoSet(NAMES, tuple(make_photo(TWO_FACES, name=str(i)) for i in range(5)))
    assert len(photos) == 5
    assert photos.n_objects == 10
    assert [photo.name for photo in photos[1:3]] == ["1", "2"]
    assert [photo.name for photo in photos[np.array([4, 0])]] == ["4", "0"]


def test_photo_set_split_is_a_partition_that_the_seed_decides():
    photos = PhotoSet(NAMES, tuple(make_photo(TWO_FACES, name=str(i)) for i in range(10)))
    first, second = photos.split(0.3, seed=1)
    assert len(second) == 3
    names = [photo.name for photo in first], [photo.name for photo in second]
    assert sorted(names[0] + names[1]) == [str(i) for i in range(10)]
    assert [photo.name for photo in photos.split(0.3, seed=1)[1]] == names[1]
    assert [photo.name for photo in photos.split(0.3, seed=2)[1]] != names[1]


@pytest.mark.parametrize("fraction", [0, 1, -0.1, 2])
def test_photo_set_split_bad_fraction(fraction):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        PhotoSet(NAMES, ()).split(fraction)


def test_photo_with_arrays_that_disagree():
    with pytest.raises(DataError, match=r"sizes has shape \(1,\), expected \(2,\)"):
        make_photo(TWO_FACES, sizes=[3])


def test_photo_set_with_other_keypoints():
    with pytest.raises(DataError, match="3 keypoints, but the set names 2"):
        PhotoSet(NAMES[:2], (make_photo(TWO_FACES),))


def test_photo_reads_a_file_that_is_gone(tmp_path):
    with pytest.raises(DataError, match="no such photo"):
        make_photo(TWO_FACES, source=tmp_path / "gone.png").read()
