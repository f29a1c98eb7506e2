"""A drawn object that bends and turns is found at all angles by a detector trained on photos of it."""

from dataclasses import replace

import numpy as np
import pytest

from annealed.datasets.photos.photo_set import Photo
from annealed.features.errors import ParameterError
from annealed.models.keypoints.angles import ALL_AROUND
from annealed.models.keypoints.training.alignment_fitting import AlignConfig
from annealed.models.keypoints.training.classifier_fitting import FitConfig
from annealed.models.keypoints.training.config import TrainingConfig, training_pool
from annealed.models.keypoints.training.part_fitting import PartsConfig
from annealed.models.keypoints.training.part_samples import fit_part_model
from annealed.models.keypoints.training.refinement_fitting import RefineConfig
from annealed.models.keypoints.training.shape_choice import ShapeChoice
from annealed.models.keypoints.training.trainer import train_detector
from annealed.models.keypoints.videos.tracker import ObjectTracker
from annealed.models.model_files import load_model

NAMES = "nose", "left_ear", "right_ear", "tail"
SIZE = 50.0


def drawn_newt(degrees, seed):
    """A dark body on a light ground: a thick head with two light ears, and a tail that bends either way."""
    rng = np.random.default_rng(seed)
    bend = rng.uniform(-0.35, 0.35)
    along = np.linspace(0, 1, 40)
    spine = (along - 0.5) * 80 + 1j * 60 * bend * np.maximum(along - 0.3, 0) ** 2
    spine = spine - spine.mean()
    ears = spine[8] + np.array([-9j, 9j])
    turn = np.exp(1j * np.deg2rad(degrees))
    place = 75 + rng.uniform(-8, 8) + 1j * (75 + rng.uniform(-8, 8))
    rows, cols = np.mgrid[:150, :150]
    pixels = cols + 1j * rows
    image = np.full((150, 150), 190.0) + rng.normal(0, 3, (150, 150))
    for radius, point in zip(np.interp(along, [0, 0.3, 1], [7, 11, 3]), spine * turn + place, strict=True):
        image[np.abs(pixels - point) < radius] = 60
    seen = np.concatenate([[spine[0]], ears, [spine[-1]]]) * turn + place
    for point in seen[1:3]:
        image[np.abs(pixels - point) < 4] = 230
    points = np.stack([seen.real, seen.imag], axis=1)[None]
    pixels = np.clip(image, 0, 255).astype(np.uint8)
    return Photo(
        f"newt-{seed}", np.repeat(pixels[..., None], 3, axis=2), ("0",), points,
        np.ones((1, 4), dtype=bool), np.array([SIZE]), np.full((1, 4), np.nan),
    )  # fmt: skip


@pytest.fixture(scope="module")
def detector():
    rng = np.random.default_rng(0)
    photos = [drawn_newt(rng.uniform(-180, 180), seed) for seed in range(30)]
    config = TrainingConfig(
        rounds=1,
        n_hard=400,
        n_random=1500,
        n_haar=300,
        validation=0.2,
        fit=FitConfig(k=40, n_iter=120),
        refine=RefineConfig(k=0),
        align=AlignConfig(k=40, n_haar=100, n_starts=3, n_iter=60, zooms=(0.7, 1.0)),
    )
    return train_detector(photos, {name: i for i, name in enumerate(NAMES)}, config).detector


def test_the_object_is_found_at_all_angles(detector):
    assert detector.angles == ALL_AROUND
    errors = []
    for number, degrees in enumerate(np.arange(10, 370, 30)):
        photo = drawn_newt(degrees, 100 + number)
        found = detector.detect_objects(photo.read(), threshold=-100.0)
        errors.append(np.linalg.norm(found.points[0] - photo.points[0], axis=1))
    errors = np.array(errors)
    assert np.median(errors) < 0.06 * SIZE
    assert (errors.max(axis=1) < 0.3 * SIZE).mean() >= 0.9


def test_the_angle_is_that_of_the_object(detector):
    rolls = []
    for degrees in (0, 60, 150, 270):
        found = detector.detect_objects(drawn_newt(degrees, 200).read(), threshold=-100.0)
        rolls.append(found.poses[0, 2] - degrees)
    off = np.exp(1j * np.deg2rad(rolls))
    assert np.abs(off / off[0] - 1).max() < 0.35  # radians; the zero is a matter of choice


def test_an_upright_scan_misses_what_is_turned(detector):
    """The angles are what finds it: scanned upright only, half of the directions are lost or reversed."""
    upright = replace(detector, angles=(0.0,))
    lost = 0
    for degrees in np.arange(10, 370, 60):
        photo = drawn_newt(degrees, 300)
        found = upright.detect_objects(photo.read(), threshold=-100.0)
        lost += not len(found) or np.linalg.norm(found.points[0] - photo.points[0], axis=1).max() > 0.3 * SIZE
    assert lost >= 3


def test_single_detections_come_from_all_angles(detector):
    for degrees in (20, 200):
        photo = drawn_newt(degrees, 400)
        found = detector.detect(photo.read(), raw=True, threshold=-0.5)
        noses = found[found.keypoint == "nose"]
        nearest = np.hypot(noses.x - photo.points[0, 0, 0], noses.y - photo.points[0, 0, 1]).min()
        assert nearest < 0.15 * SIZE


def test_angles_are_kept_in_the_file(detector, tmp_path):
    detector.save(tmp_path / "m.safetensors")
    again = load_model(tmp_path / "m.safetensors")
    assert again.angles == detector.angles
    image = drawn_newt(80, 500).read()
    one, other = detector.detect_objects(image), again.detect_objects(image)
    np.testing.assert_array_equal(one.points, other.points)


@pytest.mark.parametrize("angles", [(), (0.0, 0.0), (np.nan,)])
def test_angles_that_are_none_are_refused(detector, angles):
    with pytest.raises(ParameterError, match="angles must be different finite numbers"):
        replace(detector, angles=angles)


@pytest.fixture(scope="module")
def with_parts(detector):
    rng = np.random.default_rng(0)
    photos = [drawn_newt(rng.uniform(-180, 180), seed) for seed in range(30)]
    config = PartsConfig(k=15, n_haar=50, n_iter=25, n_negatives=15, n_folds=2)
    parts = fit_part_model(
        photos, NAMES, range(4), ShapeChoice("bending", {}), training_pool(50, 0), config, 0
    )
    return replace(detector, parts=parts)


def test_parts_find_it_at_all_angles(with_parts):
    errors, covered = [], []
    for number, degrees in enumerate(np.arange(10, 370, 30)):
        photo = drawn_newt(degrees, 100 + number)
        found = with_parts.detect_objects(photo.read(), threshold=-100.0)
        errors.append(np.linalg.norm(found.points[0] - photo.points[0], axis=1))
        covered.append(errors[-1] <= found.errors[0])
    errors = np.array(errors)
    assert np.median(errors) < 0.04 * SIZE
    assert (errors.max(axis=1) < 0.2 * SIZE).mean() >= 0.9
    assert 0.4 < np.mean(covered) < 0.95


def test_an_object_with_parts_is_followed_without_scans(with_parts):
    tracker = ObjectTracker(with_parts, 1, threshold=-3.0)
    for frame in range(8):
        photo = drawn_newt(10.0 * frame, 300)
        found = tracker.step(photo.read(), frame)
        assert np.linalg.norm(found.points[0] - photo.points[0], axis=1).max() < 0.3 * SIZE
    assert tracker.n_scans == 1
