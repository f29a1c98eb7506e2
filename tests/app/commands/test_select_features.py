"""`select-features` and `compare-selectors` through the front door."""

import numpy as np
import pandas
import pytest
from typer.testing import CliRunner

from annealed.app.cli import app
from annealed.models import load_model
from annealed.models.selection import FilterSelector


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 8))
    lines = [",".join([*(f"c{j}" for j in range(8)), "town", "y"])]
    for row in X:
        lines.append(",".join([*(f"{v:.6f}" for v in row), "Ulm", "yes" if row[2] > row[5] else "no"]))
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("method", ["fsa", "fsa-piecewise", "mrmr", "l1"])
def test_selects_scores_and_saves(table, tmp_path, method):
    out = tmp_path / "out"
    result = invoke("select-features", table, "--target", "y", "-k", 2, "--method", method, "--out", out)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert {line.split("\t")[1] for line in lines[:2]} == {"c2", "c5"}
    assert [line.split("\t")[0] for line in lines[:2]] == ["1", "2"]
    scores = [float(line.rsplit(" ", 1)[1]) for line in lines[2:]]
    assert len(scores) == 3
    assert scores[0] > 0.9 > scores[2]
    assert "column town is left out: it is not numeric" in result.stderr
    model = load_model(out / "model.safetensors")
    assert model.get_support(indices=True).tolist() == [2, 5]
    assert model.classes_.tolist() == ["no", "yes"]
    assert (out / "scores.png").read_bytes().startswith(b"\x89PNG")


def test_several_targets_are_no_features(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((90, 6))
    Y = np.c_[X[:, 1] > 0, X[:, 4] > 0].astype(int)
    path = tmp_path / "table.csv"
    np.savetxt(path, np.c_[X, Y], delimiter=",", header="a,b,c,d,e,f,sad,calm", comments="")
    wanted = [path, "--target", "sad", "--target", "calm", "-k", 2]
    result = invoke("select-features", *wanted, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert {line.split("\t")[1] for line in lines[:2]} == {"b", "e"}
    assert lines[2].startswith("micro F1 with these 2 features: 0.9")
    model = load_model(tmp_path / "out" / "model.safetensors")
    assert ((model.predict(pandas.DataFrame(X, columns=list("abcdef"))) > 0.5) == Y).mean() > 0.9
    result = invoke("compare-selectors", *wanted, "--methods", "fsa,f,fgm", "--format", "csv")
    assert [line.split(",")[0] for line in result.stdout.splitlines()[1:]] == [
        "fsa",
        "f",
        "fgm",
        "random",
        "all",
    ]


def test_comparison_has_a_line_for_each_method_and_size(table, tmp_path):
    plot = tmp_path / "plot.png"
    result = invoke(
        "compare-selectors",
        table,
        "--target",
        "y",
        "-k",
        "1,3",
        "--methods",
        "fsa,f,chi2,screened-lasso",
        "--out",
        plot,
        "--format",
        "csv",
    )
    assert result.exit_code == 0, result.stderr
    rows = [line.split(",")[:2] for line in result.stdout.splitlines()[1:]]
    expected = [["fsa", "1"], ["fsa", "3"], ["f", "1"], ["f", "3"], ["random", "1"], ["random", "3"]]
    assert rows == [*expected, ["all", "8"]]
    assert "chi2: the chi-squared filter needs counts" in result.stderr
    assert "screened-lasso: method 'screened-lasso' is for regression" in result.stderr
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_an_interrupted_comparison_shows_what_was_measured(table, tmp_path, monkeypatch):
    def interrupted(self, X, y):
        raise KeyboardInterrupt

    monkeypatch.setattr(FilterSelector, "fit", interrupted)
    plot = tmp_path / "plot.png"
    wanted = ["--target", "y", "-k", "1,3", "--methods", "l1,f,fsa", "--out", plot]
    result = invoke("compare-selectors", table, *wanted, "--format", "csv")
    assert result.exit_code == 130
    assert "interrupted during f" in result.stderr
    assert [line.split(",")[:2] for line in result.stdout.splitlines()[1:]] == [["l1", "1"], ["l1", "3"]]
    assert plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "z"], "no column 'z'"),
        (["--target", "y", "-k", 9], "-k is 9"),
        (["--target", "y", "-k", 0], "-k is 0"),
        (["--target", "y", "-k", 2, "--method", "best"], "no method is named 'best'"),
        (["--target", "y", "-k", 2, "--method", "chi2"], "X has negative values"),
        (["--target", "y", "-k", 2, "--folds", 1], "1 folds"),
    ],
)
def test_bad_input_is_one_line_and_status_2(table, tmp_path, arguments, message):
    result = invoke("select-features", table, "--out", tmp_path / "out", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_an_unknown_method_ends_a_comparison(table):
    result = invoke("compare-selectors", table, "--target", "y", "-k", "1", "--methods", "f,best")
    assert result.exit_code == 2
    assert "no method is named 'best'; there are fsa" in result.stderr


@pytest.mark.parametrize("sizes", ["a", "0", "50"])
def test_bad_sizes(table, sizes):
    result = invoke("compare-selectors", table, "--target", "y", "-k", sizes)
    assert result.exit_code == 2
    assert f"-k is '{sizes}'" in result.stderr
