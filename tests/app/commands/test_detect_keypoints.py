import csv
import io
import json

import cv2
import numpy as np
import pytest
from PIL import Image

from annealed.app.detection_run import Finder
from annealed.app.output.overlay import draw_objects
from annealed.datasets.photos.images import read_image
from annealed.datasets.photos.keypoint_csv import load_keypoints
from annealed.datasets.photos.photo_set import with_sizes
from annealed.datasets.photos.sample_photos import KEYPOINT_NAMES, load_astronaut
from annealed.datasets.videos import frame_rate, video_frames
from annealed.models import FSARegressor
from annealed.models.estimators.persistence import save
from annealed.models.model_files import load_model


@pytest.fixture
def model(trained):
    return trained[1]


@pytest.fixture
def photo(photo_folder):
    return sorted((photo_folder / "images").iterdir())[0]


def files_in(folder):
    """What a user sees in a folder."""
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_detect_keypoints_prints_what_detect_finds(annealed, model, photo):
    result = annealed("detect-keypoints", photo, "--model", model, "--threshold", "-0.5")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[0] == (
        "image,frame,object,keypoint,x,y,scale,score,object_score,x0,y0,x1,y1"
    )
    found = load_model(model).detect(read_image(photo), threshold=-0.5)
    rows = rows_of(result.stdout)
    assert len(rows) == len(found) > 0
    for i, row in enumerate(rows):
        assert row["image"] == str(photo)
        assert row["frame"] == row["object"] == row["object_score"] == row["x0"] == ""
        assert row["keypoint"] == found.keypoint[i]
        numbers = [float(row[name]) for name in ("x", "y", "scale", "score")]
        expected = [found.x[i], found.y[i], found.scale[i], found.score[i]]
        assert numbers == pytest.approx(expected, abs=0.006)
    assert f"{len(found)} detections in 1 photo" in result.stderr


@pytest.mark.parametrize(
    ("form", "name"),
    [("csv", "detections.csv"), ("json", "detections.json"), ("coco", "detections.coco.json")],
)
def test_detect_keypoints_writes_pictures_and_a_file(annealed, model, photo_folder, tmp_path, form, name):
    result = annealed(
        "detect-keypoints",
        photo_folder / "images",
        "--model",
        model,
        "--out",
        tmp_path / "out",
        "--format",
        form,
    )
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    stems = {p.stem for p in (photo_folder / "images").iterdir()}
    assert files_in(tmp_path / "out") == {f"{stem}.png" for stem in stems} | {name}
    assert read_image(tmp_path / "out" / f"{min(stems)}.png").shape == (200, 220, 3)
    assert f"written to {tmp_path / 'out'}: " in result.stderr.splitlines()[-1]


def test_detect_keypoints_formats_agree(annealed, model, photo_folder):
    texts = {
        form: annealed(
            "detect-keypoints",
            photo_folder / "images",
            "--model",
            model,
            "--format",
            form,
            "--threshold",
            "-0.5",
        ).stdout
        for form in ("csv", "json", "coco")
    }
    rows = rows_of(texts["csv"])
    listed = [(p["image"], d["keypoint"], d["x"]) for p in json.loads(texts["json"]) for d in p["detections"]]
    assert listed == [(row["image"], row["keypoint"], float(row["x"])) for row in rows]
    coco = json.loads(texts["coco"])
    names = coco["categories"][0]["keypoints"]
    files = {image["id"]: image["file_name"] for image in coco["images"]}
    unpacked = []
    for annotation in coco["annotations"]:
        triples = np.array(annotation["keypoints"]).reshape(-1, 3)
        (place,) = np.flatnonzero(triples[:, 2])
        unpacked.append((files[annotation["image_id"]], names[place], triples[place, 0]))
    assert unpacked == listed


def test_detect_keypoints_skips_and_counts_bad_photos(annealed, model, photo, tmp_path):
    (tmp_path / "empty.jpg").write_bytes(b"")
    (tmp_path / "words.png").write_text("hello")
    (tmp_path / "cut.png").write_bytes(photo.read_bytes()[:5000])
    Image.new("RGB", (10, 12)).save(tmp_path / "tiny.png")
    (tmp_path / "whole.png").write_bytes(photo.read_bytes())
    result = annealed("detect-keypoints", tmp_path, tmp_path / "gone.png", "--model", model)
    assert result.exit_code == 0, result.stderr
    for name in ("empty.jpg", "words.png", "cut.png", "tiny.png", "gone.png"):
        assert sum(name in line for line in result.stderr.splitlines()) == 1
    assert "in 1 photo, 5 skipped" in result.stderr
    assert {row["image"] for row in rows_of(result.stdout)} <= {str(tmp_path / "whole.png")}


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "CMYK", "I;16", "1"])
def test_detect_keypoints_accepts_every_kind_of_picture(annealed, model, photo, tmp_path, mode):
    picture = Image.open(photo)
    if mode == "I;16":
        picture = Image.fromarray(np.asarray(picture.convert("L")).astype(np.uint16) * 257)
    else:
        picture = picture.convert(mode)
    picture.save(tmp_path / "a.tiff")
    assert annealed("detect-keypoints", tmp_path / "a.tiff", "--model", model).exit_code == 0


def test_detect_keypoints_coordinates_follow_exif(annealed, model, photo, tmp_path):
    """A photo stored upside down, and marked so, gives the same detections."""
    exif = Image.Exif()
    exif[0x0112] = 3
    Image.fromarray(read_image(photo)[::-1, ::-1]).save(tmp_path / "turned.png", exif=exif)
    options = ["--model", model, "--threshold", "-0.5"]
    upright = rows_of(annealed("detect-keypoints", photo, *options).stdout)
    turned = rows_of(annealed("detect-keypoints", tmp_path / "turned.png", *options).stdout)
    assert [row["x"] for row in upright] == [row["x"] for row in turned] != []


def check_refused(result, message):
    assert result.exit_code == 2, result.stderr
    assert result.stdout == ""
    assert message in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr


def test_detect_keypoints_no_photo_usable(annealed, model, tmp_path):
    result = annealed("detect-keypoints", tmp_path / "a.png", tmp_path / "b.png", "--model", model)
    check_refused(result, "none of the 2 photos and videos could be used")


def test_detect_keypoints_empty_folder_and_pattern(annealed, model, tmp_path):
    check_refused(
        annealed("detect-keypoints", tmp_path, "--model", model), "no photo or video in this folder"
    )
    check_refused(annealed("detect-keypoints", tmp_path / "*.jpg", "--model", model), "matches no file")


def test_detect_keypoints_bad_model(annealed, photo, tmp_path, rng):
    check_refused(
        annealed("detect-keypoints", photo, "--model", tmp_path / "no.safetensors"), "no such model file"
    )
    (tmp_path / "words.safetensors").write_text("hello")
    result = annealed("detect-keypoints", photo, "--model", tmp_path / "words.safetensors")
    check_refused(result, "not a safetensors model file")
    X = rng.standard_normal((40, 5))
    save(FSARegressor(k=2).fit(X, X[:, 1]), tmp_path / "other.safetensors")
    result = annealed("detect-keypoints", photo, "--model", tmp_path / "other.safetensors")
    check_refused(result, "not a keypoint detector")


def test_detect_keypoints_threshold_not_finite(annealed, model, photo):
    result = annealed("detect-keypoints", photo, "--model", model, "--threshold", "nan")
    check_refused(result, "threshold must be a finite number")


def test_detect_keypoints_out_is_a_file(annealed, model, photo, tmp_path):
    (tmp_path / "out").write_text("in the way")
    check_refused(annealed("detect-keypoints", photo, "--model", model, "--out", tmp_path / "out"), "out")


def test_detect_keypoints_finds_faces(annealed, object_model, photo):
    result = annealed("detect-keypoints", photo, "--model", object_model)
    assert result.exit_code == 0, result.stderr
    faces = load_model(object_model).detect_objects(read_image(photo))
    assert f"{len(faces)} object" in result.stderr
    assert "in 1 photo" in result.stderr
    rows = rows_of(result.stdout)
    assert len(rows) == 3 * len(faces) > 0
    assert {row["object"] for row in rows} == {str(i) for i in range(len(faces))}
    first = {row["keypoint"]: row for row in rows if row["object"] == "0"}
    for k, name in enumerate(faces.names):
        assert float(first[name]["x"]) == pytest.approx(faces.points[0, k, 0], abs=0.006)
        assert (first[name]["score"] != "") == faces.found[0, k]
        assert float(first[name]["object_score"]) == pytest.approx(faces.scores[0], abs=1e-4)
        box = [float(first[name][column]) for column in ("x0", "y0", "x1", "y1")]
        assert box == pytest.approx(faces.boxes[0].tolist(), abs=0.006)
    order = [(int(row["object"]), faces.names.index(row["keypoint"])) for row in rows]
    assert order == sorted(order)


def test_detect_keypoints_finds_the_face_where_it_is(annealed, object_model, photo_folder):
    """On photos that the model was not trained on: one face in each, within a quarter of the eye distance."""
    result = annealed(
        "detect-keypoints", photo_folder / "images", "--model", object_model, "--format", "json"
    )
    truth = {photo.name: photo for photo in with_sizes(load_keypoints(photo_folder))}
    near = 0
    for found in json.loads(result.stdout):
        photo = truth[found["image"].rsplit("/", 1)[-1]]
        best = found["objects"][:1]
        points = {p["keypoint"]: (p["x"], p["y"]) for face in best for p in face["keypoints"]}
        columns = [KEYPOINT_NAMES.index(name) for name in points]
        if best:
            apart = np.linalg.norm(photo.points[0, columns] - list(points.values()), axis=1)
            near += apart.mean() < 0.25 * photo.sizes[0]
    assert near >= 4


def test_detect_keypoints_raw_finds_single_detections(annealed, object_model, photo, tmp_path):
    result = annealed("detect-keypoints", photo, "--model", object_model, "--raw", "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    found = load_model(object_model).detect(read_image(photo), raw=True)
    assert f"{len(found)} detections in 1 photo" in result.stderr
    rows = rows_of((tmp_path / "detections.csv").read_text())
    assert {row["object"] for row in rows} == {""}
    assert len(rows) == len(found)


def test_detect_keypoints_draws_faces(annealed, object_model, photo, tmp_path):
    result = annealed(
        "detect-keypoints", photo, "--model", object_model, "--out", tmp_path, "--format", "coco"
    )
    assert result.exit_code == 0, result.stderr
    assert read_image(tmp_path / f"{photo.stem}.png").shape == (200, 220, 3)
    coco = json.loads((tmp_path / "detections.coco.json").read_text())
    assert all(len(a["bbox"]) == 4 for a in coco["annotations"])


@pytest.fixture
def clip(photo, tmp_path):
    """Six frames at 12 a second: the photo, from frame 4 on upside down."""
    image = read_image(photo)
    size = image.shape[1], image.shape[0]
    video = cv2.VideoWriter(str(tmp_path / "clip.avi"), cv2.VideoWriter.fourcc(*"MJPG"), 12, size)
    for i in range(6):
        video.write((image if i < 4 else image[::-1])[:, :, ::-1])
    video.release()
    return tmp_path / "clip.avi"


def test_detect_keypoints_in_a_video_are_those_of_its_frames(annealed, model, clip):
    result = annealed("detect-keypoints", clip, "--model", model, "--threshold", "-0.5")
    assert result.exit_code == 0, result.stderr
    detector = load_model(model)
    expected = []
    for i, frame in enumerate(video_frames(clip)):
        found = detector.detect(frame, threshold=-0.5)
        expected += [(str(clip), str(i), name) for name in found.keypoint]
    rows = rows_of(result.stdout)
    assert [(row["image"], row["frame"], row["keypoint"]) for row in rows] == expected
    assert {row["frame"] for row in rows} >= {"0", "1", "2", "3"}
    assert f"{len(rows)} detections in 6 frames of 1 video" in result.stderr


def test_detect_keypoints_writes_the_overlay_of_a_video_as_a_video(annealed, object_model, clip, tmp_path):
    out = tmp_path / "out"
    result = annealed("detect-keypoints", clip, "--model", object_model, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert files_in(out) == {"clip.mp4", "detections.csv"}
    assert frame_rate(out / "clip.mp4") == pytest.approx(12)
    drawn = list(video_frames(out / "clip.mp4"))
    assert [frame.shape for frame in drawn] == [(200, 220, 3)] * 6
    plain = next(video_frames(clip))
    expected = draw_objects(plain, load_model(object_model).detect_objects(plain)).astype(int)
    marks = np.abs(expected - plain).max(axis=2) > 100
    assert marks.sum() > 200
    assert np.abs(drawn[0] - expected)[marks].mean() < 40  # JPEG blurs the colours of thin lines


def test_detect_keypoints_every_nth_frame_at_the_same_pace(annealed, model, clip, tmp_path):
    out = tmp_path / "out"
    options = ["--model", model, "--every", "2", "--out", out, "--format", "json"]
    result = annealed("detect-keypoints", clip, *options)
    assert result.exit_code == 0, result.stderr
    assert "cannot be decoded" not in result.stderr
    assert [document["frame"] for document in json.loads((out / "detections.json").read_text())] == [0, 2, 4]
    assert len(list(video_frames(out / "clip.mp4"))) == 3
    assert frame_rate(out / "clip.mp4") == pytest.approx(6)
    assert annealed("detect-keypoints", clip, "--every", "0").exit_code == 2


def test_detect_keypoints_in_photos_and_videos_together(annealed, model, photo, clip, tmp_path):
    (tmp_path / "clip.png").write_bytes(photo.read_bytes())
    (tmp_path / "empty.mp4").write_bytes(b"")
    (tmp_path / "words.webm").write_text("hello")
    out = tmp_path / "out"
    options = ["--model", model, "--out", out, "--format", "coco"]
    result = annealed("detect-keypoints", tmp_path, tmp_path / "gone.mov", *options)
    assert result.exit_code == 0, result.stderr
    for name in ("empty.mp4", "words.webm", "gone.mov"):
        assert sum(name in line for line in result.stderr.splitlines()) == 1
    assert "in 1 photo and 6 frames of 1 video, 3 skipped" in result.stderr
    assert files_in(out) == {"clip.mp4", "clip-2.png", "detections.coco.json"}
    images = json.loads((out / "detections.coco.json").read_text())["images"]
    names = [f"{clip}#{i}" for i in range(6)]
    assert [image["file_name"] for image in images] == [*names, str(tmp_path / "clip.png")]


def test_detect_keypoints_reports_a_video_that_ends_early(annealed, model, clip):
    *whole, last = clip.read_bytes().split(b"00dc", 4)
    clip.write_bytes(b"00dc".join([*whole, last[:3]]))
    result = annealed("detect-keypoints", clip, "--model", model)
    assert result.exit_code == 0, result.stderr
    n = len(list(video_frames(clip)))
    warning, summary = result.stderr.splitlines()
    assert f"clip.avi: cannot be decoded from frame {n} on; {n} of 6 frames used" in warning
    assert f"in {n} frames of 1 video" in summary


@pytest.mark.parametrize("form", ["csv", "json", "coco"])
def test_detect_keypoints_interrupted_keeps_what_was_found(
    annealed, model, clip, tmp_path, form, monkeypatch
):
    whole = annealed("detect-keypoints", clip, "--model", model, "--format", form).stdout
    find, n_calls = Finder.find, iter(range(6))

    def find_three(self, image):
        if next(n_calls) == 3:
            raise KeyboardInterrupt
        return find(self, image)

    monkeypatch.setattr(Finder, "find", find_three)
    out = tmp_path / "out"
    result = annealed("detect-keypoints", clip, "--model", model, "--format", form, "--out", out)
    assert result.exit_code == 130
    assert "annealed: interrupted; " in result.stderr
    assert "in 3 frames of 1 video" in result.stderr
    (path,) = out.glob("detections.*")
    assert files_in(out) == {"clip.mp4", path.name}
    assert len(list(video_frames(out / "clip.mp4"))) == 3
    if form == "csv":
        assert whole.startswith(path.read_text())
        assert {row["frame"] for row in rows_of(path.read_text())} == {"0", "1", "2"}
    elif form == "json":
        assert json.loads(path.read_text()) == json.loads(whole)[:3]
    else:
        assert json.loads(path.read_text())["images"] == json.loads(whole)["images"][:3]


def test_detect_keypoints_that_fails_leaves_the_files_of_before(
    annealed, model, photo, tmp_path, monkeypatch
):
    (tmp_path / "detections.csv").write_text("before")

    def broken(self, image, found):
        raise OSError("disk full")

    monkeypatch.setattr(Finder, "draw", broken)
    result = annealed("detect-keypoints", photo, "--model", model, "--out", tmp_path, "--overwrite")
    check_refused(result, "disk full")
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"detections.csv": "before"}


def test_a_second_run_never_mixes_with_the_first(annealed, model, photo, tmp_path):
    out = tmp_path / "out"
    options = ["--model", model, "--out", out]
    other = tmp_path / "other.jpg"
    Image.fromarray(read_image(photo)).save(other)
    assert annealed("detect-keypoints", photo, *options).exit_code == 0
    check_refused(annealed("detect-keypoints", other, *options), "--overwrite")
    assert files_in(out) == {photo.name, "detections.csv"}
    (out / "mine.txt").write_text("notes")
    assert annealed("detect-keypoints", other, *options, "--format", "json", "--overwrite").exit_code == 0
    assert files_in(out) == {"other.jpg", "detections.json", "mine.txt"}


def test_photos_keep_their_size_format_and_folders(annealed, object_model, photo, tmp_path):
    for name in "a/x.jpg", "b/x.jpg":
        (tmp_path / name).parent.mkdir()
        Image.fromarray(read_image(photo)).save(tmp_path / name)
    out = tmp_path / "out"
    options = ["--model", object_model, "--out", out, "--save-crops"]
    result = annealed("detect-keypoints", tmp_path / "a", tmp_path / "b", *options)
    assert result.exit_code == 0, result.stderr
    for name in "a/x.jpg", "b/x.jpg":
        assert (out / name).read_bytes().startswith(b"\xff\xd8")  # JPEG
        assert read_image(out / name).shape == (200, 220, 3)
    rows = rows_of((out / "detections.csv").read_text())
    n_objects = len({(row["image"], row["object"]) for row in rows})
    crops = sorted((out / "crops").rglob("*.jpg"))
    assert len(crops) == n_objects > 0
    assert crops[0].parent.name == "a"
    first = rows[0]
    height, width, _ = read_image(crops[0]).shape
    assert width >= min(float(first["x1"]), 219) - max(float(first["x0"]), 0)
    assert height <= 200
    check_refused(annealed("detect-keypoints", photo, "--save-crops"), "--out")


def test_detect_keypoints_never_replaces_an_input(annealed, model, clip):
    before = clip.read_bytes()
    clip = clip.rename(clip.with_suffix(".mp4"))  # what a file is, its content says
    result = annealed("detect-keypoints", clip, "--model", model, "--out", clip.parent)
    check_refused(result, "clip.mp4: results would replace this input")
    assert clip.read_bytes() == before


def test_detect_keypoints_no_video_usable(annealed, model, tmp_path):
    (tmp_path / "a.mp4").write_text("hello")
    out = tmp_path / "out"
    result = annealed("detect-keypoints", tmp_path / "a.mp4", "--model", model, "--out", out)
    check_refused(result, "none of the 1 photos and videos could be used")
    assert list(out.iterdir()) == []


def test_detect_keypoints_finds_the_astronaut_with_the_model_that_ships(annealed, tmp_path):
    astronaut = load_astronaut()
    Image.fromarray(astronaut.read()).save(tmp_path / "astronaut.png")
    result = annealed("detect-keypoints", tmp_path / "astronaut.png", "--format", "json")
    assert result.exit_code == 0, result.stderr
    best = json.loads(result.stdout)[0]["objects"][0]
    found = {keypoint["keypoint"]: (keypoint["x"], keypoint["y"]) for keypoint in best["keypoints"]}
    for name, (x, y) in zip(KEYPOINT_NAMES, astronaut.points[0], strict=True):
        distance = np.hypot(found[name][0] - x, found[name][1] - y)
        assert distance < 0.15 * astronaut.sizes[0], name
