"""`train-ranker` and `evaluate-ranker` through the front door, on made-up sequences."""

import json

import numpy as np
import pytest
from scipy.io import savemat

from annealed.models import load_model


def write_sequence(folder, name, rng):
    """Two drifting, turning bodies as a `*_truth.mat` file."""
    frames = np.arange(8)
    angle = rng.uniform(0.05, 0.1) * frames
    drift = np.array([[3.0, 1.0], [-2.0, 2.5]])
    tracks = []
    for body in range(2):
        points = rng.standard_normal((10, 2)) * 40
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        turned = points[:, None] + 200 if body == 0 else np.einsum("abf,pb->pfa", turn, points) + 250
        tracks.append(turned + drift[body] * frames[:, None] + rng.normal(0, 0.1, (10, 8, 2)))
    positions = np.concatenate(tracks)
    y = np.ones((3, 20, 8))
    y[:2] = np.moveaxis(positions, 2, 0)
    (folder / name).mkdir(parents=True)
    savemat(folder / name / f"{name}_truth.mat", {"y": y, "s": np.repeat([1, 2], 10)[:, None]})


@pytest.fixture
def sequences(tmp_path, rng):
    """Four sequences of three videos."""
    folder = tmp_path / "hopkins"
    for name in ("cars1", "cars1_g12", "arm", "1R2RC"):
        write_sequence(folder, name, rng)
    return folder


def test_a_trained_ranker_is_written_and_ranks(annealed, sequences, tmp_path):
    out = tmp_path / "ranker.safetensors"
    result = annealed("train-ranker", sequences, "--out", out, "-k", 5)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert [line.split("\t")[0] for line in lines[:5]] == ["1", "2", "3", "4", "5"]
    assert lines[5].startswith("training error")
    ranker = load_model(out)
    assert ranker.metadata_["sequences"] == 4
    assert ranker.metadata_["videos"] == 3
    assert [line.split("\t")[1] for line in lines[:5]] == ranker.selected_names


def test_evaluation_prints_every_group_and_choice(annealed, sequences):
    options = ["--folds", 3, "--repetitions", 1, "-k", 5]
    result = annealed("evaluate-ranker", sequences, *options)
    assert result.exit_code == 0, result.stderr
    for title in ("traffic, 2 motions: 2", "articulated, 2 motions: 1", "all, 2 motions: 4", "all sequences"):
        assert title in result.stdout
    document = json.loads(annealed("evaluate-ranker", sequences, *options, "--no-boost", "--json").stdout)
    assert document[-1]["sequences"] == 4
    percent = document[-1]["percent"]
    assert set(percent) > {"oracle", "random candidate", "best fixed d", "FSARank train", "FSARank test"}
    assert "RankBoost test" not in percent
    assert percent["oracle"]["average"] <= percent["FSARank test"]["average"] <= 100


def test_a_bad_sequence_is_reported_and_left_out(annealed, sequences, tmp_path):
    (sequences / "arm" / "arm_truth.mat").write_bytes(b"no tracks")
    result = annealed("train-ranker", sequences, "--out", tmp_path / "r.safetensors", "-k", 3)
    assert result.exit_code == 0
    assert "arm_truth.mat" in result.stderr
    assert load_model(tmp_path / "r.safetensors").metadata_["sequences"] == 3


def test_a_sequence_that_cannot_be_segmented_is_reported_and_left_out(annealed, sequences, tmp_path):
    y = np.ones((3, 20, 8))
    savemat(sequences / "arm" / "arm_truth.mat", {"y": y, "s": np.repeat([1, 2], 10)[:, None]})
    result = annealed("train-ranker", sequences, "--out", tmp_path / "r.safetensors", "-k", 3)
    assert result.exit_code == 0
    assert "arm: no track moves" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--pool", "small"], "pool must be one of"),
        (["--features", "none"], "features must be one of"),
        (["--form", "ranks"], "form must be one of"),
        (["--folds", 7], "from 2 to 3"),
        (["--repetitions", 0], "--repetitions is 0"),
    ],
)
def test_bad_options_end_in_one_line(annealed, sequences, options, message):
    result = annealed("evaluate-ranker", sequences, *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_bad_folders_end_in_one_line(annealed, sequences, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    for arguments, message in (
        (["train-ranker", tmp_path / "none", "--out", tmp_path / "r"], "no such folder"),
        (["evaluate-ranker", empty], "_truth.mat below this folder"),
        (["train-ranker", sequences, "--out", empty], "is a folder"),
        (["train-ranker", sequences, "--out", tmp_path / "no" / "r"], "no such folder to write"),
        (["train-ranker", sequences, "--out", tmp_path / "r", "-k", "0"], "'k' parameter"),
    ):
        result = annealed(*arguments)
        assert result.exit_code == 2
        assert message in result.stderr
        assert len(result.stderr.splitlines()) == 1
