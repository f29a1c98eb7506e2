from dataclasses import replace

import numpy as np
import pytest

from annealed.datasets.photos.photo_set import Photo
from annealed.models.keypoints.detector import KeypointDetector
from annealed.models.keypoints.objects.alignment import AlignmentStage
from annealed.models.keypoints.objects.model import Evidence
from annealed.models.keypoints.objects.poses import LOG_SIZE, AnglePrior, project
from annealed.models.keypoints.objects.shape import RigidShape, estimate_shape
from annealed.models.keypoints.training.object_fitting import (
    crude_model,
    fit_object_model,
    label_objects,
    with_object_model,
)
from annealed.models.keypoints.window_model import WindowModel

SHAPE = np.array([[-0.5, -0.5, 0.1], [0.5, -0.5, 0.1], [0.0, 0.5, -0.2]])


@pytest.fixture
def shape():
    return RigidShape(SHAPE, np.full(3, 0.02), AnglePrior(np.zeros(3), np.eye(3) * 0.05))


def pose_at(x, y, size):
    return np.array([x, y, np.log(size), 0.0, 0.0, 0.0])


def photo_of(poses, ignore=(), source=None):
    """A photo annotated with faces at these poses."""
    points = project(np.array(poses).reshape(-1, 6), SHAPE)
    n = len(points)
    return Photo(
        "photo",
        np.zeros((300, 300, 3), np.uint8) if source is None else source,
        tuple(map(str, range(n))),
        points,
        np.ones((n, 3), dtype=bool),
        np.exp(np.array(poses).reshape(-1, 6)[:, LOG_SIZE]),
        np.full((n, 4), np.nan),
        np.array(ignore, dtype=float).reshape(-1, 4),
    )


def evidence_at(poses, score=2.0, shift=0.0):
    """All keypoints found, at the projections moved to the right by parts of the size."""
    points = project(poses, SHAPE)
    points[..., 0] += shift * np.exp(poses[:, LOG_SIZE])[:, None]
    n = len(poses)
    return Evidence(
        points, np.ones((n, 3), dtype=bool), np.full((n, 3), score), np.zeros((n, 3)), np.zeros((n, 3))
    )


def test_label_faces_by_hand(shape):
    photo = photo_of([pose_at(100, 100, 40)], ignore=[[190, 190, 250, 250]])
    poses = np.array(
        [
            pose_at(102, 100, 40),  # the face
            pose_at(115, 100, 40),  # neither: 0.375 away
            pose_at(150, 100, 40),  # no face
            pose_at(220, 220, 40),  # in a region to ignore
            pose_at(100, 100, 100),  # no face: its keypoints are elsewhere
        ]
    )
    face, point = label_objects(photo, poses, evidence_at(poses), crude_model(shape), [0, 1, 2])
    assert face.tolist() == [1, -1, 0, -1, 0]
    # 2 / 40 away is right, as far as 0.1 is wrong, unless the face is neither
    assert point.tolist() == [[1] * 3, [-1] * 3, [0] * 3, [-1] * 3, [0] * 3]


def test_label_faces_judges_points_one_by_one(shape):
    photo = photo_of([pose_at(100, 100, 40)])
    poses = np.array([pose_at(100, 100, 40)])
    evidence = evidence_at(poses)
    evidence.points[0, 1, 0] += 0.07 * 40
    evidence.points[0, 2, 0] += 0.2 * 40
    assert label_objects(photo, poses, evidence, crude_model(shape), [0, 1, 2])[1].tolist() == [[1, -1, 0]]
    photo.visible[0, 0] = False
    assert label_objects(photo, poses, evidence, crude_model(shape), [0, 1, 2])[1].tolist() == [[-1, -1, 0]]


def test_label_faces_in_photos_with_gaps(shape):
    empty = photo_of([])
    poses = np.array([pose_at(100, 100, 40)])
    assert label_objects(empty, poses, evidence_at(poses), crude_model(shape), [0, 1, 2])[0].tolist() == [0]
    unknown = photo_of([pose_at(200, 200, 40)])
    unknown.sizes[0] = np.nan
    assert label_objects(unknown, poses, evidence_at(poses), crude_model(shape), [0, 1, 2])[0].tolist() == [
        -1
    ]
    gap = photo_of([pose_at(100, 100, 40)])
    gap.points[0, 2] = np.nan
    face, point = label_objects(gap, poses, evidence_at(poses), crude_model(shape), [0, 1, 2])
    assert face.tolist() == [1]
    assert point.tolist() == [[1, 1, -1]]


def test_fit_face_model_learns_what_tells_faces(shape, rng):
    """True faces score high in their first keypoint; the others' scores say nothing."""
    places = [pose_at(x, y, 40) for x in (60, 200) for y in (60, 200)]

    def gather(model):
        generator = np.random.default_rng(0)
        for _ in range(60):
            true, false = places[:1], places[1:3]
            poses = np.array([*true, *false])
            evidence = evidence_at(poses)
            evidence.score[:] = generator.normal(2, 1, size=(3, 3))
            evidence.score[0, 0] += 2
            evidence.points[:] += generator.normal(0, 0.02 * 40, size=(3, 3, 2))
            yield photo_of(true), poses, evidence

    model, n_right = fit_object_model(crude_model(shape), gather, [0, 1, 2])
    assert 170 < n_right <= 180  # three of sixty faces; noise puts a few off
    slopes = model.keypoint_weights[:, 1]
    assert slopes[0] > 1
    assert np.abs(slopes[1:]).max() < 0.4 * slopes[0]
    scores, labels = [], []
    for photo, poses, evidence in gather(model):
        scores.append(model.log_odds(poses, evidence))
        labels.append(label_objects(photo, poses, evidence, model, [0, 1, 2])[0] == 1)
    scores, labels = np.concatenate(scores), np.concatenate(labels)
    # log-odds that are right: as many faces as the probabilities add up to
    assert np.sum(1 / (1 + np.exp(-scores))) == pytest.approx(labels.sum(), rel=0.05)
    assert scores[labels].mean() > scores[~labels].mean() + 2


def test_fit_face_model_of_too_little_keeps_crude_weights(shape):
    crude = crude_model(shape)
    model, n_right = fit_object_model(crude, lambda model: [], [0, 1, 2])
    assert n_right == 0
    np.testing.assert_array_equal(model.keypoint_weights, crude.keypoint_weights)
    poses = np.array([pose_at(100, 100, 40)])
    one = [(photo_of(poses), poses, evidence_at(poses))]
    model, n_right = fit_object_model(crude, lambda model: one, [0, 1, 2])
    assert n_right == 3
    np.testing.assert_array_equal(model.keypoint_weights, crude.keypoint_weights)


@pytest.fixture
def annotated(rng):
    """Forty faces in as many photos of noise."""
    poses = np.zeros((40, 6))
    poses[:, :2], poses[:, LOG_SIZE] = 40, np.log(25)
    poses[:, 3:] = rng.normal(0, 0.3, size=(40, 3))
    noise = rng.integers(0, 256, size=(14, 18, 3), dtype=np.uint8).repeat(4, axis=0).repeat(4, axis=1)
    return [photo_of([pose], source=noise) for pose in poses]


def test_with_face_model_gives_a_detector_faces(make_classifier, annotated):
    names = ("left", "right", "chin")
    detector = KeypointDetector(tuple(make_classifier(n, seed=i) for i, n in enumerate(names)), 28.0)
    told = []
    broken = replace(annotated[0], source=np.zeros((5, 5, 3), np.uint8))
    shape = estimate_shape(annotated, [0, 1, 2])
    looked_at = [*annotated[:2], broken]
    learned = with_object_model(
        detector, shape, looked_at, [0, 1, 2], report=lambda *counts: told.append(counts)
    )
    assert learned.object_model.shape.points.shape == (3, 3)
    assert learned.classifiers == detector.classifiers
    assert told == [(i, 6) for i in range(6)]
    assert learned.object_model.proposal.stages == ()
    learned.detect_objects(annotated[0].read())


@pytest.mark.parametrize("push", [0.0, 0.3])
def test_with_face_model_keeps_stages_that_do_no_harm(make_classifier, annotated, monkeypatch, push):
    """Stages that push all keypoints away lose to none; counts of right keypoints decide."""
    names = ("left", "right", "chin")
    detector = KeypointDetector(tuple(make_classifier(n, seed=i) for i, n in enumerate(names)), 28.0)
    source = make_classifier("chin", k=3, seed=5).model
    model = WindowModel.of_arrays(
        source.pool, source.responses.low, source.responses.high, np.zeros((6, 3, 2)), np.full(6, push)
    )
    stage = AlignmentStage(28.0, np.arange(3), model)

    def gather_objects(self, single, levels, model, lowest):
        poses = np.array([pose_at(40, 40, 25)])
        return poses, evidence_at(poses, shift=0.3 * bool(model.stages and push))

    monkeypatch.setattr(KeypointDetector, "gather_objects", gather_objects)
    shape = RigidShape(SHAPE, np.full(3, 0.02), AnglePrior(np.zeros(3), np.eye(3) * 0.05))
    photos = [photo_of([pose_at(40, 40, 25)], source=annotated[0].read())] * 3
    learned = with_object_model(detector, shape, photos, [0, 1, 2], (stage,))
    assert learned.object_model.stages == (() if push else (stage,))
