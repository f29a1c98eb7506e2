import json

import numpy as np
import pytest

from annealed.datasets.photos.annotation_formats import read_annotations


def test_to_coco_and_back(annealed, photo_folder, tmp_path):
    first = annealed("convert", photo_folder, tmp_path / "all.json", "--to", "coco")
    assert first.exit_code == 0, first.stderr
    assert first.stdout.startswith("5 photos, 5 objects, ")
    (tmp_path / "images").symlink_to(photo_folder / "images")
    second = annealed("convert", tmp_path / "all.json", tmp_path)
    assert second.exit_code == 0, second.stderr
    before, after = read_annotations(photo_folder), read_annotations(tmp_path)
    assert after.keypoint_names == before.keypoint_names
    for one, two in zip(before, after, strict=True):
        assert one.name == two.name
        np.testing.assert_allclose(two.points, one.points)


def test_what_is_there_stays_unless_forced(annealed, photo_folder, tmp_path):
    out = tmp_path / "all.json"
    out.write_text("mine")
    refused = annealed("convert", photo_folder, out, "--to", "coco")
    assert refused.exit_code == 2
    assert "--force replaces it" in refused.stderr
    assert out.read_text() == "mine"
    assert annealed("convert", photo_folder, out, "--to", "coco", "--force").exit_code == 0
    assert json.loads(out.read_text())["annotations"]


@pytest.mark.parametrize("same", ["data", "data/keypoints.csv", "link"])
def test_nothing_is_converted_onto_itself(annealed, photo_folder, tmp_path, same):
    data = photo_folder
    (tmp_path / "link").symlink_to(data)
    source = {"data": data, "data/keypoints.csv": data / "keypoints.csv", "link": tmp_path / "link"}[same]
    before = (data / "keypoints.csv").read_bytes()
    result = annealed("convert", source, data, "--force")
    assert result.exit_code == 2
    assert "would replace what it is made of" in result.stderr
    assert (data / "keypoints.csv").read_bytes() == before
    assert annealed("convert", data, tmp_path / "a.json", "--to", "coco").exit_code == 0
    again = annealed("convert", tmp_path / "a.json", tmp_path / "a.json", "--to", "coco", "--force")
    assert again.exit_code == 2


def test_bad_input(annealed, photo_folder, tmp_path):
    for arguments in (
        (tmp_path / "none", tmp_path / "out"),
        (photo_folder, tmp_path / "out", "--from", "coco"),
    ):
        result = annealed("convert", *arguments)
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1
        assert not (tmp_path / "out").exists()
