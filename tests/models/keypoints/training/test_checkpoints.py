import json
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from annealed.features.errors import DataError
from annealed.models.keypoints.training.checkpoints import Round, RunFolder, read_round, write_round
from annealed.models.keypoints.training.mining import Examples, no_examples
from annealed.models.keypoints.training.record import RoundRecord

CONFIG = {"keypoints": ["chin"], "fit.k": 30}


@pytest.fixture
def result(make_classifier, rng):
    """A round of one keypoint."""

    def examples(n):
        patches = rng.integers(0, 256, size=(n, 26, 26, 3), dtype=np.uint8)
        return (Examples(patches, rng.integers(0, 99, size=(n, 4), dtype=np.int32)),)

    return Round(
        examples(3), (no_examples(),), examples(5), (make_classifier(),), RoundRecord(hardest=[[1.5]])
    )


def check_same(first, second):
    for kind in ("positives", "held_out", "negatives"):
        for a, b in zip(getattr(first, kind), getattr(second, kind), strict=True):
            np.testing.assert_array_equal(a.patches, b.patches)
            np.testing.assert_array_equal(a.keys, b.keys)
    for a, b in zip(first.classifiers, second.classifiers, strict=True):
        for name in ("tables", "floors", "rejection", "intercept", "threshold", "keypoint"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        np.testing.assert_array_equal(a.pool.descriptors, b.pool.descriptors)
    assert first.record == second.record


def test_round_comes_back_as_it_was_written(result, tmp_path):
    write_round(tmp_path / "round.safetensors", result)
    check_same(read_round(tmp_path / "round.safetensors"), result)


def test_run_folder_gives_its_rounds_back_up_to_the_first_gap(result, tmp_path):
    run = RunFolder(tmp_path / "run")
    assert run.begin(CONFIG, resume=False) == []
    for number in (0, 1, 3):
        run.write_round(number, replace(result, record=RoundRecord(work={"scan": number})))
    run.release()
    found = RunFolder(tmp_path / "run").begin(CONFIG, resume=True)
    assert [r.record.work["scan"] for r in found] == [0, 1]


@pytest.mark.parametrize("text", ["{", "[1, 2]", "null", "[" * 100_000])
def test_run_folder_with_a_broken_configuration(tmp_path, text):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(DataError, match=r"config\.json: not a configuration"):
        RunFolder(tmp_path).begin(CONFIG, resume=True)


@pytest.mark.parametrize("other", [{"keypoints": ["chin"]}, {**CONFIG, "seed": 1}, {**CONFIG, "fit.k": 31}])
def test_run_folder_of_another_configuration(tmp_path, other):
    RunFolder(tmp_path).begin(CONFIG, resume=False)
    with pytest.raises(DataError, match="the run was started with"):
        RunFolder(tmp_path).begin(other, resume=True)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("positives.0.keys", lambda a: a.astype(np.int64), "is int64, expected int32"),
        ("negatives.0.patches", lambda a: a[:-1], "has shape"),
        ("low", lambda a: a[:-1], "has shape"),
    ],
)
def test_read_round_with_arrays_that_do_not_fit(result, tmp_path, name, change, message):
    write_round(tmp_path / "round.safetensors", result)
    arrays = load_file(tmp_path / "round.safetensors")
    arrays[name] = np.ascontiguousarray(change(arrays[name]))
    document = json.dumps({"keypoints": ["chin"], "record": {}})
    save_file(arrays, tmp_path / "bad.safetensors", metadata={"annealed-round": document})
    with pytest.raises(DataError, match=message):
        read_round(tmp_path / "bad.safetensors")


def test_read_round_of_another_file(tmp_path):
    save_file({"a": np.zeros(2)}, tmp_path / "a.safetensors")
    with pytest.raises(DataError, match="not a checkpoint"):
        read_round(tmp_path / "a.safetensors")


@pytest.mark.parametrize("document", ["[]", "{}", '{"keypoints": 3}', "[" * 100_000])
def test_read_round_with_metadata_that_do_not_fit(result, tmp_path, document):
    write_round(tmp_path / "round.safetensors", result)
    arrays = load_file(tmp_path / "round.safetensors")
    save_file(arrays, tmp_path / "bad.safetensors", metadata={"annealed-round": document})
    with pytest.raises(DataError, match=r"bad\.safetensors: .*; delete it to redo its round"):
        read_round(tmp_path / "bad.safetensors")


def test_two_processes_do_not_work_on_one_run(tmp_path):
    first = RunFolder(tmp_path / "run")
    first.begin({"seed": 1}, resume=False)
    second = RunFolder(tmp_path / "run")
    with pytest.raises(DataError, match="another process works on this run"):
        second.begin({"seed": 1}, resume=True)
    first.release()
    assert second.begin({"seed": 1}, resume=True) == []
    second.release()
