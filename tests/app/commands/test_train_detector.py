import shutil

import pytest

from annealed.datasets.photos.annotation_formats import read_annotations
from annealed.models.keypoints.training import trainer as training
from annealed.models.model_files import load_model


@pytest.fixture
def data(photo_folder, tmp_path):
    """A copy of the data set that a test may spoil."""
    return shutil.copytree(photo_folder, tmp_path / "data")


@pytest.fixture
def train(annealed, quick, tmp_path):
    """Train with quick options on a folder; further options come last and win."""

    def run(folder, *options, keypoint="chin"):
        out = tmp_path / "m.safetensors"
        return annealed("train-detector", folder, "--keypoint", keypoint, "--out", out, *quick, *options)

    return run


def check_refused(result, message):
    """One line on stderr, exit status 2, nothing on stdout."""
    assert result.exit_code == 2, result.stderr
    assert result.stdout == ""
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert "Traceback" not in result.stderr


def test_train_detector_writes_model_checkpoints_and_report(trained):
    result, model = trained
    assert result.exit_code == 0, result.stderr
    detector = load_model(model)
    assert detector.keypoint_names == ("left_eye_center", "chin")
    assert [len(classifier.pool) for classifier in detector.classifiers] == [15, 15]
    run = model.with_name("model.safetensors.run")
    assert {p.name for p in run.iterdir()} - {".lock"} == {
        "config.json", "train.log", "round-00.safetensors", "round-01.safetensors", "report.html",
    }  # fmt: skip
    assert "chin: 15 features" in result.stdout
    assert "seconds: positives" in result.stdout
    last = result.stderr.splitlines()[-1]
    assert (
        "model.safetensors: written; average precision on 1 held-out photo: left_eye_center 0." in last
        or ("left_eye_center 1." in last)
    )


def test_train_detector_says_the_figures_of_the_model_that_it_wrote(trained):
    """In the last line, in the summary, in the table of rounds and at the head of the report: the same."""
    result, model = trained
    detector = load_model(model)
    page = model.with_name("model.safetensors.run").joinpath("report.html").read_text()
    for k, name in enumerate(detector.keypoint_names):
        precision = f"{detector.metadata['validation'][k]['average_precision']:.3f}"
        kept = detector.metadata["rounds"][k]
        assert f"{name} {precision}" in result.stderr.splitlines()[-1]
        (line,) = [line for line in result.stdout.splitlines() if line.startswith(f"{name}: ")]
        assert f"average precision {precision}" in line
        assert f"<td>{name}</td><td>{kept} of 1</td><td>{precision}</td>" in page
        assert ("round 1 of 1 kept" if kept else "kept before any of 1 round") in line
    for word in ("Trained on", "Began", "Took", "Command", "5 photos, 5 objects"):
        assert word in page
    assert page.count("(kept)") == 2


def test_train_detector_report_is_self_contained(trained):
    page = trained[1].with_name("model.safetensors.run").joinpath("report.html").read_text()
    assert "data:image/png;base64," in page
    assert "left_eye_center" in page
    assert "http" not in page.replace("http-equiv", "")


def test_train_detector_presets_and_options():
    from annealed.app.commands.train_detector import LossName, Preset, make_config

    paper = make_config(Preset.paper, {}, LossName.lorenz, "20,40")
    assert paper == training.TrainingConfig()
    assert (paper.fit.k, paper.rounds, paper.n_hard, paper.fit.n_iter, paper.fit.mu) == (
        1500,
        10,
        20_000,
        500,
        300,
    )
    fast = make_config(Preset.fast, {"k": None, "rounds": 7}, LossName.huber, "10,30.5")
    assert (fast.fit.k, fast.rounds, fast.scanned, fast.n_haar) == (300, 7, 0.5, 20_000)
    assert (fast.fit.loss, fast.targets.size_range_px) == ("huber", (10.0, 30.5))


def test_train_detector_interrupted_leaves_a_folder_to_resume(train, photo_folder, tmp_path, monkeypatch):
    class Interrupt:
        def __init__(self, *arguments):
            raise KeyboardInterrupt

    run = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(training, "HardestNegatives", Interrupt)
        result = train(photo_folder, "--run", run)
    assert result.exit_code == 130
    assert result.stderr.splitlines() == [
        f"annealed: interrupted; the same command with --resume continues the run in {run}"
    ]
    assert {p.name for p in run.iterdir()} - {".lock"} == {"config.json", "train.log", "round-00.safetensors"}
    assert not (tmp_path / "m.safetensors").exists()
    assert train(photo_folder, "--run", run, "--resume").exit_code == 0
    resumed = (tmp_path / "m.safetensors").read_bytes()
    again = tmp_path / "whole"
    check_refused(train(photo_folder, "--run", again), "--overwrite replaces it")
    assert train(photo_folder, "--run", again, "--overwrite").exit_code == 0
    assert (tmp_path / "m.safetensors").read_bytes() == resumed


def test_train_detector_skips_and_counts_what_is_bad(train, data):
    images = sorted((data / "images").iterdir())
    images[0].write_bytes(b"not a picture")
    whole = images[1].read_bytes()
    images[1].write_bytes(whole[: len(whole) // 2])
    with open(data / "keypoints.csv", "a") as stream:
        stream.write("gone.png,0,chin,1,1\n")
        stream.write(f"{images[2].name},0,chin,1,1\n")
        stream.write(f"{images[2].name},0,beard,x,1\n")
    result = train(data, "--rounds", "0", "--validation", "0")
    assert result.exit_code == 0, result.stderr
    for problem in ("not a picture", images[1].name, "gone.png: no such photo", "is there twice", "x is 'x'"):
        assert problem in result.stderr
    assert "; 5 problems" in result.stderr


def test_train_detector_missing_folder(train, tmp_path):
    check_refused(train(tmp_path / "nowhere"), "nowhere: no such file or folder")


def test_train_detector_unknown_keypoint(train, photo_folder):
    check_refused(
        train(photo_folder, keypoint="beard"), "keypoint 'beard' is not annotated; found: left_eye_center"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-k", "5000"], "k is 5000, more than the 1014 features of the pool"),
        (["-k", "0"], "k must be an integer of at least 1"),
        (["--rounds", "-1"], "rounds must be at least 0"),
        (["--hard", "0"], "n_hard must be at least 1"),
        (["--validation", "0.7"], "validation must lie in 0..0.5"),
        (["--size-range", "40"], "--size-range is '40'; accepted are two numbers"),
        (["--size-range", "40,20"], "size_range_px must be two ascending"),
        (["--size-range", "900,990"], "chin: no positive; on the photos the objects are"),
        (["--scale-by", "left_eye_center,beard"], "'beard' is not annotated"),
        (["--scale-by", "a,b,c"], "accepted are auto, size, box, shape, or two keypoints"),
        (["--scale-by", "height"], "accepted are auto, size, box, shape, or two keypoints"),
        (["--resume"], "no run to resume"),
    ],
)
def test_train_detector_bad_option(train, photo_folder, options, message):
    check_refused(train(photo_folder, *options), message)


@pytest.mark.parametrize("keypoint", ["", "chin,", "chin,chin"])
def test_train_detector_bad_list_of_keypoints(train, photo_folder, keypoint):
    check_refused(train(photo_folder, keypoint=keypoint), "accepted are different names with commas")


def test_train_detector_run_folder_in_use(train, photo_folder, trained):
    run = trained[1].with_name("model.safetensors.run")
    check_refused(train(photo_folder, "--run", run), "holds a run already")


@pytest.mark.parametrize(
    ("out", "message"), [("", "is a folder"), ("no/where/m.safetensors", "no such folder")]
)
def test_train_detector_out_cannot_be_written(annealed, quick, photo_folder, tmp_path, out, message):
    result = annealed("train-detector", photo_folder, "--keypoint", "chin", "--out", tmp_path / out, *quick)
    check_refused(result, message)


def test_train_detector_unknown_loss(train, photo_folder):
    result = train(photo_folder, "--loss", "hinge")
    assert result.exit_code == 2
    assert "lorenz" in result.stderr


def test_a_project_is_trained_as_it_is_for_all_keypoints(annealed, tmp_path, photo_folder, quick):
    project = tmp_path / "mice"
    video = project / "labeled-data" / "clip"
    shutil.copytree(photo_folder / "images", video)
    photos = read_annotations(photo_folder)
    header = [["scorer", "", ""], ["bodyparts", "", ""], ["coords", "", ""]]
    for name in photos.keypoint_names[:2]:
        for coord in "xy":
            for row, cell in zip(header, ("ada", name, coord), strict=True):
                row.append(cell)
    rows = [["labeled-data", "clip", photo.name, *photo.points[0, :2].ravel()] for photo in photos]
    text = "\n".join(",".join(map(str, row)) for row in header + rows)
    (video / "CollectedData_ada.csv").write_text(text)
    result = annealed("train-detector", project, "--out", tmp_path / "mouse.safetensors", *quick)
    assert result.exit_code == 0, result.stderr
    assert load_model(tmp_path / "mouse.safetensors").keypoint_names == photos.keypoint_names[:2]
