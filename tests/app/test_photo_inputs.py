from pathlib import Path

import pytest

from annealed.app.photo_inputs import find_photos, overlay_names
from annealed.features.errors import DataError


@pytest.fixture
def folder(tmp_path):
    for name in ("b.JPG", "a.png", "notes.txt", "c[1].png"):
        (tmp_path / name).touch()
    (tmp_path / "inner.png").mkdir()
    return tmp_path


def test_find_photos_of_a_folder_are_its_pictures_by_name(folder):
    assert [p.name for p in find_photos([str(folder)])] == ["a.png", "b.JPG", "c[1].png"]


def test_find_photos_of_a_pattern(folder):
    assert [p.name for p in find_photos([str(folder / "*.png")])] == ["a.png", "c[1].png"]


def test_find_photos_takes_a_file_with_brackets_by_its_name(folder):
    assert find_photos([str(folder / "c[1].png")]) == [folder / "c[1].png"]


def test_find_photos_lists_each_once_in_order(folder):
    names = [p.name for p in find_photos([str(folder / "b.JPG"), str(folder), str(folder / "gone.png")])]
    assert names == ["b.JPG", "a.png", "c[1].png", "gone.png"]


@pytest.mark.parametrize(
    ("name", "message"), [("inner.png", "no picture in this folder"), ("*.gif", "matches no")]
)
def test_find_photos_of_nothing(folder, name, message):
    with pytest.raises(DataError, match=message):
        find_photos([str(folder / name)])


def test_overlay_names_are_all_different():
    photos = [Path("x/a.jpg"), Path("y/a.png"), Path("A.png"), Path("a-2.png"), Path("b.tar.png")]
    assert overlay_names(photos) == ["a.png", "a-2.png", "A-3.png", "a-2-2.png", "b.tar.png"]
