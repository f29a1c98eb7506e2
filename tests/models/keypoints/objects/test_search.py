import json
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from annealed.features.errors import DataError, ParameterError
from annealed.features.pool import cut_windows
from annealed.models.keypoints.detections import join_detections, make_detections
from annealed.models.keypoints.detector import KeypointDetector
from annealed.models.keypoints.nms import Suppression
from annealed.models.keypoints.objects import search as topdown
from annealed.models.keypoints.objects.alignment import AlignmentStage
from annealed.models.keypoints.objects.hypotheses import RADIUS, support_value
from annealed.models.keypoints.objects.model import OVERLAP, boxes_of, overlaps
from annealed.models.keypoints.objects.poses import LOG_SIZE, AnglePrior, project
from annealed.models.keypoints.objects.search import (
    LOOK_FLOOR,
    LOOK_OCTAVES,
    LOOK_RADIUS,
    SEE_RADIUS,
    objects_of,
)
from annealed.models.keypoints.objects.shape import RigidShape
from annealed.models.keypoints.training.object_fitting import crude_model
from annealed.models.keypoints.window_model import WindowModel
from annealed.models.model_files import load_model, read_model_file

SHAPE = np.array([[-0.5, -0.5, 0.1], [0.5, -0.5, 0.1], [0.0, 0.5, -0.2]])
OBJECT_PX = 28.0


@pytest.fixture
def object_model():
    return crude_model(RigidShape(SHAPE, np.full(3, 0.03), AnglePrior(np.zeros(3), np.eye(3) * 0.05)))


@pytest.fixture(autouse=True)
def every_pose_is_likely(monkeypatch):
    """Random classifiers find no faces; the rules hold for any poses."""
    monkeypatch.setattr(topdown, "LEAST_LIKELY", -30.0)


@pytest.fixture
def detector(make_classifier, object_model):
    """Three keypoints with random classifiers."""
    classifiers = tuple(make_classifier(name, seed=i) for i, name in enumerate(("left", "right", "chin")))
    return KeypointDetector(classifiers, OBJECT_PX, object_model=object_model)


def test_a_missing_keypoint_is_looked_for_in_all_windows_near(detector, object_model, photo):
    """Two good detections; the third keypoint is the best window near its prediction, as found by a loop."""
    detector = replace(detector, suppression=Suppression(refine_radius=0.0))
    levels = detector.pyramid.levels(photo)
    pose = np.array([[36.0, 28.0, np.log(25.0), 0, 0, 0]])
    (left, right, chin) = project(pose, SHAPE)[0]
    single = join_detections(
        [
            make_detections([p[0]], [p[1]], [25 / OBJECT_PX], [4.0], name)
            for p, name in ((left, "left"), (right, "right"))
        ]
    )
    poses, evidence = detector.gather_objects(single, levels, object_model)
    assert len(poses) == 1
    found = [(-np.inf, 0.0, 0.0, 0.0)]
    for level in levels:
        ratio = np.sqrt(np.prod(level.ratio))
        if abs(np.log2(25 * ratio / OBJECT_PX)) > LOOK_OCTAVES:
            continue
        for row in range(level.image.shape[0]):
            for col in range(level.image.shape[1]):
                x, y = level.to_photo([col, row])
                distance = np.hypot(x - chin[0], y - chin[1]) / 25
                if distance > LOOK_RADIUS:
                    continue
                patch = cut_windows(level.image, np.array([row]), np.array([col]))
                score = detector.classifiers[2].scores(patch)[0]
                if score >= LOOK_FLOOR:
                    value = support_value(score, (distance / object_model.spread[2]) ** 2)
                    found.append((value, score, x, y))
    best = max(found)
    assert np.isfinite(best[0])
    assert evidence.found[0].tolist() == [True, True, True]
    assert evidence.score[0, 2] == pytest.approx(best[1], abs=1e-5)
    np.testing.assert_allclose(evidence.points[0, 2], best[2:], atol=0.02)


def test_a_keypoint_outside_the_photo_is_predicted(detector, object_model, photo):
    levels = detector.pyramid.levels(photo)
    single = join_detections(
        [
            make_detections([x], [50.0], [25 / OBJECT_PX], [6.0], name)
            for x, name in ((20.0, "left"), (45.0, "right"))
        ]
    )
    _, evidence = detector.gather_objects(single, levels, object_model)
    assert evidence.found[0].tolist() == [True, True, False]
    assert evidence.points[0, 2, 1] > photo.shape[0]


def test_detect_faces_reports_consistent_numbers(detector, photo):
    faces = detector.detect_objects(photo, threshold=-30.0)
    assert len(faces) > 0
    assert (np.diff(faces.scores) <= 0).all()
    assert faces.names == ("left", "right", "chin")
    np.testing.assert_allclose(faces.scales * OBJECT_PX, faces.sizes)
    assert (faces.boxes[:, 2:] > faces.boxes[:, :2]).all()
    assert np.abs(faces.poses).max() < 180
    strict = detector.detect_objects(photo, threshold=float(np.median(faces.scores)))
    assert 0 < len(strict) < len(faces)
    assert set(strict.scores.round(9)) <= set(faces.scores.round(9))
    assert strict.scores.min() >= np.median(faces.scores)
    detections = detector.detect(photo, threshold=-30.0)
    assert len(detections) == 3 * len(faces)
    assert set(detections.object.tolist()) == set(range(len(faces)))


def test_detect_raw_is_what_a_model_without_faces_finds(detector, photo):
    alone = replace(detector, object_model=None)
    raw, expected = detector.detect(photo, threshold=0.2, raw=True), alone.detect(photo, threshold=0.2)
    np.testing.assert_array_equal(raw.score, expected.score)
    assert (raw.object == -1).all()
    assert raw.found.all()


def hopeless(classifier):
    """The classifier with sums that start far below any threshold."""
    low = replace(classifier.model.responses, intercept=np.array([-100.0]))
    return replace(classifier, model=replace(classifier.model, responses=low))


def test_a_picture_with_nothing_in_it_has_no_faces(detector, aligning):
    grey = np.full((60, 80, 3), 128, np.uint8)
    for each in (detector, aligning):
        never = tuple(hopeless(c) for c in each.classifiers)
        assert len(replace(each, classifiers=never).detect_objects(grey)) == 0
        assert len(replace(each, classifiers=never).detect(grey)) == 0


def test_detect_faces_without_a_face_model(detector, photo):
    with pytest.raises(DataError, match="finds single keypoints only"):
        replace(detector, object_model=None).detect_objects(photo)


def test_detect_faces_threshold_not_finite(detector, photo):
    with pytest.raises(ParameterError, match="threshold must be a finite number"):
        detector.detect_objects(photo, threshold=np.inf)


def test_detector_needs_a_face_model_of_its_keypoints(detector):
    with pytest.raises(DataError, match="2 keypoints has an object model of 3"):
        replace(detector, classifiers=detector.classifiers[:2])


def test_save_and_load_find_the_same_faces(detector, photo, tmp_path):
    detector.save(tmp_path / "m.safetensors")
    again = load_model(tmp_path / "m.safetensors")
    one, other = (d.detect_objects(photo, threshold=-30.0) for d in (detector, again))
    for name in ("boxes", "poses", "sizes", "scores", "points", "found", "keypoint_scores"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert again.object_model.threshold == detector.object_model.threshold


def test_a_file_without_face_model_loads(detector, tmp_path):
    replace(detector, object_model=None).save(tmp_path / "m.safetensors")
    assert load_model(tmp_path / "m.safetensors").object_model is None


@pytest.fixture
def aligning(detector, make_classifier):
    """The same detector, with a stage that moves all keypoints by small steps."""
    rng = np.random.default_rng(0)
    source = make_classifier("chin", k=9, seed=5).model
    knots = rng.normal(0, 0.01, size=(6, 9, 4))
    model = WindowModel.of_arrays(
        source.pool, source.responses.low, source.responses.high, knots, np.full(6, 0.02)
    )
    stage = AlignmentStage(OBJECT_PX, np.arange(9) % 3, model)
    return replace(detector, object_model=replace(detector.object_model, stages=(stage, stage)))


def test_aligned_keypoints_are_scored_where_they_end(aligning, photo):
    """The best window near an aligned keypoint, found by a loop, is the evidence for it."""
    levels = aligning.pyramid.levels(photo)
    single = aligning.detections_for_objects(levels)
    poses, evidence = aligning.gather_objects(single, levels, aligning.object_model)
    assert len(poses) > 1
    assert (evidence.unsure > 0).all()
    i = int(np.flatnonzero(evidence.found[:, 1])[0])
    size, (x, y) = np.exp(poses[i, LOG_SIZE]), evidence.points[i, 1]
    best = -np.inf
    for level in levels:
        ratio = np.sqrt(np.prod(level.ratio))
        if abs(np.log2(size * ratio / OBJECT_PX)) > LOOK_OCTAVES:
            continue
        rows, cols = np.indices(level.image.shape[:2]).reshape(2, -1)
        centre = level.from_photo([x, y])
        near = np.hypot(cols - centre[0], rows - centre[1]) <= max(SEE_RADIUS * size * ratio, np.sqrt(0.5))
        if near.any():
            patches = cut_windows(level.image, rows[near], cols[near])
            best = max(best, aligning.classifiers[1].scores(patches).max())
    assert best >= LOOK_FLOOR
    assert evidence.score[i, 1] == pytest.approx(best, abs=1e-5)
    assert not evidence.score[~evidence.found].any()


def test_save_and_load_keep_the_stages(aligning, photo, tmp_path):
    aligning.save(tmp_path / "m.safetensors")
    again = load_model(tmp_path / "m.safetensors")
    assert len(again.object_model.stages) == 2
    one, other = (d.detect_objects(photo, threshold=-30.0) for d in (aligning, again))
    np.testing.assert_array_equal(one.points, other.points)
    np.testing.assert_array_equal(one.scores, other.scores)


def test_only_anchors_are_scanned_and_the_others_looked_for(aligning, photo, tmp_path):
    crude = aligning.object_model
    detector = replace(aligning, object_model=replace(crude, anchors=(0, 2), proposal=crude))
    single = detector.detections_for_objects(detector.pyramid.levels(photo))
    assert set(single.keypoint) == {"left", "chin"}
    faces = detector.detect_objects(photo, threshold=-30.0)
    assert len(faces) > 0
    assert faces.found[:, 1].any()
    detector.save(tmp_path / "m.safetensors")
    again = load_model(tmp_path / "m.safetensors")
    assert again.object_model.anchors == (0, 2)
    np.testing.assert_array_equal(again.detect_objects(photo, threshold=-30.0).scores, faces.scores)


def test_the_proposal_chooses_poses_and_the_model_scores_them(aligning, photo):
    """A proposal that finds nothing likely leaves no faces, whatever the model would say."""
    strict = replace(aligning.object_model, intercept=-1000.0)
    detector = replace(aligning, object_model=replace(aligning.object_model, proposal=strict))
    assert len(aligning.detect_objects(photo, threshold=-100.0)) > 0
    assert len(detector.detect_objects(photo, threshold=-100.0)) == 0


@pytest.mark.parametrize("anchors", [(0, 0), (3,), (-1,)])
def test_face_model_refuses_anchors(aligning, anchors):
    with pytest.raises(DataError, match="anchors must be different keypoints"):
        replace(aligning.object_model, anchors=anchors)


def test_face_model_needs_stages_of_its_keypoints(aligning):
    stage = aligning.object_model.stages[0]
    two = replace(stage, model=stage.model.with_outputs([0, 1, 2, 3]), window=stage.window % 2)
    with pytest.raises(DataError, match="does not move 3 keypoints"):
        replace(aligning.object_model, stages=(two,))


BROKEN = [
    ("align_counts", lambda a: a * 0, "align_counts must lie in 1"),
    ("align_counts", lambda a: a[:0].copy(), "align_counts must lie in 1"),
    ("align_counts", lambda a: a + 1, r"'align_knots' has shape"),
    ("align_window", lambda a: a + 7, "model file: alignment: windows must lie in"),
    ("align_low", lambda a: a + 1e6, "low <= high"),
    ("align_knots", lambda a: a[:, :, :1].copy(), "needs two knots"),
    ("align_intercepts", lambda a: None, "'align_intercepts' is missing"),
    ("align_object_px", lambda a: -a, "object_px must be a finite number above 0"),
    ("face_shape", lambda a: a[:2].copy(), r"'face_shape' has shape \(2, 3\)"),
    ("face_shape", lambda a: a.astype(np.float32), "'face_shape' is float32, expected float64"),
    ("face_shape", lambda a: a * np.nan, "not finite"),
    ("face_shape_spread", lambda a: -a, "model file: shape: spread must be above 0"),
    ("face_angle_covariance", lambda a: -a, "not symmetric and positive"),
    ("face_angle_covariance", lambda a: a + np.arange(9.0).reshape(3, 3), "not symmetric"),
    ("face_angles", lambda a: a[:2].copy(), "'face_angles' has shape"),
    ("face_spread", lambda a: a * 0, "model file: object model: spread must be above 0"),
    ("face_keypoint_weights", lambda a: a[:, :2].copy(), "'face_keypoint_weights' has shape"),
    ("face_point_weights", lambda a: a[0].copy(), "'face_point_weights' has shape"),
    ("face_pose_weights", lambda a: None, "'face_pose_weights' is missing"),
    ("face_intercept_threshold", lambda a: a + np.inf, "not finite"),
]


@pytest.mark.parametrize(("name", "change", "message"), BROKEN)
def test_load_broken_face_model(aligning, tmp_path, name, change, message):
    good, bad = tmp_path / "good.safetensors", tmp_path / "bad.safetensors"
    aligning.save(good)
    arrays, file = load_file(good), read_model_file(good)
    arrays[name] = change(arrays[name])
    arrays = {key: array for key, array in arrays.items() if array is not None}
    document = {"format_version": 1, "kind": file.kind, **file.metadata}
    save_file(arrays, bad, metadata={"annealed": json.dumps(document)})
    with pytest.raises(DataError, match=message):
        load_model(bad)


def test_faces_in_clutter_keep_the_rules(detector, object_model, photo):
    """No detection lies far from its prediction, keypoints not found are at it, and faces do not overlap."""
    levels = detector.pyramid.levels(photo)
    single = detector.detections_for_objects(levels)
    poses, evidence = detector.gather_objects(single, levels, object_model)
    places, size = project(poses, SHAPE), np.exp(poses[:, LOG_SIZE, None])
    away = np.linalg.norm(evidence.points - places, axis=2)
    assert (away <= RADIUS * size).all()
    np.testing.assert_array_equal(evidence.points[~evidence.found], places[~evidence.found])
    assert not evidence.score[~evidence.found].any()
    twice = np.concatenate([poses, poses])
    doubled = type(evidence)(*(np.concatenate([a, a]) for a in vars(evidence).values()))
    once = objects_of(poses, evidence, object_model, detector.keypoint_names, OBJECT_PX)
    again = objects_of(twice, doubled, object_model, detector.keypoint_names, OBJECT_PX)
    np.testing.assert_array_equal(once.sizes, again.sizes)
    assert 1 < len(once) <= len(poses)
    boxes = boxes_of(poses, SHAPE)[[np.flatnonzero(np.exp(poses[:, LOG_SIZE]) == s)[0] for s in once.sizes]]
    for i in range(len(boxes)):
        assert (overlaps(boxes[i], boxes[:i]) < OVERLAP).all()
