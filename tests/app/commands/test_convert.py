import json
import shutil

import numpy as np
import pytest

from annealed.datasets.photos.annotation_formats import read_annotations
from annealed.datasets.photos.annotation_writers import IN_FOLDER

FORMS_WITH_PHOTOS = "csv", "coco", "cvat", "yolo-pose", "labelme", "label-studio", "deeplabcut"


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


def test_what_is_there_stays_unless_it_may_be_overwritten(annealed, photo_folder, tmp_path):
    out = tmp_path / "all.json"
    out.write_text("mine")
    refused = annealed("convert", photo_folder, out, "--to", "coco")
    assert refused.exit_code == 2
    assert "--overwrite replaces it" in refused.stderr
    assert out.read_text() == "mine"
    assert annealed("convert", photo_folder, out, "--to", "coco", "--overwrite").exit_code == 0
    assert json.loads(out.read_text())["annotations"]
    older = annealed("convert", photo_folder, out, "--to", "coco", "--force")
    assert older.exit_code == 0
    assert "called --overwrite now" in older.stderr


@pytest.mark.parametrize("images", ["copy", "link"])
@pytest.mark.parametrize("form", FORMS_WITH_PHOTOS)
def test_photos_put_beside_what_is_written_make_a_whole(annealed, photo_folder, tmp_path, form, images):
    out = tmp_path / "new" / ("all" if form in IN_FOLDER else f"all.{'xml' if form == 'cvat' else 'json'}")
    out.parent.mkdir()
    result = annealed("convert", photo_folder, out, "--to", form, "--images", images)
    assert result.exit_code == 0, result.stderr
    assert "with 5 photos" in result.stderr
    before, after = read_annotations(photo_folder), read_annotations(out)
    assert len(after) == len(before)
    assert after.n_objects == before.n_objects
    np.testing.assert_array_equal(next(iter(after)).read(), next(iter(before)).read())
    pictures = list(out.parent.rglob("*.png"))
    assert {path.is_symlink() for path in pictures} == {images == "link"}
    again = annealed("convert", photo_folder, out, "--to", form, "--images", images, "--overwrite")
    assert again.exit_code == 0, again.stderr


def test_sizes_and_origins_of_objects_survive(annealed, photo_folder, tmp_path):
    data = shutil.copytree(photo_folder, tmp_path / "data")
    names = sorted(path.name for path in (data / "images").iterdir())
    rows = [f"{name},0,1,2,30,40,12.25,scan-{i}.pts" for i, name in enumerate(names)]
    (data / "faces.csv").write_text("\n".join(["image,face,x0,y0,x1,y1,eye_distance,original", *rows]))
    assert annealed("convert", data, data / "all.json", "--to", "coco").exit_code == 0
    back = tmp_path / "back"
    assert annealed("convert", data / "all.json", back, "--images", "link").exit_code == 0
    for photo, other in zip(read_annotations(data), read_annotations(back), strict=True):
        assert other.sizes.tolist() == photo.sizes.tolist() == [12.25]
        assert other.originals == photo.originals == (f"scan-{names.index(photo.name)}.pts",)


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
