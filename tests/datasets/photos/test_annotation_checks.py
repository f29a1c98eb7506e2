"""Labels that are right, and then one mistake at a time."""

from dataclasses import replace

import numpy as np
import pytest

from annealed.datasets.photos.annotation_checks import check_annotations, side_pairs
from annealed.datasets.photos.photo_set import Photo, PhotoSet, with_sizes

NAMES = "snout", "leftear", "rightear", "tailbase"
SHAPE = np.array([[0.0, -30.0], [-12.0, -15.0], [12.0, -15.0], [0.0, 40.0]])


def make_set(n=30, seed=0):
    """The same animal turned by any angle, with some noise; frames do not follow one another."""
    rng = np.random.default_rng(seed)
    photos = []
    for i in range(n):
        angle = rng.uniform(-np.pi, np.pi)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        points = SHAPE * rng.uniform(0.8, 1.2) @ turn.T + rng.uniform(80, 120, 2) + rng.normal(0, 1.5, (4, 2))
        box = np.concatenate([points.min(axis=0) - 5, points.max(axis=0) + 5])
        photos.append(
            Photo(
                name=f"clip/img{10 * i:04}.png",
                source=rng.integers(0, 256, (200, 200, 3), dtype=np.uint8),
                object_names=("0",),
                points=points[None],
                visible=np.ones((1, 4), dtype=bool),
                sizes=np.full(1, np.nan),
                boxes=box[None],
            )
        )
    return with_sizes(PhotoSet(NAMES, tuple(photos)), "box")


def changed(photos, i, **fields):
    mine = list(photos.photos)
    mine[i] = replace(mine[i], **fields)
    return replace(photos, photos=tuple(mine))


def with_point(photos, i, k, place):
    points = photos.photos[i].points.copy()
    points[0, k] = place
    return changed(photos, i, points=points)


def kinds(photos, **options):
    return [(f.kind, f.photo, f.keypoints) for f in check_annotations(photos, **options)]


def test_labels_that_are_right_pass():
    assert kinds(make_set()) == []


def test_a_point_outside_its_picture():
    photos = with_point(make_set(), 3, 0, (230.0, 100.0))
    found = check_annotations(photos)
    (outside,) = [f for f in found if f.kind == "outside-picture"]
    assert outside.photo == "clip/img0030.png"
    assert "lies 30 px outside the picture (200 x 200)" in outside.message


def test_a_point_outside_its_box():
    photos = make_set()
    box = photos.photos[4].boxes + np.array([0.0, 0.0, -30.0, -30.0])
    found = kinds(changed(photos, 4, boxes=box))
    assert found
    assert {(kind, name) for kind, name, _ in found} == {("outside-box", "clip/img0040.png")}


@pytest.mark.parametrize("box", [(20, 20, 20, 90), (300, 20, 350, 60), (-90, -90, -50, -50)])
def test_a_box_that_holds_nothing(box):
    found = kinds(changed(make_set(), 4, boxes=np.array([box], dtype=float)))
    assert ("box", "clip/img0040.png", ()) in found


@pytest.mark.parametrize("n_swapped", [1, 4])
def test_swapped_sides_at_any_angle(n_swapped):
    photos = make_set()
    for i in range(n_swapped):
        photos = changed(photos, 5 * i, points=photos.photos[5 * i].points[:, [0, 2, 1, 3]])
    found = kinds(photos)
    assert [f[0] for f in found] == ["swapped"] * n_swapped
    assert {f[1] for f in found} == {f"clip/img{50 * i:04}.png" for i in range(n_swapped)}
    assert found[0][2] == ("leftear", "rightear")


def test_a_point_in_an_odd_place():
    photos = make_set()
    away = photos.photos[7].points[0, 3] + [55.0, 0.0]
    found = kinds(changed(with_point(photos, 7, 3, np.clip(away, 5, 195)), 7, boxes=np.full((1, 4), np.nan)))
    assert ("odd-place", "clip/img0070.png", ("tailbase",)) in found
    assert {name for _, name, _ in found} == {"clip/img0070.png"}


def test_two_keypoints_at_the_same_place():
    photos = make_set()
    found = kinds(with_point(photos, 2, 1, photos.photos[2].points[0, 2]))
    assert ("same-place", "clip/img0020.png", ("leftear", "rightear")) in found


def test_the_same_object_and_the_same_picture_twice():
    photos = make_set()
    first = photos.photos[0]
    twice = changed(
        photos,
        0,
        object_names=("0", "1"),
        points=first.points + np.array([[[0.0, 0.0]], [[0.5, 0.0]]]),
        visible=np.ones((2, 4), dtype=bool),
        sizes=np.repeat(first.sizes, 2),
        boxes=np.repeat(first.boxes, 2, axis=0),
    )
    assert kinds(twice) == [("duplicate", "clip/img0000.png", ())]
    same_picture = changed(photos, 9, source=first.source)
    assert kinds(same_picture) == [("duplicate", "clip/img0090.png", ())]


def test_a_jump_between_neighbouring_frames():
    photos = make_set()
    start = photos.photos[0]
    mine = [
        replace(
            start,
            name=f"clip/img{i:04}.png",
            points=start.points + np.array([2.0, 1.0]) * i,
            boxes=np.full((1, 4), np.nan),
            source=photo.source,
        )
        for i, photo in enumerate(photos.photos)
    ]
    photos = replace(photos, photos=tuple(mine))
    assert kinds(photos) == []
    jumping = with_point(photos, 12, 3, photos.photos[12].points[0, 3] + [-60.0, -30.0])
    found = kinds(jumping)
    assert ("jump", "clip/img0012.png", ("tailbase",)) in found
    assert {name for kind, name, _ in found if kind == "jump"} <= {"clip/img0012.png", "clip/img0013.png"}


def test_objects_that_are_too_small():
    photos = make_set()
    found = kinds(changed(photos, 1, sizes=np.array([12.0])))
    assert found == [("small", "clip/img0010.png", ())]
    assert kinds(photos, smallest_px=1000.0)[0][0] == "small"


def test_keypoints_that_are_rare_or_never_there():
    photos = make_set()
    for i in range(len(photos)):
        points, visible = photos.photos[i].points.copy(), photos.photos[i].visible.copy()
        points[0, 0], visible[0, 0] = np.nan, False
        photos = changed(photos, i, points=points, visible=visible)
    found = check_annotations(photos)
    assert [f.message for f in found] == ["snout is visible in 0 of 30 objects, fewer than 20"]


def test_objects_without_any_keypoint():
    photos = make_set()
    nothing = np.full((1, 4, 2), np.nan)
    assert ("empty", "clip/img0020.png", ()) in kinds(changed(photos, 2, points=nothing))


def test_nan_everywhere_is_said_and_nothing_else():
    photos = make_set(3)
    for i in range(3):
        fields = {"points": np.full((1, 4, 2), np.nan), "visible": np.zeros((1, 4), dtype=bool)}
        photos = changed(photos, i, boxes=np.full((1, 4), np.nan), sizes=np.full(1, np.nan), **fields)
    assert {kind for kind, _, _ in kinds(photos)} == {"empty", "rare"}


def test_a_keypoint_fixed_to_the_scene_does_not_jump():
    photos = make_set()
    mine = []
    for i, photo in enumerate(photos.photos):
        points = photos.photos[0].points + np.array([3.0 * i, 0.0])
        points[0, 3] = 20.0, 20.0
        mine.append(replace(photo, name=f"clip/img{i:04}.png", points=points, boxes=np.full((1, 4), np.nan)))
    assert "jump" not in {kind for kind, _, _ in kinds(replace(photos, photos=tuple(mine)))}


def test_problems_of_reading_come_first():
    photos = replace(make_set(), problems=("line 5: bad",))
    assert check_annotations(photos)[0].message == "line 5: bad"


def test_side_pairs():
    names = "LeftPaw", "RightPaw", "left_eye", "right_eye", "left_foot", "tail"
    assert side_pairs(names) == [(0, 1), (2, 3)]
