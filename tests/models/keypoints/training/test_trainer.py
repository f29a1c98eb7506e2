import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from annealed.datasets.photos.sample_photos import make_sample_photos
from annealed.features.errors import DataError, ParameterError
from annealed.models.keypoints.detector import PyramidConfig
from annealed.models.keypoints.training import trainer as training
from annealed.models.keypoints.training.checkpoints import RunFolder
from annealed.models.keypoints.training.classifier_fitting import FitConfig
from annealed.models.keypoints.training.config import TrainingConfig, training_pool
from annealed.models.keypoints.training.refinement_fitting import RefineConfig
from annealed.models.keypoints.training.targets import TargetConfig
from annealed.models.keypoints.training.trainer import train_detector

RULE = TrainingConfig(
    rounds=2,
    n_hard=10,
    spacing_px=1,
    n_random=400,
    n_haar=150,
    validation=0.25,
    fit=FitConfig(k=15, n_iter=40),
    pyramid=PyramidConfig(scales_per_octave=2),
    refine=RefineConfig(k=40, n_iter=100, n_windows=40),
)
KEYPOINTS = {"left_eye_center": 0, "chin": 6}


@pytest.fixture(scope="module")
def photos():
    return make_sample_photos(6, shape=(200, 220), max_faces=1).photos


@pytest.fixture(scope="module")
def trained(photos, tmp_path_factory):
    """The result of a small run with checkpoints, its folder, and its model file."""
    folder = tmp_path_factory.mktemp("run")
    result = train_detector(photos, KEYPOINTS, RULE, run=RunFolder(folder / "run"))
    result.detector.save(folder / "model.safetensors")
    return result, folder / "run", folder / "model.safetensors"


def test_train_detector_finds_the_keypoints_of_its_photos(trained, photos):
    detector = trained[0].detector
    n_found = n_faces = 0
    for photo in photos:
        found = detector.detect(photo.read(), threshold=0.0)
        for name, column in KEYPOINTS.items():
            mine = found[found.keypoint == name]
            for (x, y), size in zip(photo.points[:, column], photo.sizes, strict=True):
                n_faces += 1
                n_found += bool((np.hypot(mine.x - x, mine.y - y) < 0.1 * size).any())
    assert n_found >= 0.75 * n_faces


def test_train_detector_adds_new_hard_negatives_each_round(trained):
    rounds = trained[0].rounds
    assert len(rounds) == 3
    for k in range(2):
        first, second, third = (len(r.negatives[k]) for r in rounds)
        assert (first, second) == (400, 10)
        assert 1 <= third <= 10  # on so few photos there may be fewer left
        keys = np.concatenate([r.negatives[k].keys for r in rounds])
        assert len(np.unique(keys, axis=0)) == len(keys)
        for before, after in pairwise(rounds):
            scores = before.classifiers[k].scores(after.negatives[k].patches)
            assert (np.diff(scores) <= 0).all()
            np.testing.assert_allclose(after.record.hardest[k], scores, rtol=1e-6)
            typical = before.classifiers[k].scores(rounds[0].negatives[k].patches)
            assert np.median(scores) > np.median(typical)


def test_train_detector_goes_on_with_other_photos_in_the_next_round(photos):
    rule = replace(RULE, rounds=2, scanned=0.5, n_random=30, validation=0.0, refine=RefineConfig(k=0))
    _, *mined = train_detector(photos, KEYPOINTS, rule).rounds
    first, second = (set(r.negatives[0].keys[:, 0]) for r in mined)
    assert first
    assert second
    assert not first & second


def test_train_detector_trains_on_no_held_out_photo(trained):
    first = trained[0].rounds[0]
    held_out = set(first.held_out[0].keys[:, 0])
    assert len(held_out) in (1, 2)
    for r in trained[0].rounds:
        assert not held_out & set(r.positives[0].keys[:, 0])
        assert not held_out & set(r.negatives[0].keys[:, 0])


def test_train_detector_takes_the_round_that_is_best_on_held_out_photos(trained):
    detector, rounds = trained[0].detector, trained[0].rounds
    for k, number in enumerate(detector.metadata["rounds"]):
        precision = [r.record.validation[k].average_precision for r in rounds]
        assert precision[number] == max(precision)
        assert all(p < precision[number] for p in precision[number + 1 :])
        chosen = rounds[number].classifiers[k].pool.descriptors
        np.testing.assert_array_equal(detector.classifiers[k].pool.descriptors, chosen)
        n_negatives = sum(len(r.negatives[k]) for r in rounds[: number + 1])
        assert detector.metadata["negatives"][k] == n_negatives


def test_train_detector_records_what_it_did(trained):
    metadata = trained[0].detector.metadata
    assert metadata["configuration"]["fit.k"] == 15
    assert metadata["validation"][0]["photos"] == 2
    assert {"positives", "scan", "columns", "annealing", "refinement"} <= set(trained[0].phases.seconds)
    assert set(trained[0].phases.rates()) == {"scan", "annealing"}


def test_train_detector_refines_unless_held_out_photos_speak_against_it(photos, monkeypatch):
    rule = replace(RULE, rounds=0, refine=RefineConfig(k=10, n_iter=5), validation=0.25)
    no_held_out = train_detector(photos, KEYPOINTS, replace(rule, validation=0.0)).detector
    assert [len(refiner.pool) for refiner in no_held_out.refiners] == [10, 10]
    for gain, expected in ((0.1, 2), (-0.1, 0)):
        values = iter([0.5 + gain, 0.5])  # the refined detector's comes first
        monkeypatch.setattr(training, "_mean_precision", lambda _, values=values: next(values))
        assert len(train_detector(photos, KEYPOINTS, rule).detector.refiners) == expected


def test_train_detector_without_refinement(photos):
    rule = replace(RULE, rounds=0, refine=RefineConfig(k=0))
    result = train_detector(photos, KEYPOINTS, rule)
    assert result.detector.refiners == ()
    assert "refinement" not in result.phases.seconds


def test_train_detector_resumes_after_each_round_to_the_same_file(trained, photos, tmp_path):
    _, run, model = trained
    for n_rounds in (1, 3):
        folder = tmp_path / str(n_rounds)
        folder.mkdir()
        for name in ["config.json", *(f"round-{n:02d}.safetensors" for n in range(n_rounds))]:
            (folder / name).write_bytes((run / name).read_bytes())
        result = train_detector(photos, KEYPOINTS, RULE, run=RunFolder(folder), resume=True)
        result.detector.save(tmp_path / "again.safetensors")
        assert (tmp_path / "again.safetensors").read_bytes() == model.read_bytes()


KILLED = """
import os, signal
from tests_training import KEYPOINTS, RULE
from annealed.datasets.photos.sample_photos import make_sample_photos
from annealed.models.keypoints.training.checkpoints import RunFolder
from annealed.models.keypoints.training.trainer import train_detector

scans = 0

def report(phase, done, total):
    global scans
    scans += phase == "scan" and done == 0
    if scans == 2 and done == 2:
        os.kill(os.getpid(), signal.SIGKILL)

photos = make_sample_photos(6, shape=(200, 220), max_faces=1).photos
train_detector(photos, KEYPOINTS, RULE, run=RunFolder("run"), report=report)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_train_detector_killed_in_the_middle_of_a_round(trained, photos, tmp_path):
    (tmp_path / "tests_training.py").write_bytes(Path(__file__).read_bytes())
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    process = subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, env=environment, check=False)
    assert process.returncode == -signal.SIGKILL
    assert sorted({*os.listdir(tmp_path / "run")} - {".lock"}) == [
        "config.json",
        "round-00.safetensors",
        "round-01.safetensors",
    ]
    result = train_detector(photos, KEYPOINTS, RULE, run=RunFolder(tmp_path / "run"), resume=True)
    result.detector.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == trained[2].read_bytes()


def test_train_detector_without_validation_or_run_folder(photos):
    rule = replace(RULE, rounds=0, validation=0.0)
    detector = train_detector(photos[:3], {"chin": 6}, rule).detector
    assert detector.classifiers[0].threshold == 0.0
    assert detector.metadata["validation"][0]["photos"] == 0


def test_train_detector_skips_a_photo_that_cannot_be_read(photos):
    def fail():
        raise DataError("broken.jpg: truncated")

    tiny = np.zeros((10, 10, 3), dtype=np.uint8)
    broken = SimpleNamespace(**{**vars(photos[0]), "name": "broken", "read": fail})
    small = SimpleNamespace(**{**vars(photos[0]), "name": "small", "read": lambda: tiny})
    rule = replace(RULE, rounds=1, validation=0.0)
    result = train_detector([broken, *photos[:3], small], {"chin": 6}, rule)
    assert len(result.problems) == 2
    assert "broken.jpg: truncated" in result.problems[0]
    assert "small: the photo has 10 x 10 pixels" in result.problems[1]


def test_train_detector_no_positive_in_the_size_range(photos):
    rule = replace(RULE, targets=TargetConfig(size_range_px=(500.0, 600.0)))
    with pytest.raises(DataError, match=r"chin: no positive; .* px large, windows are cut .* 500 to 600 px"):
        train_detector(photos, {"chin": 6}, rule)


def test_train_detector_nothing_annotated(photos):
    blank = [replace(p, visible=np.zeros_like(p.visible)) for p in photos]
    with pytest.raises(DataError, match="chin: no visible annotation"):
        train_detector(blank, {"chin": 6}, RULE)


def test_run_folder_is_not_overwritten(trained, photos):
    with pytest.raises(DataError, match="holds a run already; continue it with --resume"):
        train_detector(photos, KEYPOINTS, RULE, run=RunFolder(trained[1]))


def test_run_folder_to_resume_is_missing(photos, tmp_path):
    with pytest.raises(DataError, match="no run to resume"):
        train_detector(photos, KEYPOINTS, RULE, run=RunFolder(tmp_path / "nowhere"), resume=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 5}, r"was started with seed = 0, not 5"),
        ({"fit": replace(RULE.fit, k=16)}, r"was started with fit\.k = 15, not 16"),
    ],
)
def test_run_folder_of_another_configuration(trained, photos, change, message):
    with pytest.raises(DataError, match=message):
        train_detector(photos, KEYPOINTS, replace(RULE, **change), run=RunFolder(trained[1]), resume=True)


def test_run_folder_of_other_data(trained, photos):
    with pytest.raises(DataError, match="was started with data = "):
        train_detector(photos[1:], KEYPOINTS, RULE, run=RunFolder(trained[1]), resume=True)


def test_run_folder_with_a_broken_checkpoint(trained, photos, tmp_path):
    for name in ("config.json", "round-00.safetensors"):
        (tmp_path / name).write_bytes((trained[1] / name).read_bytes())
    whole = (tmp_path / "round-00.safetensors").read_bytes()
    (tmp_path / "round-00.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"round-00\.safetensors: not a checkpoint .* delete it"):
        train_detector(photos, KEYPOINTS, RULE, run=RunFolder(tmp_path), resume=True)


def test_training_pool_draws_haar_and_keeps_hog():
    pool = training_pool(100, seed=3)
    assert (pool.kinds == 0).sum() == 864
    assert len(pool) == 964
    np.testing.assert_array_equal(pool.descriptors, training_pool(100, seed=3).descriptors)
    assert (pool.descriptors != training_pool(100, seed=4).descriptors).any()
    assert len(training_pool(None, seed=0)) == len(training_pool(10**9, seed=0)) > 60_000


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"rounds": -1}, "rounds must be at least 0"),
        ({"n_hard": 0}, "n_hard must be at least 1"),
        ({"scanned": 0.0}, "scanned must be above 0"),
        ({"scanned": 1.5}, "scanned must be above 0"),
        ({"validation": 0.9}, r"validation must lie in 0\.\.0\.5"),
        ({"n_haar": -1}, "n_haar must be"),
    ],
)
def test_training_rule_refuses(option, message):
    with pytest.raises(ParameterError, match=message):
        TrainingConfig(**option)
