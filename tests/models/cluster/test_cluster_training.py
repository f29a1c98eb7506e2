"""Detectors are trained on a cluster as in threads, to the last bit, with workers killed or not."""

import operator
import os
import signal

import pytest

import annealed
from annealed.datasets.photos.sample_photos import make_sample_photos
from annealed.features.errors import ParameterError
from annealed.models.cluster import tasks as tasks_module
from annealed.models.cluster.lost import WorkersLostError
from annealed.models.cluster.tasks import ClusterTasks
from annealed.models.keypoints.detector import PyramidConfig
from annealed.models.keypoints.training.alignment_fitting import AlignConfig
from annealed.models.keypoints.training.classifier_fitting import FitConfig
from annealed.models.keypoints.training.config import TrainingConfig
from annealed.models.keypoints.training.refinement_fitting import RefineConfig
from annealed.models.keypoints.training.trainer import train_detector
from annealed.models.memory import parse_bytes

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of processes that were killed
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

CONFIG = TrainingConfig(
    rounds=1,
    n_hard=20,
    photos_a_batch=4,
    n_random=200,
    n_haar=100,
    validation=0.25,
    fit=FitConfig(k=10, n_iter=20),
    pyramid=PyramidConfig(scales_per_octave=2),
    refine=RefineConfig(k=10, n_iter=20, n_windows=20),
    align=AlignConfig(k=0),
)
KEYPOINTS = {"left_eye_center": 0, "chin": 6}


@pytest.fixture(scope="module")
def photos():
    return make_sample_photos(8, shape=(200, 200), max_faces=1).photos


def train(photos, path, **options):
    train_detector(photos, KEYPOINTS, CONFIG, **options).detector.save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def expected(photos, tmp_path_factory):
    return train(photos, tmp_path_factory.mktemp("alone") / "m.safetensors")


@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_any_number_of_workers_trains_the_same_detector(
    client, photos, expected, tmp_path, monkeypatch, n_workers
):
    client.wait_for_workers(4, timeout=60)
    some = sorted(client.nthreads())[:n_workers]
    monkeypatch.setattr(ClusterTasks, "_workers", lambda self: some)
    with annealed.distributed(client):
        assert train(photos, tmp_path / "m.safetensors") == expected


def test_a_worker_killed_while_photos_are_scanned_changes_no_bit(client, photos, expected, tmp_path):
    client.wait_for_workers(4, timeout=60)
    left = list(client.run(os.getpid).values())[:1]

    def kill(phase, done, total):
        if phase == "scan" and done == 2 and left:
            os.kill(left.pop(), signal.SIGKILL)

    with annealed.distributed(client):
        assert train(photos, tmp_path / "m.safetensors", report=kill) == expected
    assert not left


def test_results_come_in_the_order_of_the_items(client):
    tasks = ClusterTasks(client)
    assert list(tasks.map(operator.add, ["a", "b", "c"] * 5, "!")) == ["a!", "b!", "c!"] * 5
    with pytest.raises(ParameterError, match="must be a number of bytes"):
        list(tasks.map(parse_bytes, ["2GB", "much"]))


def test_tasks_that_end_their_workers_end(client, monkeypatch):
    monkeypatch.setattr(tasks_module, "MOST_LOSSES", 1)
    with pytest.raises(WorkersLostError, match=r"workers were lost|ended several workers"):
        list(ClusterTasks(client).map(os._exit, [1]))
