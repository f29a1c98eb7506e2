import csv
import json
import shutil

import pytest
from PIL import Image


@pytest.fixture
def data(photo_folder, tmp_path):
    return shutil.copytree(photo_folder, tmp_path / "data")


OPTIONS = "--fewest", 0, "--smallest", 0


def test_labels_that_are_right_end_well(annealed, data):
    result = annealed("check-annotations", data, *OPTIONS)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    assert "nothing found" in result.stderr


def spoil(data):
    """Put the first chin outside its picture; return the picture's name."""
    with open(data / "keypoints.csv") as stream:
        rows = list(csv.DictReader(stream))
    row = next(row for row in rows if row["keypoint"] == "chin")
    row["x"] = "400"
    with open(data / "keypoints.csv", "w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return row["image"]


def test_findings_are_a_line_each_and_a_status(annealed, data):
    name = spoil(data)
    result = annealed("check-annotations", data, *OPTIONS)
    assert result.exit_code == 1
    lines = [line for line in result.stdout.splitlines() if line.startswith("outside-picture: ")]
    assert len(lines) == 1
    assert name in lines[0]
    assert "Traceback" not in result.stderr


def test_findings_for_machines(annealed, data):
    name = spoil(data)
    result = annealed("check-annotations", data, "--json", *OPTIONS)
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    (outside,) = [finding for finding in found if finding["kind"] == "outside-picture"]
    assert outside["photo"] == name
    assert outside["keypoints"] == ["chin"]


def test_a_page_with_pictures_of_the_worst(annealed, data, tmp_path):
    name = spoil(data)
    result = annealed("check-annotations", data, "--out", tmp_path / "labels.html", *OPTIONS)
    assert result.exit_code == 1
    page = (tmp_path / "labels.html").read_text()
    assert name in page
    assert "<img" in page
    assert "keypoints outside their picture" in page


def test_labels_that_cannot_be_read(annealed, tmp_path):
    result = annealed("check-annotations", tmp_path / "none")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


def test_control_codes_in_names_are_written_out(annealed, tmp_path):
    Image.new("RGB", (60, 60)).save(tmp_path / "p.png")
    (tmp_path / "keypoints.csv").write_text("image,keypoint,x,y\np.png,e\x1b[31mye,500,5\n")
    result = annealed("check-annotations", tmp_path)
    assert "\x1b" not in result.stdout
    assert "e\\x1b[31mye" in result.stdout
