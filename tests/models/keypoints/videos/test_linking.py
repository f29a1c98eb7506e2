import numpy as np

from annealed.models.keypoints.videos.linking import Linker

SHAPE = np.array([[-10.0, 0.0], [10.0, 0.0], [0.0, 20.0]])


def at(*places):
    return np.array([SHAPE + place for place in places]).reshape(-1, 3, 2)


def step(linker, *places, scores=None, elapsed=1):
    points = at(*places)
    scores = np.full(len(points), 5.0) if scores is None else np.array(scores)
    return linker.step(points, np.full(len(points), 20.0), scores, elapsed).tolist()


def test_objects_keep_their_numbers_when_their_order_changes():
    linker = Linker()
    assert step(linker, (50, 50), (200, 50)) == [0, 1]
    assert step(linker, (198, 52), (52, 51)) == [1, 0]


def test_objects_that_cross_are_told_apart_by_their_velocity():
    linker = Linker(2)
    for t in range(21):
        assert step(linker, (100 + 5 * t, 100), (200 - 5 * t, 104)) == [0, 1]


def test_an_object_that_is_lost_for_a_while_comes_back_as_itself():
    linker = Linker()
    for t in range(10):
        step(linker, (50 + 3 * t, 50))
    for _ in range(5):
        assert step(linker) == []
    assert step(linker, (90, 50)) == [0]


def test_an_object_that_is_lost_for_long_is_another():
    linker = Linker(keep=5)
    step(linker, (50, 50))
    for _ in range(6):
        step(linker)
    assert step(linker, (50, 50)) == [1]


def test_a_known_number_of_objects_keeps_its_numbers_however_long_one_is_lost():
    linker = Linker(1, keep=5)
    step(linker, (50, 50))
    for _ in range(30):
        step(linker)
    assert step(linker, (400, 300)) == [0]


def test_only_so_many_objects_are_numbered():
    linker = Linker(1)
    assert step(linker, (50, 50), (200, 50), scores=[1.0, 4.0]) == [-1, 0]
    assert step(linker, (50, 50), (203, 50), scores=[1.0, 4.0]) == [-1, 0]


def test_a_weak_detection_elsewhere_does_not_take_the_place_of_a_near_one():
    linker = Linker(1)
    step(linker, (50, 50))
    assert step(linker, (52, 50), (300, 300), scores=[1.0, 3.0]) == [0, -1]


def test_a_much_stronger_detection_elsewhere_does():
    linker = Linker(1)
    step(linker, (50, 50))
    assert step(linker, (52, 50), (300, 300), scores=[-5.0, 12.0]) == [-1, 0]


def test_frames_that_are_passed_over_count():
    linker = Linker()
    for t in range(0, 40, 4):
        assert step(linker, (50 + 2 * t, 50), elapsed=4 if t else 1) == [0]


def test_missing_keypoints_are_left_out():
    linker = Linker()
    points = at((50, 50))
    points[0, 0] = np.nan
    assert linker.step(points, np.array([20.0]), np.array([3.0])).tolist() == [0]
    assert linker.step(at((51, 50)), np.array([20.0]), np.array([3.0])).tolist() == [0]
