"""The command line's frame: help, version, and one line for whatever a user gets wrong."""

import json
import subprocess
import sys
from importlib.metadata import version

import numpy as np
import pytest
from typer.testing import CliRunner

from annealed.app.cli import COMMANDS, app
from annealed.app.status import ExitStatus, report_errors
from annealed.features.errors import DataError
from annealed.models import FSARegressor
from annealed.models.estimators.persistence import save

runner = CliRunner()


def test_help_names_every_command():
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    for name in COMMANDS:
        assert name in result.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name):
    result = runner.invoke(app, [name, "--help"])
    assert result.exit_code == 0
    assert "Usage" in result.stdout


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from annealed.app.cli import app\n"
        "print(sorted({'numba', 'sklearn', 'cv2', 'scipy', 'skimage', 'matplotlib'} & set(sys.modules)))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert output.stdout.strip() == "[]"


def test_version():
    result = runner.invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout.strip() == f"annealed {version('annealed')}"


@pytest.mark.parametrize("module", ["annealed", "annealed.app"])
def test_module_is_the_command(module):
    command = [sys.executable, "-m", module, "--version"]
    output = subprocess.run(command, capture_output=True, text=True, check=True)
    assert output.stdout.strip() == f"annealed {version('annealed')}"


def test_info_describes_a_model(tmp_path, rng):
    X = rng.standard_normal((40, 5))
    path = tmp_path / "model.safetensors"
    save(FSARegressor(k=2).fit(X, X[:, 1] + X[:, 3]), path, {"seed": 7})
    result = runner.invoke(app, ["info", str(path), "--json"])
    assert result.exit_code == 0
    description = json.loads(result.stdout)
    assert description["kind"] == "estimator"
    assert description["seed"] == 7
    assert description["arrays"]["features"] == "int64[2]"
    assert "kind: estimator" in runner.invoke(app, ["info", str(path)]).stdout


def test_info_without_a_model_describes_the_installation():
    description = json.loads(runner.invoke(app, ["info", "--json"]).stdout)
    assert description["annealed"] == version("annealed")
    assert description["threads"] >= 1
    assert "face" in description["models"]
    assert description["libraries"]["numpy"] == np.__version__


def test_help_names_exit_statuses_and_completion():
    words = " ".join(runner.invoke(app, ["--help"]).stdout.split())
    assert "130 interrupted" in words
    assert "--install-completion" in words
    for status in ExitStatus:
        assert f"{int(status)} " in words


def test_info_of_the_face_model_is_short():
    lines = runner.invoke(app, ["info", "face"]).stdout.splitlines()
    assert any(line.startswith("training.configuration.fit.k: 500") for line in lines)
    assert "training.validation.0.curve: 100 values" in lines
    assert max(map(len, lines)) < 300


@pytest.mark.parametrize("content", [None, b"", b"not a model", b"\xff" * 200])
def test_info_on_something_else_is_one_line(tmp_path, content):
    path = tmp_path / "model.safetensors"
    if content is not None:
        path.write_bytes(content)
    result = runner.invoke(app, ["info", str(path)])
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "model.safetensors" in result.stderr


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (DataError("faces.csv: line 3\nhas no x"), 2, "annealed: faces.csv: line 3 has no x\n"),
        (FileNotFoundError(2, "No such file or directory", "a.jpg"), 2, "a.jpg"),
        (KeyboardInterrupt(), 130, "annealed: interrupted\n"),
        (ImportError("libGL.so.1: cannot open shared object file"), 1, "opencv-python-headless"),
    ],
)
def test_errors_become_one_line_and_a_status(capsys, error, status, line):
    def command():
        raise error

    with pytest.raises(BaseException, match=f"^{status}$") as raised:
        report_errors(command)()
    assert raised.value.exit_code == status
    message = capsys.readouterr().err
    assert line in message
    assert message.count("\n") == 1


def test_a_bug_keeps_its_traceback():
    def command():
        return np.zeros(2)[5]

    with pytest.raises(IndexError, match="out of bounds"):
        report_errors(command)()
