from dataclasses import replace

import cv2
import numpy as np
import pytest
from skimage.data import astronaut

from annealed.features.errors import ParameterError
from annealed.models import load_model
from annealed.models.keypoints.videos.nearby import Place, _angles_near, detect_near
from annealed.models.keypoints.videos.smoothing import smooth_tracks
from annealed.models.keypoints.videos.tracker import ObjectTracker, probability

FACE = astronaut()[0:260, 100:340]


@pytest.fixture(scope="module")
def face():
    return load_model("face")


def scene(*places, shape=(420, 640)):
    """A grey frame with the same face at places (x, y)."""
    image = np.full((*shape, 3), 90, dtype=np.uint8)
    for x, y in places:
        image[y : y + FACE.shape[0], x : x + FACE.shape[1]] = FACE
    return image


def test_a_face_is_found_near_where_it_is_as_in_the_whole_frame(face):
    image = scene((200, 80))
    whole = face.detect_objects(image)
    near = detect_near(face, image, Place(whole.boxes[0] + 5.0, float(whole.sizes[0])))
    assert len(near) == len(whole) == 1
    away = np.linalg.norm(near.points - whole.points, axis=2) / whole.sizes[0]
    assert away.mean() < 0.02
    assert abs(near.scores[0] - whole.scores[0]) < 1.5


def test_nothing_is_found_where_nothing_is(face):
    near = detect_near(face, scene((390, 80)), Place(np.array([40.0, 60.0, 120.0, 160.0]), 50.0))
    assert len(near) == 0


@pytest.mark.parametrize("box", [[900.0, 10.0, 950.0, 60.0], [-90.0, -90.0, -80.0, -80.0]])
def test_a_place_outside_the_frame_tells_nothing(face, box):
    assert detect_near(face, scene(), Place(np.array(box), 10.0)) is None


def test_a_face_that_moves_is_followed_with_few_scans(face):
    tracker = ObjectTracker(face, 1)
    places = [(20 + 12 * t, 40 + 5 * t) for t in range(20)]
    for t, place in enumerate(places):
        tracker.step(scene(place), t)
    tracks = tracker.tracks()
    assert tracks.n_objects == 1
    assert tracks.there.all()
    assert tracker.n_scans == 1
    moved = tracks.points[:, 0].mean(axis=1) - tracks.points[0, 0].mean(axis=0)
    truth = np.array(places) - places[0]
    assert np.linalg.norm(moved - truth, axis=1).max() < 0.05 * tracks.sizes[0, 0]


def test_two_faces_keep_their_numbers(face):
    tracker = ObjectTracker(face, 2)
    for t in range(8):
        tracker.step(scene((0, 10 + 15 * t), (320 + 8 * t, 140 - 15 * t)), t)
    x = tracker.tracks().centres()[..., 0]
    assert np.isfinite(x).all()
    left = int(np.argmin(x[0]))
    assert (np.argmin(x, axis=1) == left).all()
    assert np.ptp(x[:, left]) < 10


def test_any_number_of_faces_is_followed_when_none_is_stated(face):
    tracker = ObjectTracker(face)
    for t in range(6):
        places = [(10 * t, 40)] + ([(330, 100)] if t >= 3 else [])
        tracker.step(scene(*places), t)
    there = tracker.tracks().there
    np.testing.assert_array_equal(there, [[True, t >= 3] for t in range(6)])


def test_a_face_that_is_away_for_a_while_leaves_a_gap_that_is_filled(face):
    tracker = ObjectTracker(face, 1)
    for t in range(14):
        tracker.step(scene(*([] if 5 <= t < 8 else [(40 + 10 * t, 60)])), t)
    tracks = tracker.tracks()
    np.testing.assert_array_equal(np.flatnonzero(~tracks.there[:, 0]), [5, 6, 7])
    smoothed = smooth_tracks(tracks)
    np.testing.assert_array_equal(np.flatnonzero(smoothed.filled[:, 0]), [5, 6, 7])
    steps = np.diff(smoothed.centres()[4:9, 0, 0])
    np.testing.assert_allclose(steps, 10, atol=1.5)


def test_single_keypoints_make_up_one_object(face):
    tracker = ObjectTracker(face, 1, raw=True)
    for t in range(3):
        followed = tracker.step(scene((150 + 4 * t, 60)), t)
    assert len(followed) == 1
    assert len(followed.found) >= 5
    tracks = tracker.tracks()
    seen = np.isfinite(tracks.points[:, 0]).all(axis=(0, 2))
    assert seen.sum() >= 5
    steps = np.diff(tracks.points[:, 0, seen, 0], axis=0)
    assert np.median(np.abs(steps - 4)) < 1


def test_an_empty_video_has_no_trajectories(face):
    tracks = ObjectTracker(face, 1).tracks()
    assert len(tracks) == 0
    assert len(smooth_tracks(tracks)) == 0


def test_single_keypoints_of_several_objects_are_refused(face):
    with pytest.raises(ParameterError, match="told apart"):
        ObjectTracker(face, 2, raw=True)


def test_no_objects_are_refused(face):
    with pytest.raises(ParameterError, match="at least 1"):
        ObjectTracker(face, 0)


def test_probability_is_the_logistic_function():
    np.testing.assert_allclose(probability(np.array([-1000.0, 0.0, 2.0])), [0, 0.5, 1 / (1 + np.exp(-2))])


def test_only_the_nearest_angles_are_looked_at():
    angles = tuple(float(degrees) for degrees in range(0, 360, 45))
    assert _angles_near(angles, 350.0) == (0.0, 315.0)
    assert _angles_near(angles, -170.0) == (180.0, 225.0)
    assert _angles_near(angles, None) == angles
    assert _angles_near((0.0,), 90.0) == (0.0,)


def test_a_turning_face_is_followed_at_all_angles(face):
    around = replace(face, angles=tuple(float(degrees) for degrees in range(0, 360, 45)))
    tracker = ObjectTracker(around, 1)
    for t in range(10):
        turn = cv2.getRotationMatrix2D((215, 190), -12.0 * t, 1.0)
        image = cv2.warpAffine(scene((95, 60), shape=(380, 430)), turn, (430, 380), borderValue=(90, 90, 90))
        tracker.step(image, t)
    tracks = tracker.tracks()
    assert tracks.there.all()
    assert tracker.n_scans <= 3
    first, last = tracks.points[0, 0], tracks.points[9, 0]
    expected = (first - [215, 190]) @ cv2.getRotationMatrix2D((0, 0), -108.0, 1.0)[:, :2].T + [215, 190]
    assert np.linalg.norm(last - expected, axis=1).mean() < 0.15 * tracks.sizes[0, 0]
