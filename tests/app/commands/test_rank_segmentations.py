"""`rank-segmentations` through the front door, with a ranker learned from generated motions."""

import csv
import json

import cv2
import numpy as np
import pytest

from annealed.app.output.motion_files import parameter_text
from annealed.datasets.photos.images import read_image
from annealed.datasets.tracks.track_files import encode_npz, read_csv_tracks
from annealed.datasets.tracks.tracks import Tracks
from annealed.datasets.videos import video_frames
from annealed.models import FSARegressor
from annealed.models.estimators.persistence import save
from annealed.models.motion import MotionRanker, disagreement


def two_motions(rng, n_points=15, n_frames=8):
    """Two bodies that turn and drift, with noise."""
    tracks = []
    for drift in ((5, 1), (-4, 2)):
        body = rng.normal(0, 30, (n_points, 3))
        angle = rng.uniform(0.03, 0.1) * np.arange(n_frames)
        x = body[:, :1] * np.cos(angle) - body[:, 2:] * np.sin(angle)
        places = np.stack([x, np.repeat(body[:, 1:2], n_frames, axis=1)], axis=2)
        tracks.append(places + np.arange(n_frames)[:, None] * np.array(drift) + 150)
    positions = np.concatenate(tracks)
    return positions + rng.normal(0, 0.3, positions.shape), np.repeat([0, 1], n_points)


@pytest.fixture(scope="module")
def ranker(tmp_path_factory):
    rng = np.random.default_rng(1)
    sequences, labels = zip(*(two_motions(rng) for _ in range(6)), strict=True)
    path = tmp_path_factory.mktemp("ranker") / "ranker.safetensors"
    MotionRanker(k=10, n_iter=60).fit(sequences, labels).save(path)
    return path


@pytest.fixture
def tracks(rng):
    positions, labels = two_motions(rng)
    visible = np.ones(positions.shape[:2], dtype=bool)
    visible[2, 5:] = False
    visible[20, 1:] = False
    return Tracks(positions, visible=visible, labels=labels, frame_offset=1, width=320, height=300, name="a")


@pytest.fixture
def track_file(tracks, tmp_path):
    (tmp_path / "clip.npz").write_bytes(encode_npz(tracks))
    return tmp_path / "clip.npz"


@pytest.fixture
def video(rng, tmp_path):
    """Two textured squares that move apart."""
    path = tmp_path / "clip.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 10, (240, 160))
    patches = [cv2.resize(rng.integers(0, 256, (15, 15)).astype(np.uint8), (60, 60)) for _ in range(2)]
    for f in range(8):
        frame = np.full((160, 240), 128, np.uint8)
        frame[10 + 2 * f : 70 + 2 * f, 20:80] = patches[0]
        frame[60:120, 150 - 3 * f : 210 - 3 * f] = patches[1]
        writer.write(cv2.cvtColor(frame, cv2.COLOR_GRAY2BGR))
    writer.release()
    return path


def test_tracks_give_labels_candidates_and_a_sheet(annealed, ranker, track_file, tracks, tmp_path):
    out = tmp_path / "out"
    result = annealed("rank-segmentations", track_file, "--motions", 2, "--model", ranker, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert {p.name for p in out.iterdir() if p.name[0] != "."} == {
        "clip.tracks.csv",
        "clip.candidates.csv",
        "clip.candidates.json",
        "clip.png",
        "clip.html",
    }
    back = read_csv_tracks(out / "clip.tracks.csv")
    np.testing.assert_array_equal(back.visible, tracks.visible)
    assert back.frame_offset == 1
    assert np.flatnonzero(back.labels == -1).tolist() == [20]
    known = back.labels >= 0
    error = disagreement(back.labels[known], tracks.labels[known])
    assert error < 0.3
    assert "28 in the candidates, 1 joined to the motion they fit, 1 too short to label" in result.stdout
    assert f"differs from the labels in the file on {100 * error:.2f} %" in result.stdout
    assert "1 input segmented" in result.stderr
    assert read_image(out / "clip.png").ndim == 3


def test_candidates_are_ranked_and_compared_with_the_best(annealed, ranker, track_file, tmp_path):
    result = annealed(
        "rank-segmentations",
        track_file,
        "--motions",
        2,
        "--model",
        ranker,
        "--out",
        tmp_path / "out",
        "--json",
    )
    (document,) = json.loads(result.stdout)
    stored = json.loads((tmp_path / "out" / "clip.candidates.json").read_text())
    rows = list(csv.DictReader((tmp_path / "out" / "clip.candidates.csv").read_text().splitlines()))
    found = document["candidates"]
    assert len(found) == len(stored["candidates"]) == len(rows) >= 1
    scores = [row["score"] for row in found]
    assert scores == sorted(scores, reverse=True)
    best = stored["candidates"][0]["labels"]
    complete = [i for i, label in enumerate(best) if label is not None]
    assert len(best) == 30
    assert len(complete) == document["ranked"] == 28
    for row, kept, line in zip(found, stored["candidates"], rows, strict=True):
        expected = disagreement(
            np.array([kept["labels"][i] for i in complete]), np.array([best[i] for i in complete])
        )
        assert row["disagreement"] == pytest.approx(expected, abs=1e-4)
        assert line["parameters"] == parameter_text(row["parameters"])
        assert float(line["score"]) == row["score"]


def test_videos_are_tracked_and_drawn(annealed, ranker, video, tmp_path):
    out = tmp_path / "out"
    result = annealed("rank-segmentations", video, "--motions", 2, "--model", ranker, "--out", out, "--json")
    assert result.exit_code == 0, result.stderr
    (document,) = json.loads(result.stdout)
    assert document["frames"] == 8
    assert document["tracks"] >= document["ranked"] > 10
    frames = list(video_frames(out / "clip.mp4"))
    assert len(frames) == 8
    assert frames[0].shape == (480, 720, 3)  # a small picture is enlarged
    assert read_csv_tracks(out / "clip.tracks.csv").labels.max() == 1


def test_a_video_is_not_replaced_by_its_overlay(annealed, ranker, video, tmp_path):
    own = tmp_path / "own.mp4"
    own.write_bytes(video.read_bytes())
    result = annealed("rank-segmentations", own, "--motions", 2, "--model", ranker, "--out", tmp_path)
    assert result.exit_code == 2
    assert "own.mp4: results would replace this input" in result.stderr
    assert own.read_bytes() == video.read_bytes()


def test_part_of_a_video(annealed, ranker, video, tmp_path):
    options = ["--start", 2, "--frames", 5, "--points", 60]
    result = annealed(
        "rank-segmentations", video, "--motions", 2, "--model", ranker, "--out", tmp_path / "o", *options
    )
    assert result.exit_code == 0, result.stderr
    assert "of 5 frames" in result.stdout
    assert read_csv_tracks(tmp_path / "o" / "clip.tracks.csv").frame_offset == 2
    assert len(list(video_frames(tmp_path / "o" / "clip.mp4"))) == 5


def test_bad_inputs_among_good_ones_are_reported_and_skipped(annealed, ranker, track_file, tmp_path):
    (tmp_path / "bad.mat").write_bytes(b"no matlab")
    (tmp_path / "bad.avi").write_bytes(b"no video")
    rng = np.random.default_rng(0)
    (tmp_path / "two.npz").write_bytes(encode_npz(Tracks(rng.random((5, 2, 2)))))
    result = annealed(
        "rank-segmentations",
        *(tmp_path / name for name in ("bad.mat", "bad.avi", "two.npz", "none.csv")),
        track_file,
        "--motions",
        2,
        "--model",
        ranker,
        "--out",
        tmp_path / "out",
    )
    assert result.exit_code == 0
    lines = result.stderr.splitlines()
    assert [line for line in lines if "bad.mat: not a MATLAB file" in line]
    assert [line for line in lines if "bad.avi: not a video" in line]
    assert [line for line in lines if "two.npz: tracks of 2 frames" in line]
    assert [line for line in lines if "none.csv: no such file" in line]
    assert "1 input segmented, 4 skipped" in lines[-2]
    assert "written to" in lines[-1]
    assert {p.name.split(".")[0] for p in (tmp_path / "out").glob("[!.]*")} == {"clip"}


@pytest.mark.parametrize(
    ("motions", "message"), [(1, "must be from 2 to 30"), (0, "must be from 2"), (31, "must be from 2 to 30")]
)
def test_numbers_of_motions_out_of_range_end_in_one_line(
    annealed, ranker, track_file, tmp_path, motions, message
):
    out = tmp_path / "out"
    result = annealed("rank-segmentations", track_file, "--motions", motions, "--model", ranker, "--out", out)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "no input of 1 could be used" in result.stderr.splitlines()[-1]
    assert result.stdout == ""
    assert not out.exists()


def test_models_of_another_kind_are_refused(annealed, track_file, tmp_path, rng):
    X = rng.standard_normal((30, 4))
    save(FSARegressor(k=2).fit(X, X[:, 0]), tmp_path / "m.safetensors", {})
    result = annealed("rank-segmentations", track_file, "--motions", 2, "--model", tmp_path / "m.safetensors")
    assert result.exit_code == 2
    assert "not a ranker of segmentations" in result.stderr


def test_what_cannot_be_written_ends_the_run(annealed, track_file, ranker, tmp_path):
    """It is said of the results, once, not of each of the inputs."""
    other = track_file.with_name("other.npz")
    other.write_bytes(track_file.read_bytes())
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "clip.masks").write_text("no folder")
    options = "--motions", 2, "--model", ranker, "--out", tmp_path / "out", "--format", "masks", "--overwrite"
    result = annealed("rank-segmentations", track_file, other, *options)
    assert result.exit_code == 2
    assert result.stderr.count("clip.masks: is a file") == 1
    assert "other" not in result.stderr
