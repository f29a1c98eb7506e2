import csv

import numpy as np
import pytest
from PIL import Image

from annealed.datasets.photos.photo_set import Photo
from annealed.models.keypoints.objects.model import Objects

POINTS = {"nose": (20.0, 10.0), "tail": (40.0, 30.0)}


@pytest.fixture
def data(tmp_path):
    """Six frames with two keypoints, the tail of one of them not annotated."""
    folder = tmp_path / "set"
    folder.mkdir()
    with open(folder / "keypoints.csv", "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["image", "keypoint", "x", "y"])
        for i in range(6):
            Image.new("RGB", (80, 60)).save(folder / f"{i}.png")
            for name, point in POINTS.items():
                if (i, name) != (0, "tail"):
                    writer.writerow([f"{i}.png", name, *point])
    return tmp_path


class OneObject:
    """Finds the object 3 px to the right of where it is in the frame as it is; otherwise nothing."""

    def save(self, path):
        path.touch()

    def detect_objects(self, image, threshold):
        n = int(image.shape == (60, 80, 3))
        points = np.array([list(POINTS.values())] * n).reshape(n, 2, 2) + np.array([3.0, 0.0])
        empty = np.zeros(n)
        scores = np.tile([2.0, 1.0], (n, 1))
        shapes = np.zeros((n, 4)), np.zeros((n, 3)), empty, empty, points
        return Objects(tuple(POINTS), *shapes, np.ones((n, 2), bool), scores, empty, np.full((n, 2), 4.0))


def test_errors_are_measured_once_and_summarised(data, monkeypatch, capsys):
    import reproduce_animals as script

    trained = []
    monkeypatch.setattr(
        script, "train", lambda photos, *_: (trained.append(len(photos)) or OneObject(), 1.0, 9.0)
    )
    arguments = [
        "--data",
        str(data),
        "--sets",
        "set",
        "--folds",
        "3",
        "--turns",
        "0,90",
        "--out",
        str(data / "out"),
    ]
    script.main(arguments)
    assert trained == [4, 4, 4]
    text = capsys.readouterr().out
    assert "| turned by 0 | 6 | 3.00 | 3.00 | 1.000 | 1.00 |" in text
    assert "| turned by 90 | 6 | inf | inf | 0.000 |" in text
    with open(data / "out" / "animals-quick.csv") as stream:
        assert len(list(csv.DictReader(stream))) == 2 * 12
    script.main(arguments)
    assert trained == [4, 4, 4]


def test_folds_are_a_partition():
    from reproduce_animals import folds_of

    folds = folds_of(86, 5)
    assert sorted(np.concatenate(folds).tolist()) == list(range(86))


def test_a_photo_is_turned_with_its_annotation():
    from reproduce_animals import turned_photo

    pixels = np.zeros((60, 80, 3), np.uint8)
    pixels[10, 20] = 255
    photo = Photo(
        "a", pixels, ("0",), np.array([[[20.0, 10.0]]]), np.ones((1, 1), bool), np.array([9.0]),
        np.array([[10.0, 5, 30, 15]]),
    )  # fmt: skip
    turned = turned_photo(photo, 90.0)
    x, y = np.rint(turned.points[0, 0]).astype(int)
    assert turned.read().shape == (80, 60, 3)
    assert turned.read()[y, x, 0] > 200
    np.testing.assert_allclose(turned.boxes, [[44, 10, 54, 30]], atol=1e-9)


def test_presence_and_coverage():
    from reproduce_animals import covered, presence

    rows = [
        {"error": "1.0", "score": "2.0", "expected": "2.0"},
        {"error": "3.0", "score": "1.0", "expected": "2.0"},
        {"error": "", "score": "-1.0", "expected": "5.0"},
    ]
    assert presence(rows) == "1.00"
    assert covered(rows) == "0.50"
    assert presence(rows[:2]) == ""
