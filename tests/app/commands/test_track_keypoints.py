"""`detect-keypoints --objects`: a face that moves through a video, followed by the model that ships."""

import csv
import json

import numpy as np
import pytest

from annealed.app.output.video_file import VideoFile
from annealed.datasets.photos.sample_photos import load_astronaut
from annealed.datasets.videos import video_frames
from annealed.models.keypoints.videos.tracker import ObjectTracker

N_FRAMES = 14
LOST = 5, 6
STEP = np.array([11, 4])


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    """A face that moves by the same step in every frame, and is away in two of them; 20 frames a second."""
    face = load_astronaut().read()[0:260, 100:340]
    path = tmp_path_factory.mktemp("clip") / "walk.mp4"
    with VideoFile(path, 20) as video:
        for t in range(N_FRAMES):
            image = np.full((340, 480, 3), 90, dtype=np.uint8)
            x, y = (10, 8) + t * STEP
            if t not in LOST:
                image[y : y + 260, x : x + 240] = face
            video.write(image)
    return path


@pytest.fixture(scope="module")
def followed(clip, tmp_path_factory):
    from typer.testing import CliRunner

    from annealed.app.cli import app

    out = tmp_path_factory.mktemp("out")
    arguments = ["detect-keypoints", str(clip), "--objects", "1", "--out", str(out)]
    return CliRunner().invoke(app, arguments), out


def read_tidy(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def test_all_files_are_written(followed):
    result, out = followed
    assert result.exit_code == 0, result.stderr
    names = {path.name for path in out.iterdir()}
    wanted = {
        "walk.tracks.csv",
        "walkDLC_annealed.csv",
        "walk.tracks.coco.json",
        "walk.html",
        "detections.csv",
    }
    assert wanted <= names
    (video,) = [path for path in out.iterdir() if path.suffix in (".avi", ".mp4")]
    drawn = list(video_frames(video))
    assert len(drawn) == N_FRAMES
    assert drawn[0].shape == (340, 480, 3)


def test_trajectories_follow_the_face_and_its_gap_is_filled_and_marked(followed):
    rows = read_tidy(followed[1] / "walk.tracks.csv")
    assert {row["object"] for row in rows} == {"0"}
    filled = {int(row["frame"]) for row in rows if row["filled"] == "1"}
    assert filled == set(LOST)
    nose = [row for row in rows if row["keypoint"] == "left_nose"]
    places = np.array([[float(row["x"]), float(row["y"])] for row in nose])
    assert [int(row["frame"]) for row in nose] == list(range(N_FRAMES))
    expected = places[0] + np.arange(N_FRAMES)[:, None] * STEP
    assert np.linalg.norm(places - expected, axis=1).max() < 4


def test_raw_tracks_leave_the_gap(annealed, clip, tmp_path):
    result = annealed("detect-keypoints", clip, "--objects", 1, "--raw-tracks", "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    rows = read_tidy(tmp_path / "walk.tracks.csv")
    assert {int(row["frame"]) for row in rows} == set(range(N_FRAMES)) - set(LOST)
    assert {row["filled"] for row in rows} == {"0"}


def test_whatever_is_found_is_followed(annealed, clip, tmp_path):
    result = annealed("detect-keypoints", clip, "--track", "--every", 2, "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    rows = read_tidy(tmp_path / "walk.tracks.csv")
    assert {int(row["frame"]) for row in rows} == set(range(0, N_FRAMES, 2))


def test_the_folder_has_the_name_of_the_video(annealed, clip, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = annealed("detect-keypoints", clip, "--objects", 1, "--every", 4)
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "walk-tracks" / "walk.tracks.csv").is_file()


def test_coco_has_a_track_id(followed):
    document = json.loads((followed[1] / "walk.tracks.coco.json").read_text())
    assert len(document["images"]) == N_FRAMES
    assert {a["track_id"] for a in document["annotations"]} == {0}
    assert sum(a["filled"] for a in document["annotations"]) == len(LOST)


def test_deeplabcut_csv_has_its_header(followed):
    lines = (followed[1] / "walkDLC_annealed.csv").read_text().splitlines()
    assert lines[0].startswith("scorer,annealed,annealed,annealed")
    assert lines[1].startswith("bodyparts,")
    assert lines[2].startswith("coords,x,y,likelihood,x,")
    assert len(lines) == 3 + N_FRAMES
    assert lines[3].startswith("0,")


@pytest.mark.parametrize("ending", [".csv", ".h5"])
@pytest.mark.filterwarnings("ignore")
def test_movement_reads_it(followed, ending):
    load_poses = pytest.importorskip("movement.io.load_poses")
    path = followed[1] / f"walkDLC_annealed{ending}"
    data = load_poses.from_dlc_file(path, fps=20)
    rows = read_tidy(followed[1] / "walk.tracks.csv")
    assert data.sizes["time"] == N_FRAMES
    x = data.position.sel(space="x", keypoints="chin").squeeze().values
    np.testing.assert_allclose(x, [float(r["x"]) for r in rows if r["keypoint"] == "chin"], atol=1e-3)


def test_pandas_reads_the_h5_as_deeplabcut_does(followed):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("tables")
    frame = pd.read_hdf(followed[1] / "walkDLC_annealed.h5")
    assert frame.columns.names == ["scorer", "bodyparts", "coords"]
    assert frame["annealed"]["chin"]["likelihood"].iloc[0] > 0.5
    assert (frame["annealed"]["chin"]["likelihood"].iloc[list(LOST)] == 0).all()


def test_an_interruption_keeps_what_was_found(annealed, clip, tmp_path, monkeypatch):
    step, n_calls = ObjectTracker.step, iter(range(N_FRAMES))

    def step_four(self, image, frame):
        if next(n_calls) == 4:
            raise KeyboardInterrupt
        return step(self, image, frame)

    monkeypatch.setattr(ObjectTracker, "step", step_four)
    result = annealed("detect-keypoints", clip, "--objects", 1, "--out", tmp_path)
    assert result.exit_code == 130
    assert {int(row["frame"]) for row in read_tidy(tmp_path / "walk.tracks.csv")} == {0, 1, 2, 3}
    (video,) = [path for path in tmp_path.iterdir() if path.suffix in (".avi", ".mp4")]
    assert len(list(video_frames(video))) == 4


def test_a_video_that_cannot_be_read_is_one_line(annealed, tmp_path):
    (tmp_path / "a.mp4").write_text("hello")
    result = annealed("detect-keypoints", tmp_path / "a.mp4", "--objects", 1, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_several_objects_of_single_keypoints_are_refused(annealed, clip, tmp_path):
    result = annealed("detect-keypoints", clip, "--objects", 2, "--raw", "--out", tmp_path)
    assert result.exit_code == 2
    assert "cannot be told apart" in result.stderr
