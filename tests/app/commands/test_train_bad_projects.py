"""What is wrong with a DeepLabCut project ends in one line, or is left out with a word."""

import csv

import numpy as np
import pytest
from PIL import Image

from annealed.models.model_files import load_model

PARTS = "snout", "tail", "ear"


def draw_frame(seed, shape=(60, 80)):
    """A light spot, a ring and a square on dark ground, and their middles."""
    rng = np.random.default_rng(seed)
    rows, cols = np.mgrid[: shape[0], : shape[1]]
    image = rng.normal(60, 5, shape)
    x, y = rng.uniform(15, 35), rng.uniform(28, 40)
    points = np.array([[x, y], [x + 32, y], [x + 12, y - 16]])
    away = np.hypot(cols[..., None] - points[:, 0], rows[..., None] - points[:, 1])
    image[away[..., 0] < 6] = 220
    image[np.abs(away[..., 1] - 6) < 2] = 220
    image[(np.abs(cols - points[2, 0]) < 5) & (np.abs(rows - points[2, 1]) < 5)] = 160
    return np.clip(image, 0, 255).astype(np.uint8), points


@pytest.fixture
def project(tmp_path):
    """Return a function that writes a project of some frames; `spoil` changes each frame's points."""

    def write(n=21, spoil=lambda points, i: points, shape=lambda i: (60, 80)):
        video = tmp_path / "project" / "labeled-data" / "clip"
        video.mkdir(parents=True)
        with open(video / "CollectedData_ada.csv", "w", newline="") as stream:
            labels = csv.writer(stream)
            labels.writerow(["scorer", "", "", *["ada"] * 6])
            labels.writerow(["bodyparts", "", "", *[part for part in PARTS for _ in "xy"]])
            labels.writerow(["coords", "", "", *"xyxyxy"])
            for i in range(n):
                image, points = draw_frame(i, shape(i))
                Image.fromarray(image).convert("RGB").save(video / f"img{i:03}.png")
                cells = ["" if np.isnan(v) else v for v in spoil(points, i).ravel()]
                labels.writerow(["labeled-data", "clip", f"img{i:03}.png", *cells])
        return tmp_path / "project"

    return write


@pytest.fixture
def train(annealed, tmp_path):
    """Train as quickly as it goes, with parts of little."""

    def run(folder, *options):
        out = tmp_path / "m.safetensors"
        quick = ("-k", 10, "--rounds", 0, "--random", 200, "--haar", 20, "--align", 0, "--parts", 10)
        return out, annealed("train-detector", folder, "--out", out, *quick, *options)

    return run


def without(points, part):
    points = points.copy()
    points[part] = np.nan
    return points


@pytest.mark.parametrize(
    ("n", "spoil"),
    [(4, lambda points, i: np.full((3, 2), np.nan)), (0, lambda points, i: points)],
    ids=["nothing-annotated", "no-frame"],
)
def test_a_project_without_labels_ends_in_one_line(project, train, n, spoil):
    out, result = train(project(n, spoil))
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
    assert not out.exists()


def test_one_frame_is_trained_on_or_refused_in_one_line(project, train):
    _, result = train(project(1), "--validation", 0)
    assert result.exit_code in (0, 2)
    assert "Traceback" not in result.stderr


def test_a_keypoint_that_is_never_visible_is_left_out_with_a_word(project, train):
    out, result = train(project(8, lambda points, i: without(points, 1)), "--size-range", "10,20")
    assert result.exit_code == 0, result.stderr
    assert "tail: never visible, left out" in result.stderr
    assert load_model(out).keypoint_names == ("snout", "ear")


def test_a_keypoint_that_is_never_visible_and_asked_for_is_refused(project, train):
    _, result = train(project(6, lambda points, i: without(points, 1)), "--keypoint", "tail")
    assert result.exit_code == 2
    assert "tail: no visible annotation" in result.stderr


def test_frames_of_different_sizes_are_trained_on(project, train):
    out, result = train(project(21, shape=lambda i: (60, 80) if i % 2 else (70, 100)))
    assert result.exit_code == 0, result.stderr
    detector = load_model(out)
    assert detector.metadata["shape"]["kind"] in ("scene", "bending", "rigid")
    image = np.repeat(draw_frame(99)[0][..., None], 3, axis=2)
    assert np.isfinite(detector.detect_objects(image, threshold=-1e6).points).all()


def test_few_frames_are_trained_on_without_parts(project, train):
    out, result = train(project(8))
    assert result.exit_code == 0, result.stderr
    assert load_model(out).parts is None
