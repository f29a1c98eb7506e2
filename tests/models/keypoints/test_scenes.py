"""Two views of one drawn animal in one picture: paws that look alike and move, points fixed to the scene."""

import numpy as np
import pytest

from annealed.datasets.photos.photo_set import Photo
from annealed.features.errors import DataError
from annealed.models.keypoints.training.alignment_fitting import AlignConfig
from annealed.models.keypoints.training.classifier_fitting import FitConfig
from annealed.models.keypoints.training.config import TrainingConfig
from annealed.models.keypoints.training.part_fitting import PartsConfig
from annealed.models.keypoints.training.refinement_fitting import RefineConfig
from annealed.models.keypoints.training.trainer import train_detector
from annealed.models.keypoints.videos.tracker import ObjectTracker
from annealed.models.model_files import load_model

NAMES = "nose", "left_side", "right_side", "left_below", "right_below", "post", "tongue"
HEIGHT, WIDTH = 110, 130
GROUND = np.random.default_rng(0).normal(90, 12, (HEIGHT, WIDTH))


def drawn_views(seed):
    """Two alike paws, seen from the side, and from below, one on the left: x tells which is which."""
    rng = np.random.default_rng(seed)
    image = GROUND + rng.normal(0, 4, GROUND.shape)
    rows, cols = np.mgrid[:HEIGHT, :WIDTH]
    phase = rng.uniform(0, 2 * np.pi)
    paws = 60 + 22 * np.cos(phase + np.array([0, np.pi])) + rng.normal(0, 2, 2)
    nose = np.array([104 + rng.normal(0, 3), 25.0])
    points = np.array(
        [
            nose, [paws[0], 40], [paws[1], 40], [paws[0], 76], [paws[1], 92], [12, 100],
            nose + np.array([8, 9]),
        ]
    )  # fmt: skip
    image[(np.abs(cols - 65) < 40) & (np.abs(rows - 25) < 10)] = 140
    image[(np.abs(cols - 65) < 40) & (np.abs(rows - 84) < 14)] = 140
    for (x, y), radius, value in zip(
        points, (5, 4, 4, 4, 4, 5, 3), (40, 230, 230, 230, 230, 200, 250), strict=True
    ):
        if radius == 3 and seed % 3:
            continue
        image[(cols - x) ** 2 + (rows - y) ** 2 <= radius**2] = value
    if seed % 3:
        points[6] = np.nan
    points = points + rng.normal(0, 0.7, points.shape)  # as a person marks them
    pixels = np.repeat(np.clip(image, 0, 255).astype(np.uint8)[..., None], 3, axis=2)
    visible = np.isfinite(points[None, :, 0])
    return Photo(f"{seed}", pixels, ("0",), points[None], visible, np.array([60.0]), np.full((1, 4), np.nan))


@pytest.fixture(scope="module")
def detector():
    config = TrainingConfig(
        rounds=0,
        n_random=100,
        n_haar=20,
        validation=0.2,
        fit=FitConfig(k=10, n_iter=20),
        refine=RefineConfig(k=0),
        align=AlignConfig(k=0),
        parts=PartsConfig(k=15, n_haar=50, n_iter=25, n_negatives=15, n_folds=2),
    )
    photos = [drawn_views(seed) for seed in range(36)]
    return train_detector(photos, {name: i for i, name in enumerate(NAMES)}, config).detector


@pytest.fixture(scope="module")
def found(detector):
    photos = [drawn_views(seed) for seed in range(100, 130)]
    objects = [detector.detect_objects(photo.read()) for photo in photos]
    assert all(len(one) == 1 for one in objects)
    return photos, objects


def test_the_kind_of_shape_is_recorded(detector):
    assert detector.sees_scene
    assert detector.object_model is None
    assert detector.metadata["shape"]["kind"] == "scene"
    assert set(detector.metadata["shape"]["log_likelihood"]) == {"scene", "bending", "rigid"}


def test_paws_that_look_alike_are_told_apart(found):
    photos, objects = found
    away = np.array(
        [np.linalg.norm(o.points[0] - p.points[0], axis=1) for p, o in zip(photos, objects, strict=True)]
    )
    assert np.nanmedian(away) < 2
    paws = away[:, 1:5]
    assert (paws < 5).mean() > 0.9
    assert np.nanmax(away[:, [0, 5]]) < 4


def test_a_keypoint_that_is_not_always_there_is_told_by_its_score(found):
    photos, objects = found
    there = np.array([photo.visible[0, 6] for photo in photos])
    scores = np.array([o.keypoint_scores[0, 6] for o in objects])
    assert scores[there].min() > scores[~there].max()
    assert (scores[there] > 0).all()
    assert (scores[~there] < 0).all()


def test_two_of_three_keypoints_lie_within_the_expected_error(found):
    photos, objects = found
    away = np.array(
        [np.linalg.norm(o.points[0] - p.points[0], axis=1) for p, o in zip(photos, objects, strict=True)]
    )
    expected = np.array([o.errors[0] for o in objects])
    known = np.isfinite(away)
    assert 0.5 < np.mean(away[known] <= expected[known]) < 0.9


def test_a_model_file_gives_the_same(detector, tmp_path):
    detector.save(tmp_path / "scene.safetensors")
    image = drawn_views(200).read()
    one, other = (
        detector.detect_objects(image),
        load_model(tmp_path / "scene.safetensors").detect_objects(image),
    )
    for name in ("points", "errors", "keypoint_scores", "scores"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_a_picture_of_another_size_is_looked_at(detector):
    image = drawn_views(201).read()
    wider = np.pad(image, ((0, 20), (0, 60), (0, 0)), mode="edge")
    away = detector.detect_objects(wider).points - detector.detect_objects(image).points
    assert np.abs(away[0, :6]).max() < 4
    assert len(detector.detect_objects(image[:30, :30], threshold=-100.0)) == 1


def test_a_video_of_a_scene_is_followed(detector):
    tracker = ObjectTracker(detector, 1)
    for frame in range(3):
        assert len(tracker.step(drawn_views(300 + frame).read(), frame)) == 1
    assert tracker.tracks().points.shape == (3, 1, 7, 2)


def test_there_is_no_place_to_look_near_in_a_scene(detector):
    with pytest.raises(DataError, match="no parts by which objects are found near"):
        detector.objects_near(drawn_views(1).read(), np.zeros((1, 7, 2)))
