from dataclasses import replace

import numpy as np
import pytest

from annealed.datasets.photos.photo_set import Photo
from annealed.features.errors import ParameterError
from annealed.features.pyramid import gaussian_pyramid
from annealed.models.keypoints.objects.alignment import align
from annealed.models.keypoints.objects.poses import AnglePrior, project
from annealed.models.keypoints.objects.shape import RigidShape
from annealed.models.keypoints.training.alignment_fitting import (
    AlignConfig,
    Portrait,
    fit_alignment,
    mirrored,
    portraits_of_photo,
    rough_poses,
)
from annealed.models.keypoints.training.config import training_pool
from annealed.models.keypoints.training.sides import mirror_order

SHAPE = np.array([[-0.5, -0.5, 0.1], [0.5, -0.5, 0.1], [0.0, 0.5, -0.2]])
NAMES = ["left_eye", "right_eye", "chin"]
MIRROR = mirror_order(NAMES)
OBJECT_PX = 28.0
RULE = AlignConfig(k=40, n_haar=100, zooms=(1.0, 1.0), n_starts=3, n_iter=60)


@pytest.fixture(scope="module")
def shape():
    return RigidShape(SHAPE, np.full(3, 0.02), AnglePrior(np.zeros(3), np.eye(3) * 0.02))


def drawn_face(seed):
    """A light disc with a dark, a dark and a red blob on it, each a little off its place in the shape."""
    rng = np.random.default_rng(seed)
    pose = np.array([[60, 60, np.log(40.0), *rng.normal(0, 0.1, 3)]])
    points = project(pose, SHAPE)[0] + rng.normal(0, 0.04 * 40, (3, 2))
    rows, cols = np.mgrid[:120, :120]
    image = np.full((120, 120, 3), rng.integers(90, 130), dtype=float)
    image += 60 * (np.hypot(rows - 60, cols - 60) < 45)[..., None]
    for (x, y), colour in zip(points, ([-120] * 3, [-120] * 3, [60, -90, -90]), strict=True):
        image += np.exp(-((rows - y) ** 2 + (cols - x) ** 2) / 30)[..., None] * np.array(colour)
    return Portrait(np.clip(image, 0, 255).astype(np.uint8), points)


@pytest.fixture(scope="module")
def fitted(shape):
    portraits = [drawn_face(seed) for seed in range(60)]
    told = []
    stages = fit_alignment(
        training_pool(RULE.n_haar, 0), portraits, MIRROR, shape, OBJECT_PX, RULE, 0,
        lambda stage, progress: told.append((stage, progress.iteration)),
    )  # fmt: skip
    return stages, portraits, told


def test_alignment_finds_the_points_of_new_faces(fitted, shape):
    stages, _, told = fitted
    assert [len(stage.model) for stage in stages] == [40, 40]
    assert {stage for stage, _ in told} == {0, 1}
    before, after, unsure = [], [], []
    for seed in range(100, 130):
        portrait = drawn_face(seed)
        start = np.array([[63.0, 58.0, np.log(38.0), 0, 0, 0]])
        _, points, spread = align(start, gaussian_pyramid(portrait.image), shape, stages)
        before.append(np.linalg.norm(project(start, SHAPE)[0] - portrait.points, axis=1).mean() / 40)
        after.append(np.linalg.norm(points[0] - portrait.points, axis=1).mean() / 40)
        unsure.append(spread.mean())
    assert np.mean(before) > 0.09
    assert np.mean(after) < 0.035
    assert np.mean(unsure) < 0.03


def test_alignment_is_deterministic(fitted, shape):
    stages, portraits, _ = fitted
    again = fit_alignment(training_pool(RULE.n_haar, 0), portraits, MIRROR, shape, OBJECT_PX, RULE, 0)
    for one, other in zip(stages, again, strict=True):
        np.testing.assert_array_equal(one.model.tables, other.model.tables)
        np.testing.assert_array_equal(one.model.pool.descriptors, other.model.pool.descriptors)


def test_too_few_objects_are_no_example(shape):
    portraits = [drawn_face(seed) for seed in range(49)]
    assert fit_alignment(training_pool(0, 0), portraits, MIRROR, shape, OBJECT_PX, RULE, 0) == ()


def test_portraits_keep_the_points_on_their_pixels():
    """Marked pixels stay marked, whatever is cut away; an object with an unknown keypoint has none."""
    photo = np.zeros((400, 500, 3), np.uint8)
    points = np.array([[[180, 300], [182, 330], [220, 315]], [[50, 50], [50, 80], [np.nan, np.nan]]])
    for x, y in points[0].astype(int):
        photo[y, x] = 255
    annotated = Photo(
        "photo", photo, ("0", "1"), points, np.ones((2, 3), dtype=bool), np.array([30.0, 30.0]),
        np.full((2, 4), np.nan), np.empty((0, 4)),
    )  # fmt: skip
    (portrait,) = portraits_of_photo(annotated, gaussian_pyramid(photo), [0, 1, 2], 64.0)
    assert portrait.image.shape == (30 + 2 * 60 + 1, 40 + 2 * 60 + 1, 3)
    for x, y in portrait.points:
        assert portrait.image[round(y), round(x)].tolist() == [255] * 3
    (small,) = portraits_of_photo(annotated, gaussian_pyramid(photo), [0, 1, 2], 16.0)
    eyes = np.linalg.norm(small.points[1] - small.points[0])
    assert 0.5 * 16 < eyes <= 16.1
    assert small.image.shape[0] < portrait.image.shape[0]


def test_mirrored_points_lie_on_the_mirrored_pixels():
    portrait = drawn_face(3)
    seen = mirrored(portrait, mirror_order(NAMES))
    for k, partner in ((0, 1), (1, 0), (2, 2)):
        (x, y), (u, v) = np.rint(seen.points[k]).astype(int), np.rint(portrait.points[partner]).astype(int)
        assert abs(119 - u - x) <= 1
        assert v == y
        np.testing.assert_array_equal(seen.image[v, 119 - u], portrait.image[v, u])
    assert seen.points[0, 0] < seen.points[1, 0]


def test_rough_poses_have_the_size_of_the_points(shape):
    pose = np.array([[70.0, 50.0, np.log(25.0), 0, 0, 0]])
    found = rough_poses(project(pose, SHAPE), shape)
    expected = pose.copy()
    expected[:, :2] = project(pose, SHAPE).mean(axis=1)
    np.testing.assert_allclose(found, expected, atol=0.05)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": -1}, "k must be at least 0, got -1"),
        ({"n_starts": 0}, "n_starts must be at least 1"),
        ({"zooms": ()}, "zooms must be finite numbers above 0"),
        ({"zooms": (1.0, np.nan)}, "zooms must be finite"),
    ],
)
def test_align_rule_refuses(change, message):
    with pytest.raises(ParameterError, match=message):
        replace(AlignConfig(), **change)
