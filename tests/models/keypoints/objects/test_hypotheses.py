import numpy as np
import pytest

from annealed.models.keypoints.detections import join_detections, make_detections
from annealed.models.keypoints.objects.hypotheses import (
    MOST_OF_A_KEYPOINT,
    OCTAVES,
    RADIUS,
    best_hypotheses,
    candidates_of,
    fit_to,
    propose,
    support_value,
    supports,
)
from annealed.models.keypoints.objects.poses import ANGLES, LOG_SIZE, AnglePrior, project
from annealed.models.keypoints.objects.shape import RigidShape
from annealed.models.keypoints.training.object_fitting import crude_model

NAMES = ("a", "b", "c", "d", "e")
SHAPE = np.array([[-0.5, -0.6, 0.15], [0.5, -0.6, 0.15], [0, 0, -0.35], [-0.4, 0.4, 0.05], [0.4, 0.4, 0.05]])
OBJECT_PX = 28.0


@pytest.fixture
def model():
    """Rigid, of five keypoints, turned by some 20 degrees either way."""
    return crude_model(RigidShape(SHAPE, np.full(5, 0.03), AnglePrior(np.zeros(3), np.eye(3) * 0.12)))


def poses_at(rows):
    """Poses from (x, y, size, yaw, pitch, roll in degrees)."""
    poses = np.array(rows, dtype=np.float64)
    poses[:, LOG_SIZE] = np.log(poses[:, LOG_SIZE])
    poses[:, ANGLES] = np.deg2rad(poses[:, ANGLES])
    return poses


def detections_of(poses, rng, *, missing=(), clutter=0, noise=0.02, score=3.0):
    """Detections of all keypoints of faces but the missing (face, keypoint), amid clutter in 600 x 500 px."""
    parts = []
    size = np.exp(poses[:, LOG_SIZE])
    points = project(poses, SHAPE) + noise * size[:, None, None] * rng.normal(size=(len(poses), 5, 2))
    for k, name in enumerate(NAMES):
        seen = [i for i in range(len(poses)) if (i, k) not in missing]
        scales = size[seen] / OBJECT_PX * 2 ** rng.uniform(-0.25, 0.25, size=len(seen))
        parts.append(make_detections(*points[seen, k].T, scales, np.full(len(seen), score), name))
        x, y = rng.uniform(0, (600, 500), size=(clutter, 2)).T
        scales = 2 ** rng.uniform(-0.5, 2.5, size=clutter)
        parts.append(make_detections(x, y, scales, rng.uniform(0, 1.5, size=clutter), name))
    return join_detections(parts)


def found_in(detections, model, lowest=0.0):
    return best_hypotheses(candidates_of(detections, NAMES, OBJECT_PX), model, lowest)


def test_one_face_amid_clutter(model, rng):
    truth = poses_at([(300, 200, 60, 20, -10, 12)])
    poses, evidence = found_in(detections_of(truth, rng, clutter=12), model)
    poses = fit_to(poses, evidence, model, n_steps=10)
    assert len(poses) >= 1
    assert evidence.found[0].all()
    assert (evidence.score[0] == 3.0).all()
    np.testing.assert_allclose(poses[0, :2], truth[0, :2], atol=3)
    assert np.exp(poses[0, LOG_SIZE]) == pytest.approx(60, rel=0.08)
    assert np.abs(np.rad2deg(poses[0] - truth[0])[3:]).max() < 10


def test_several_faces_of_different_sizes(model, rng):
    truth = poses_at([(120, 150, 30, 10, 0, -15), (400, 250, 110, -20, 10, 0), (550, 60, 24, 0, 0, 20)])
    poses, _ = found_in(detections_of(truth, rng, clutter=5), model)
    for face in truth:
        apart = np.linalg.norm(poses[:3, :2] - face[:2], axis=1)
        nearest = poses[apart.argmin()]
        assert apart.min() < 5
        assert nearest[LOG_SIZE] == pytest.approx(face[LOG_SIZE], abs=0.12)


def test_a_missing_keypoint_is_predicted(model, rng):
    truth = poses_at([(300, 200, 60, 15, 0, 5)])
    poses, evidence = found_in(detections_of(truth, rng, missing={(0, 4)}, noise=0.005), model)
    poses = fit_to(poses, evidence, model, n_steps=10)
    assert evidence.found[0].tolist() == [True, True, True, True, False]
    seen = project(poses[:1], SHAPE)[0, 4]
    assert np.linalg.norm(seen - project(truth, SHAPE)[0, 4]) < 0.1 * 60


def test_two_keypoints_are_enough_for_a_place(model, rng):
    truth = poses_at([(300, 200, 60, 0, 0, 25)])
    detections = detections_of(truth, rng, missing={(0, 1), (0, 2), (0, 3)}, noise=0)
    poses, evidence = found_in(detections, model)
    assert evidence.found.sum() == 2
    assert np.linalg.norm(poses[0, :2] - truth[0, :2]) < 0.2 * 60
    assert np.rad2deg(poses[0, 5]) == pytest.approx(25, abs=8)


def test_no_detection_is_in_two_faces(model, rng):
    truth = poses_at([(200, 200, 60, 0, 0, 0), (330, 200, 60, 0, 0, 0)])
    detections = detections_of(truth, rng, missing={(1, 0)}, clutter=10)
    _, evidence = found_in(detections, model, lowest=-50)
    places = evidence.points[evidence.found]
    assert len(np.unique(places, axis=0)) == len(places)


def test_nothing_in_nothing(model):
    poses, evidence = found_in(join_detections([]), model)
    assert poses.shape == (0, 6)
    assert evidence.found.shape == (0, 5)


def test_supports_against_a_loop(model, rng):
    truth = poses_at([(120, 150, 30, 10, 0, -15), (400, 250, 110, -20, 10, 0)])
    candidates = candidates_of(detections_of(truth, rng, clutter=25), NAMES, OBJECT_PX)
    poses = propose(candidates, model)[::7]
    used = rng.random(len(candidates)) < 0.3
    evidence, index = supports(poses, candidates, model, used)
    places = project(poses, SHAPE)
    for h, pose in enumerate(poses):
        for k in range(5):
            best, best_worth = -1, -np.inf
            for i in range(len(candidates)):
                distance = np.linalg.norm(candidates.points[i] - places[h, k]) / np.exp(pose[LOG_SIZE])
                octaves = abs(candidates.log_size[i] - pose[LOG_SIZE]) / np.log(2)
                if candidates.keypoint[i] != k or used[i] or distance > RADIUS or octaves > OCTAVES:
                    continue
                this = support_value(candidates.score[i], (distance / model.spread[k]) ** 2)
                if this > best_worth:
                    best, best_worth = i, this
            assert index[h, k] == best
            expected = places[h, k] if best < 0 else candidates.points[best]
            np.testing.assert_allclose(evidence.points[h, k], expected)


def test_pairs_put_both_keypoints_where_they_are(model, rng):
    truth = poses_at([(300, 200, 60, 0, 0, 30)])
    detections = detections_of(truth, rng, noise=0)
    detections.scale[:] = 60 / OBJECT_PX
    candidates = candidates_of(detections, NAMES, OBJECT_PX)
    poses = propose(candidates, model)[len(candidates) :]
    assert len(poses) == 10
    np.testing.assert_allclose(poses, np.repeat(truth, 10, axis=0), atol=1e-9)


def test_candidates_are_the_strongest_of_each_keypoint(rng):
    many = make_detections(*rng.uniform(size=(3, 60)), np.linspace(0, 1, 60), "b")
    one = make_detections([1], [2], [2.0], [-0.5], "a")
    candidates = candidates_of(join_detections([many, one]), NAMES, OBJECT_PX)
    assert np.bincount(candidates.keypoint).tolist() == [1, MOST_OF_A_KEYPOINT]
    assert candidates.score[1:].min() == pytest.approx(np.linspace(0, 1, 60)[-MOST_OF_A_KEYPOINT])
    assert candidates.log_size[0] == pytest.approx(np.log(56))
