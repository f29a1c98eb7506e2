from dataclasses import replace

import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.models.keypoints.objects.model import Evidence, Objects, boxes_of, overlaps, squared_angles
from annealed.models.keypoints.objects.poses import AnglePrior
from annealed.models.keypoints.objects.shape import RigidShape
from annealed.models.keypoints.training.object_fitting import crude_model

SHAPE = np.array([[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 1.0, 0.0]])


@pytest.fixture
def model():
    """Three keypoints with round weights."""
    shape = RigidShape(SHAPE, np.full(3, 0.1), AnglePrior(np.zeros(3), np.diag([0.04, 0.01, 0.01])))
    return replace(
        crude_model(shape),
        spread=np.full(3, 0.1),
        intercept=-5.0,
        keypoint_weights=np.array([[1.0, 2.0, -0.5], [0.5, 1.0, -0.25], [0.0, 1.0, 0.0]]),
        pose_weights=np.array([-0.1, -1.0, -1.5]),
        point_weights=np.array([[[-2.0, 0.5, 0, -3.0, -0.5]] * 3, [[-1.0, 0.5, 2.0, -1.0, -1.0]] * 3]),
    )


@pytest.fixture
def scene():
    """An upright face of size 10 at (100, 50), turned by 0.2; the third keypoint is missing."""
    poses = np.array([[100.0, 50.0, np.log(10.0), 0.0, 0.0, 0.0]])
    points = np.array([[[95.0, 50.0], [107.0, 50.0], [100.0, 60.0]]])  # the second is 2 px off: 2 spreads
    found = np.array([[True, True, False]])
    score, octaves = np.array([[1.5, 3.0, 0.0]]), np.array([[0.5, -0.1, 0.0]])
    return poses, Evidence(points, found, score, octaves, np.zeros((1, 3)))


def test_log_odds_by_hand(model, scene):
    poses, evidence = scene
    # found: 1 + 2 * 1.5; 0.5 + 3 - 0.25 * 4; scales: (0.25 + 0.01) / 2
    assert model.log_odds(poses, evidence)[0] == pytest.approx(-5 + 4 + 2.5 - 0.13)
    turned = poses + np.array([0, 0, 0, 0.2, 0, 0])
    # one standard deviation of yaw, and both eyes are nearer to the middle
    left, right = 95 - (100 - 5 * np.cos(0.2)), 107 - (100 + 5 * np.cos(0.2))
    expected = -5 + 4 - 0.5 * left**2 + 3.5 - 0.25 * right**2 - 0.1 - 0.13
    assert model.log_odds(turned, evidence)[0] == pytest.approx(expected)


def test_far_detections_and_wild_scores_are_bounded(model, scene):
    poses, evidence = scene
    evidence.points[0, 1] = 1e6
    evidence.score[0, 1] = 1e6
    assert model.log_odds(poses, evidence)[0] == pytest.approx(-5 + 4 + 0.5 + 12 - 0.25 * 9 - 0.13)


def test_point_log_odds_by_hand(model, scene):
    poses, evidence = scene
    odds = model.point_log_odds(poses, evidence, np.array([4.0]))
    np.testing.assert_allclose(odds, [[-1 + 2 + 3, -1 + 2 + 6 - 4, -2 + 2]])


def test_unsure_alignments_count_against_faces_and_keypoints(model, scene):
    poses, evidence = scene
    sure, points = model.log_odds(poses, evidence), model.point_log_odds(poses, evidence, np.array([4.0]))
    evidence.unsure[0] = [0.02, 7.0, 0.1]  # the second is bounded
    assert model.log_odds(poses, evidence)[0] == pytest.approx(sure[0] - 1.5 * (0.4 + 6.0 + 2.0) / 3)
    np.testing.assert_allclose(
        model.point_log_odds(poses, evidence, np.array([4.0])), points - [[0.4, 6.0, 1.0]]
    )


def test_squared_angles_by_hand(model, scene):
    poses = scene[0] + np.array([0, 0, 0, 0.4, 0.1, -0.2])
    assert squared_angles(poses, model.shape.prior)[0] == pytest.approx(4 + 1 + 4)


def test_boxes_hold_all_keypoints_and_a_margin(model, scene):
    np.testing.assert_allclose(boxes_of(scene[0], SHAPE), [[95, 50, 105, 60]])
    np.testing.assert_allclose(boxes_of(scene[0], SHAPE, 0.25), [[92.5, 47.5, 107.5, 62.5]])


def test_overlaps_by_hand():
    box = np.array([0.0, 0, 10, 10])
    boxes = np.array([[0, 0, 10, 10], [2, 2, 4, 4], [5, 0, 15, 10], [10, 0, 20, 10], [-100, -100, 100, 100]])
    np.testing.assert_allclose(overlaps(box, boxes.astype(float)), [1, 1, 0.5, 0, 1])


def two_faces():
    rng = np.random.default_rng(0)
    return Objects(
        ("a", "b"),
        boxes=np.array([[0.0, 0, 9, 9], [20, 0, 29, 9]]),
        poses=np.zeros((2, 3)),
        sizes=np.array([5.0, 6.0]),
        scores=np.array([2.0, 1.0]),
        points=rng.uniform(size=(2, 2, 2)),
        found=np.array([[True, False], [True, True]]),
        keypoint_scores=np.array([[0.4, -1.0], [0.1, 0.9]]),
        scales=np.array([0.5, 0.6]),
        errors=rng.uniform(size=(2, 2)),
    )


def test_detections_of_faces_carry_their_number():
    faces = two_faces()
    detections = faces.detections
    assert detections.score.tolist() == [0.9, 0.4, 0.1, -1.0]
    assert detections.keypoint.tolist() == ["b", "a", "a", "b"]
    assert detections.object.tolist() == [1, 0, 1, 0]
    assert detections.found.tolist() == [True, True, True, False]
    assert detections.scale.tolist() == [0.6, 0.5, 0.6, 0.5]
    np.testing.assert_array_equal([detections.x[0], detections.y[0]], faces.points[1, 1])


def test_faces_are_chosen_by_slice_and_mask():
    faces = two_faces()
    assert len(faces) == 2
    assert faces[:1].scores.tolist() == [2.0]
    assert faces[faces.scores < 2].found.tolist() == [[True, True]]
    assert faces[:0].detections.x.shape == (0,)


def test_faces_of_different_lengths():
    with pytest.raises(DataError, match=r"objects: boxes has shape \(1, 4\), expected \(2, 4\)"):
        replace(two_faces(), boxes=np.zeros((1, 4)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"spread": np.zeros(3)}, "spread must be above 0"),
        ({"spread": np.ones(2)}, "spread must be finite numbers of shape"),
        ({"keypoint_weights": np.zeros((3, 2))}, "keypoint_weights"),
        ({"pose_weights": np.array([np.nan, 0])}, "pose_weights must be finite"),
        ({"point_weights": np.zeros((3, 4))}, "point_weights"),
        ({"intercept": np.inf}, "not finite"),
    ],
)
def test_face_model_refuses(model, changes, message):
    with pytest.raises(DataError, match=message):
        replace(model, **changes)
