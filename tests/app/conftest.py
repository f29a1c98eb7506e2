"""A small annotated data set on disk and a model trained on it through the front door."""

import csv
from dataclasses import replace

import pytest
from PIL import Image
from typer.testing import CliRunner

from annealed.app.cli import app
from annealed.datasets.photos.photo_set import with_sizes
from annealed.datasets.photos.sample_photos import KEYPOINT_NAMES, make_sample_photos
from annealed.models.keypoints.objects.shape import estimate_shape
from annealed.models.keypoints.training.classifier_fitting import FitConfig
from annealed.models.keypoints.training.config import TrainingConfig
from annealed.models.keypoints.training.object_fitting import with_object_model
from annealed.models.keypoints.training.refinement_fitting import RefineConfig
from annealed.models.keypoints.training.trainer import train_detector

QUICK = [
    "-k",
    "15",
    "--rounds",
    "1",
    "--hard",
    "80",
    "--random",
    "400",
    "--haar",
    "150",
    "--validation",
    "0.2",
    "--refine",
    "10",
]


def invoke(*arguments):
    """Run the command line."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def annealed():
    """The command line as a function."""
    return invoke


@pytest.fixture(scope="session")
def photo_folder(tmp_path_factory):
    """Five annotated photos in the CSV form."""
    folder = tmp_path_factory.mktemp("photos")
    (folder / "images").mkdir()
    with open(folder / "keypoints.csv", "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["image", "face", "keypoint", "x", "y"])
        for photo in make_sample_photos(5, shape=(200, 220), max_faces=1):
            Image.fromarray(photo.read()).save(folder / "images" / f"{photo.name}.png")
            for face, points in zip(photo.object_names, photo.points, strict=True):
                for name, (x, y) in zip(KEYPOINT_NAMES, points, strict=True):
                    writer.writerow([f"{photo.name}.png", face, name, x, y])
    return folder


@pytest.fixture(scope="session")
def trained(photo_folder, tmp_path_factory):
    """The result of training two keypoints, and the model file."""
    model = tmp_path_factory.mktemp("model") / "model.safetensors"
    result = invoke(
        "train-detector", photo_folder, "--keypoint", "left_eye_center,chin", "--out", model, *QUICK
    )
    return result, model


@pytest.fixture(scope="session")
def object_model(tmp_path_factory):
    """A model file of three keypoints that make up a face."""
    names = "left_eye_center", "right_eye_center", "chin"
    photos = with_sizes(make_sample_photos(16, shape=(200, 220), max_faces=1)).photos
    columns = {name: KEYPOINT_NAMES.index(name) for name in names}
    rule = TrainingConfig(
        rounds=1, n_hard=200, n_random=800, n_haar=150, validation=0.25,
        fit=replace(FitConfig(), k=25), refine=RefineConfig(k=0),
    )  # fmt: skip
    detector = train_detector(photos, columns, rule).detector
    shape = estimate_shape(photos, list(columns.values()))
    detector = with_object_model(detector, shape, photos, list(columns.values()))
    path = tmp_path_factory.mktemp("face") / "face.safetensors"
    detector.save(path)
    return path


@pytest.fixture
def quick():
    """Options of a training that takes seconds."""
    return QUICK
