import base64
import csv
import re

import numpy as np
import pytest
from PIL import Image

from annealed.datasets.photos.keypoint_csv import load_keypoints
from annealed.datasets.photos.photo_set import with_sizes
from annealed.models import FSARegressor
from annealed.models.estimators.persistence import save
from annealed.models.keypoints import Criteria, keypoint_targets, observed, precision_recall
from annealed.models.model_files import load_model


@pytest.fixture
def model(trained):
    return trained[1]


def read_table(text):
    header, _, *rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines()]
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_prints_what_the_library_measures(annealed, model, photo_folder):
    result = annealed(
        "evaluate-detector", photo_folder, "--model", model, "--hit", "0.08", "--lowest", "-0.3"
    )
    assert result.exit_code == 0, result.stderr
    photos = with_sizes(load_keypoints(photo_folder))
    detector = load_model(model)
    rows = read_table(result.stdout)
    assert [row["keypoint"] for row in rows] == ["left_eye_center", "chin"]
    for row, classifier in zip(rows, detector.classifiers, strict=True):
        column = photos.keypoint_index(row["keypoint"])
        judged = [
            observed(
                detector.detect(photo.read(), threshold=-0.3),
                row["keypoint"],
                keypoint_targets(photo, column),
            )
            for photo in photos
        ]
        curve = precision_recall(judged, Criteria(0.08, 0.1))
        recall, precision, false_per_photo = curve.at(classifier.threshold)
        assert row["visible"] == str(curve.n_keypoints)
        assert float(row["average precision"]) == pytest.approx(curve.average_precision, abs=6e-4)
        assert float(row["recall"]) == pytest.approx(recall, abs=6e-4)
        assert float(row["precision"]) == pytest.approx(precision, abs=6e-4)
        assert float(row["false a photo"]) == pytest.approx(false_per_photo, abs=6e-4)
        assert float(row["the same, wider"]) >= float(row["recall of any score"])


def test_writes_curves(annealed, model, photo_folder, tmp_path):
    result = annealed("evaluate-detector", photo_folder, "--model", model, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    with open(tmp_path / "out" / "curves.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["keypoint"] for row in rows} == {"left_eye_center", "chin"}
    for name in ("left_eye_center", "chin"):
        thresholds = [float(row["threshold"]) for row in rows if row["keypoint"] == name]
        recalls = [float(row["recall"]) for row in rows if row["keypoint"] == name]
        assert np.all(np.diff(thresholds) <= 0)
        assert np.all(np.diff(recalls) >= 0)
    with Image.open(tmp_path / "out" / "curves.png") as picture:
        assert picture.width > 100
    with open(tmp_path / "out" / "summary.csv", newline="") as stream:
        assert list(csv.DictReader(stream)) == read_table(result.stdout)


def test_writes_a_report_with_the_summary_and_the_worst_errors(annealed, model, photo_folder, tmp_path):
    result = annealed("evaluate-detector", photo_folder, "--model", model, "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "single detections in 5 photos" in text
    for row in read_table(result.stdout):
        assert "".join(f"<td>{cell}</td>" for cell in row.values()) in text
        n_missed = round(int(row["visible"]) * (1 - float(row["recall"])))
        n_false = round(5 * float(row["false a photo"]))
        assert f"{row['keypoint']}: worst misses, {min(n_missed, 12)} of {n_missed}<" in text
        assert f"{row['keypoint']}: worst false alarms, {min(n_false, 12)} of {n_false}<" in text
    figure = base64.b64encode((tmp_path / "curves.png").read_bytes()).decode()
    assert figure in text


def test_a_report_numbers_the_photos_that_could_be_read(annealed, model, photo_folder, tmp_path):
    """At a threshold that nothing reaches all five objects are missed, or four without the first photo."""
    first = sorted(photo.name for photo in (photo_folder / "images").iterdir())[0]
    folder = spoil(photo_folder, tmp_path / "d", first)
    result = annealed(
        "evaluate-detector", folder, "--model", model, "--lowest", "99", "--out", tmp_path / "e"
    )
    assert result.exit_code == 0, result.stderr
    text = (tmp_path / "e" / "report.html").read_text(encoding="utf-8")
    assert "chin: worst misses, 4 of 4" in text
    captions = re.findall(r"<figcaption>(.*?): nothing within", text)
    others = {photo.name for photo in (photo_folder / "images").iterdir()} - {first}
    assert set(captions) == others


def spoil(photo_folder, folder, name):
    (folder / "images").mkdir(parents=True)
    (folder / "keypoints.csv").write_bytes((photo_folder / "keypoints.csv").read_bytes())
    for photo in (photo_folder / "images").iterdir():
        content = b"not a photo" if name in ("all", photo.name) else photo.read_bytes()
        (folder / "images" / photo.name).write_bytes(content)
    return folder


def test_a_photo_that_cannot_be_read_is_reported_and_skipped(annealed, model, photo_folder, tmp_path):
    name = sorted(photo.name for photo in (photo_folder / "images").iterdir())[0]
    result = annealed("evaluate-detector", spoil(photo_folder, tmp_path / "d", name), "--model", model)
    assert result.exit_code == 0, result.stderr
    assert "4 photos, 1 problems" in result.stderr


def check_refused(result, message):
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert message in result.stderr


def test_bad_input(annealed, model, photo_folder, tmp_path):
    def run(data=photo_folder, model=model, *options):
        return annealed("evaluate-detector", data, "--model", model, *options)

    check_refused(run(tmp_path / "none"), "none")
    check_refused(run(photo_folder, tmp_path / "none.safetensors"), "none.safetensors")
    check_refused(run(photo_folder, model, "--hit", "0.2"), "criteria must be 0 < hit <= miss")
    check_refused(
        run(photo_folder, model, "--scale-by", "a,b,c"),
        "accepted are auto, size, box, shape, or two keypoints",
    )
    other = tmp_path / "estimator.safetensors"
    X = np.random.default_rng(0).standard_normal((30, 4))
    save(FSARegressor(k=2, n_iter=20).fit(X, X[:, 1]), other)
    check_refused(run(photo_folder, other), "not a keypoint detector")
    renamed = tmp_path / "renamed"
    (renamed / "images").mkdir(parents=True)
    for photo in (photo_folder / "images").iterdir():
        (renamed / "images" / photo.name).write_bytes(photo.read_bytes())
    text = (photo_folder / "keypoints.csv").read_text()
    (renamed / "keypoints.csv").write_text(text.replace("left_eye_center", "wing").replace("chin", "tail"))
    check_refused(run(renamed), "the model finds left_eye_center, chin; annotated are")


def test_without_a_photo_that_can_be_read(annealed, model, photo_folder, tmp_path):
    result = annealed("evaluate-detector", spoil(photo_folder, tmp_path / "d", "all"), "--model", model)
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr


def test_judges_the_keypoints_of_faces_unless_told_otherwise(annealed, object_model, photo_folder):
    result = annealed("evaluate-detector", photo_folder, "--model", object_model)
    assert result.exit_code == 0, result.stderr
    assert "keypoints of objects in 5 photos" in result.stderr
    photos, detector = with_sizes(load_keypoints(photo_folder)), load_model(object_model)
    for row in read_table(result.stdout):
        column = photos.keypoint_index(row["keypoint"])
        judged = [
            observed(
                detector.detect_objects(photo.read(), threshold=-6.0).detections,
                row["keypoint"],
                keypoint_targets(photo, column),
            )
            for photo in photos
        ]
        curve = precision_recall(judged)
        assert float(row["average precision"]) == pytest.approx(curve.average_precision, abs=6e-4)
        assert float(row["recall"]) == pytest.approx(curve.at(0.0)[0], abs=6e-4)
    raw = annealed("evaluate-detector", photo_folder, "--model", object_model, "--raw")
    assert "single detections in 5 photos" in raw.stderr
    assert raw.stdout != result.stdout


def test_a_model_of_two_keypoints_is_judged_by_single_detections(annealed, model, photo_folder):
    result = annealed("evaluate-detector", photo_folder, "--model", model)
    assert "single detections in 5 photos" in result.stderr


def test_whole_objects_are_judged(annealed, object_model, photo_folder):
    result = annealed("evaluate-detector", photo_folder, "--model", object_model, "--whole")
    assert result.exit_code == 0, result.stderr
    _, table, line = result.stdout.strip().split("\n\n")
    rows = {row["keypoint"]: row for row in read_table(table)}
    photos = with_sizes(load_keypoints(photo_folder))
    detector = load_model(object_model)
    assert set(rows) == {*detector.keypoint_names, "all"}
    errors = []
    for photo in photos:
        best = detector.detect_objects(photo.read(), threshold=-6.0)[:1]
        columns = [photos.keypoint_index(name) for name in detector.keypoint_names]
        if len(best):
            errors.append(np.linalg.norm(best.points[0] - photo.points[0, columns], axis=1))
    assert float(rows["all"]["mean px"]) == pytest.approx(np.mean(errors), abs=0.006)
    assert float(rows["chin"]["median px"]) == pytest.approx(
        np.median([e[list(detector.keypoint_names).index("chin")] for e in errors]), abs=0.006
    )
    assert float(rows["all"]["PCK 0.2"]) >= float(rows["all"]["PCK 0.05"])
    assert re.fullmatch(r"OKS: AP [01]\.\d+, AP at .5 [01]\.\d+, at .75 .*, of 5 objects", line)


def test_sigmas_are_fitted_to_a_second_labelling(annealed, object_model, photo_folder, tmp_path):
    again = tmp_path / "again"
    again.mkdir()
    (again / "images").symlink_to(photo_folder / "images")
    with open(photo_folder / "keypoints.csv") as stream:
        rows = list(csv.DictReader(stream))
    for i, row in enumerate(rows):
        row["x"] = float(row["x"]) + (2 if i % 2 else -2)
    with open(again / "keypoints.csv", "w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    result = annealed("evaluate-detector", photo_folder, "--model", object_model, "--sigmas", again)
    assert result.exit_code == 0, result.stderr
    table = read_table(result.stdout.strip().split("\n\n")[1])
    fitted = [float(row["sigma"]) for row in table if row["keypoint"] != "all"]
    sizes = np.concatenate([
        np.prod(photo.points.max(axis=1) - photo.points.min(axis=1), axis=1)
        for photo in load_keypoints(photo_folder)
    ])  # fmt: skip
    np.testing.assert_allclose(fitted, np.sqrt(np.mean(4 / sizes)), atol=1e-4)


@pytest.mark.parametrize("sigmas", ["wide", "0.1,0.2", "-1"])
def test_bad_sigmas_are_refused(annealed, object_model, photo_folder, sigmas):
    result = annealed("evaluate-detector", photo_folder, "--model", object_model, f"--sigmas={sigmas}")
    assert result.exit_code == 2
    assert "--sigmas is" in result.stderr


def test_single_keypoints_are_no_whole_objects(annealed, model, photo_folder):
    result = annealed("evaluate-detector", photo_folder, "--model", model, "--whole")
    assert result.exit_code == 2
    assert "--whole takes objects" in result.stderr
