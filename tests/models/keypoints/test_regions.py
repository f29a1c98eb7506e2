from dataclasses import replace

import cv2
import numpy as np
import pytest

from annealed.datasets.photos.sample_photos import make_sample_photos
from annealed.features.errors import DataError
from annealed.features.threads import get_num_threads, set_num_threads
from annealed.models.keypoints.packing import pack_regions, unpack_regions
from annealed.models.keypoints.regions import MOST_REGIONS, WHOLE, RegionFinder
from annealed.models.keypoints.training.config import TrainingConfig
from annealed.models.keypoints.training.phases import Phases
from annealed.models.keypoints.training.region_fitting import RegionConfig, centred, size_range
from annealed.models.keypoints.training.trainer import with_regions
from annealed.models.keypoints.training.training_photos import TrainingPhotos
from annealed.models.model_files import ModelFile, load_model


@pytest.fixture(scope="module")
def face():
    return load_model("face")


@pytest.fixture(scope="module")
def photos():
    return make_sample_photos(4, split="test", max_faces=2).photos


def same_objects(found, expected):
    assert len(found) == len(expected)
    for name in ("boxes", "points", "scores", "keypoint_scores"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_every_face_has_a_region_at_its_middle_and_size(face, photos):
    columns = list(range(7))
    for photo in photos:
        whole = centred(photo, columns, face.object_model.shape)
        regions = face.regions.find(photo.read())
        for (x, y), size in zip(whole.points[:, -1], whole.sizes, strict=True):
            near = [r for r in regions if np.hypot(r.x - x, r.y - y) < 0.4 * size]
            assert any(abs(np.log2(r.size / size)) < 0.6 for r in near)
        assert [r.score for r in regions] == sorted((r.score for r in regions), reverse=True)
        assert len(regions) <= MOST_REGIONS


def test_objects_in_regions_are_those_of_a_scan(face, photos):
    scanning = replace(face, regions=None)
    for photo in photos:
        found, expected = face.detect_objects(photo.read()), scanning.detect_objects(photo.read())
        for points, size in zip(expected.points, expected.sizes, strict=True):
            apart = np.linalg.norm(found.points - points, axis=2).mean(axis=1) / size
            assert apart.min() < 0.05


def test_faces_too_small_for_a_scan_are_found(face, photos):
    scanning = replace(face, regions=None)
    n_found = n_scanned = n_faces = 0
    for photo in photos:
        factor = 15 / photo.sizes.max()
        small = cv2.resize(photo.read(), None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        truth = (photo.points + 0.5) * factor - 0.5
        for detector in (face, scanning):
            places = detector.detect_objects(small).points
            apart = np.linalg.norm(places[None] - truth[:, None], axis=3).mean(axis=2)
            n = int((apart.min(axis=1, initial=np.inf) < 0.15 * 15).sum())
            n_found, n_scanned = n_found + n * (detector is face), n_scanned + n * (detector is scanning)
        n_faces += len(truth)
    assert n_scanned < n_found >= 0.5 * n_faces


def test_the_number_of_threads_changes_nothing(face, photos):
    before = get_num_threads()
    try:
        set_num_threads(1)
        expected = face.detect_objects(photos[0].read())
        set_num_threads(3)
        same_objects(face.detect_objects(photos[0].read()), expected)
    finally:
        set_num_threads(before)


@pytest.mark.parametrize("shape", [(24, 24), (26, 300), (200, 25)])
def test_photos_with_nothing_in_them(face, shape):
    found = face.detect_objects(np.full((*shape, 3), 90, dtype=np.uint8))
    assert len(found) == 0
    assert found.names == face.keypoint_names


def test_a_face_at_the_edge_of_the_photo(face, photos):
    photo = photos[0]
    middle = int(photo.points[0, :, 0].mean())
    cut = np.ascontiguousarray(photo.read()[:, middle:])
    face.detect_objects(cut)  # its regions reach over the edge
    nothing = face.regions.levels(cut, replace(face.regions.find(photo.read())[0], x=-500.0), 28.0, 4)
    assert nothing[1] == []


def test_regions_are_learned_from_annotated_photos(face):
    photos = make_sample_photos(8, shape=(200, 220), max_faces=1).photos
    config = TrainingConfig(
        regions=RegionConfig(k=20, n_haar=60, rounds=1, n_hard=200, n_random=600, n_iter=50)
    )
    shared = TrainingPhotos(
        photos, {name: i for i, name in enumerate(face.keypoint_names)}, config, nothing_said
    )
    learned = with_regions(replace(face, regions=None), shared, Phases())
    low, high = size_range(face.object_model.shape)
    assert learned.regions.object_px == pytest.approx(np.sqrt(low * high))
    held_out = [photos[i] for i in shared.held_out]
    for photo in held_out:
        middle = centred(photo, range(7), face.object_model.shape).points[0, -1]
        best = learned.regions.find(photo.read())[0]
        assert np.hypot(best.x - middle[0], best.y - middle[1]) < 0.4 * photo.sizes[0]
    without = replace(config, regions=RegionConfig(k=0))
    shared = TrainingPhotos(photos, {"chin": 6}, without, nothing_said)
    assert with_regions(learned, shared, Phases()) is learned


def nothing_said(phase, done, total):
    pass


def test_an_object_without_a_pose_is_neither_example_nor_counterexample(face, photos):
    photo = photos[0]
    points = photo.points.copy()
    points[0, 2:] = np.nan
    whole = centred(replace(photo, points=points), range(7), face.object_model.shape)
    assert np.isnan(whole.points[0, -1]).all()
    assert not whole.visible[0, -1]


def test_regions_come_back_from_a_file_as_they_were(face):
    arrays = pack_regions(face.regions)
    back = unpack_regions(ModelFile("keypoint-detector", arrays, {}))
    assert (back.object_px, back.octaves, back.reach) == (
        face.regions.object_px,
        face.regions.octaves,
        face.regions.reach,
    )
    np.testing.assert_array_equal(back.classifier.tables, face.regions.classifier.tables)
    assert pack_regions(None) == {}
    assert unpack_regions(ModelFile("keypoint-detector", {}, {})) is None


@pytest.mark.parametrize("frame", [(0.0, 1.0, 2.0), (9.0, 21.0, 2.0), (9.0, 1.0, 1e6), (np.inf, 1.0, 2.0)])
def test_a_file_with_regions_out_of_range_is_refused(face, frame):
    arrays = pack_regions(face.regions) | {"region_frame": np.array(frame)}
    with pytest.raises(DataError, match="region"):
        unpack_regions(ModelFile("keypoint-detector", arrays, {}))


def test_a_finder_says_which_setting_is_out_of_range(make_classifier):
    with pytest.raises(DataError, match="reach must be a number from"):
        RegionFinder(make_classifier(WHOLE), 9.0, 1.0, 0.0)
