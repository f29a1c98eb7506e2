import json
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from annealed.features.errors import DataError, ParameterError
from annealed.features.pool import cut_windows
from annealed.features.pyramid import gaussian_pyramid
from annealed.models.keypoints import scan
from annealed.models.keypoints.detector import KeypointDetector, PyramidConfig
from annealed.models.keypoints.nms import Suppression
from annealed.models.model_files import load_model, read_model_file

EVERY_WINDOW = Suppression(radius=0.0, refine_radius=0.0)


@pytest.fixture
def detector(make_classifier):
    """Two keypoints with different numbers of features."""
    classifiers = make_classifier("chin"), make_classifier("left_eye", k=12, seed=1)
    return KeypointDetector(classifiers, 28.0, metadata={"note": "two"})


def table(detections):
    return np.stack([detections.x, detections.y, detections.scale, detections.score])


def test_detect_reports_windows_in_photo_pixels(detector, photo):
    """Without suppression the detections are the windows of all levels above each keypoint's threshold."""
    found = replace(detector, suppression=EVERY_WINDOW).detect(photo, exact=True)
    assert found.keypoint_names == ("chin", "left_eye")
    for classifier in detector.classifiers:
        expected = []
        for level in gaussian_pyramid(photo):
            places = np.indices(level.image.shape[:2]).reshape(2, -1)
            scores = classifier.scores(cut_windows(level.image, *places))
            hits = scores >= classifier.threshold
            x, y = level.to_photo(places[::-1, hits].T).T
            scale = np.full(hits.sum(), np.sqrt(photo[..., 0].size / level.image[..., 0].size))
            expected.append(np.stack([x, y, scale, scores[hits]]))
        expected = np.concatenate(expected, axis=1)
        mine = table(found[found.keypoint == classifier.keypoint])
        assert mine.shape == expected.shape
        np.testing.assert_allclose(
            mine[:, np.lexsort(mine)], expected[:, np.lexsort(expected)], rtol=1e-6, atol=1e-9
        )


def test_detect_is_sorted_and_suppressed(detector, photo):
    found = detector.detect(photo, threshold=0.0)
    assert 0 < len(found) < len(replace(detector, suppression=EVERY_WINDOW).detect(photo, threshold=0.0))
    assert (np.diff(found.score) <= 0).all()
    assert (found.object == -1).all()


def test_detect_threshold_option_overrides(detector, photo):
    strict = detector.detect(photo, threshold=1.0)
    assert (strict.score >= 1.0).all()
    assert len(strict) < len(detector.detect(photo, threshold=0.0))
    assert len(detector.with_thresholds([99.0, 99.0]).detect(photo)) == 0


def test_save_and_load_detect_the_same(detector, photo, tmp_path):
    detector.save(tmp_path / "m.safetensors")
    again = load_model(tmp_path / "m.safetensors")
    assert again.metadata == {"note": "two"}
    assert again.pyramid == detector.pyramid
    assert again.suppression == detector.suppression
    assert again.keypoint_names == detector.keypoint_names
    np.testing.assert_array_equal(table(again.detect(photo)), table(detector.detect(photo)))


@pytest.mark.parametrize("shape", [(10, 12, 3), (23, 100, 3)])
def test_detect_photo_smaller_than_a_window(detector, shape):
    with pytest.raises(DataError, match=f"{shape[1]} x {shape[0]} pixels, less than a window of 24 x 24"):
        detector.detect(np.zeros(shape, dtype=np.uint8))


def test_detect_photo_of_exactly_one_window(detector):
    detector.detect(np.zeros((24, 24, 3), dtype=np.uint8))


def test_levels_beyond_the_budget_are_refused_before_they_are_made(detector, monkeypatch):
    greedy = replace(detector, pyramid=PyramidConfig(64, 8.0))
    with pytest.raises(
        DataError, match=r"2000 x 1000 pixels has 6e\+09 on the levels .*ANNEALED_SCAN_PIXELS"
    ):
        greedy.detect(np.zeros((1000, 2000, 3), dtype=np.uint8))
    monkeypatch.setenv("ANNEALED_SCAN_PIXELS", "1000")
    with pytest.raises(DataError, match=r"more than 1e\+03"):
        detector.detect(np.zeros((40, 40, 3), dtype=np.uint8))


def test_windows_beyond_the_budget_are_refused(detector, monkeypatch, photo):
    monkeypatch.setattr(scan, "MAX_WINDOWS", 10)
    with pytest.raises(DataError, match="more than 10 windows of the photo are found; raise the threshold"):
        detector.detect(photo, threshold=-1e6)


@pytest.mark.parametrize(
    "image", [np.zeros((30, 30), np.uint8), np.zeros((30, 30, 3)), np.zeros((0, 30, 3), np.uint8)]
)
def test_detect_what_is_no_photo(detector, image):
    with pytest.raises(DataError, match="accepted is RGB"):
        detector.detect(image)


def test_detect_threshold_not_finite(detector, photo):
    with pytest.raises(ParameterError, match="threshold must be a finite number"):
        detector.detect(photo, threshold=np.nan)


def test_detector_needs_different_keypoints(make_classifier):
    with pytest.raises(DataError, match="different keypoints"):
        KeypointDetector((make_classifier(), make_classifier()), 28.0)


@pytest.mark.parametrize(
    "arguments", [{"scales_per_octave": 0}, {"scales_per_octave": 2.5}, {"max_scale": 0.0}]
)
def test_pyramid_rule_refuses(arguments):
    with pytest.raises(ParameterError, match="must be"):
        PyramidConfig(**arguments)


def spoil(name, array):
    """Change one array of a model file."""

    def change(arrays, metadata):
        arrays[name] = array(arrays[name])

    return change


def lose(name):
    return lambda arrays, metadata: arrays.pop(name)


def say(**values):
    return lambda arrays, metadata: metadata.update(values)


HOSTILE = [
    (lose("knots"), "array 'knots' is missing"),
    (spoil("low", lambda a: a.astype(np.float64)), "'low' is float64, expected float32"),
    (spoil("low", lambda a: a[:-1]), r"'low' has shape \(41,\)"),
    (spoil("high", lambda a: a * np.float32(np.nan)), "not finite"),
    (spoil("high", lambda a: a - np.float32(1e9)), "low <= high"),
    (spoil("descriptors", lambda a: a + np.uint8(200)), "no feature of a 24 x 24 window"),
    (spoil("descriptors", lambda a: a[:, :3].copy()), "descriptors has shape"),
    (spoil("rejection", lambda a: a * np.float32(np.nan)), "no numbers"),
    (spoil("counts", lambda a: -a), "counts must lie in"),
    (spoil("counts", lambda a: a * 10**12), "counts must lie in"),
    (spoil("counts", lambda a: a[::-1].copy() + 1), "has shape"),
    (spoil("thresholds", lambda a: a[:1]), "thresholds"),
    (say(keypoints=[]), "list of names"),
    (say(keypoints=["chin", 7]), "list of names"),
    (say(keypoints=["chin", "chin"]), "different keypoints"),
    (say(window_px=32), "window_px is 32"),
    (say(object_px="big"), "broken metadata"),
    (say(object_px=-1), "object_px must be"),
    (say(object_px=10**400), "broken metadata"),
    (say(octaves=float("inf")), "octaves must be"),
    (say(pyramid={"scales_per_octave": 4}), "pyramid must hold"),
    (say(pyramid={"scales_per_octave": 10**9, "max_scale": 1.0}), "scales_per_octave must be"),
    (say(suppression=None), "suppression must hold"),
    (say(suppression={**vars(Suppression()), "radius": "1"}), "expected a number"),
]


@pytest.mark.parametrize(("change", "message"), HOSTILE)
def test_load_hostile_model_file(detector, tmp_path, change, message):
    good, bad = tmp_path / "good.safetensors", tmp_path / "bad.safetensors"
    detector.save(good)
    arrays, file = load_file(good), read_model_file(good)
    document = {"format_version": 1, "kind": file.kind, **file.metadata}
    change(arrays, document)
    save_file(arrays, bad, metadata={"annealed": json.dumps(document)})
    with pytest.raises(DataError, match=message):
        load_model(bad)
