import gc
import weakref
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from annealed.app import photo_inputs
from annealed.app.photo_inputs import (
    check_not_replaced,
    find_inputs,
    is_video,
    n_expected,
    overlay_names,
    pictures_of,
)
from annealed.features.errors import DataError


@pytest.fixture
def folder(tmp_path):
    for name in ("b.JPG", "a.png", "notes.txt", "c[1].png", "clip.MOV"):
        (tmp_path / name).touch()
    (tmp_path / "inner.png").mkdir()
    return tmp_path


@pytest.fixture
def video(tmp_path):
    """Five frames, of brightness 40 times their number."""
    writer = cv2.VideoWriter(str(tmp_path / "five.avi"), cv2.VideoWriter.fourcc(*"MJPG"), 10, (64, 48))
    for i in range(5):
        writer.write(np.full((48, 64, 3), 40 * i, np.uint8))
    writer.release()
    return tmp_path / "five.avi"


def test_find_inputs_of_a_folder_are_its_photos_and_videos_by_name(folder):
    assert [p.name for p in find_inputs([str(folder)])] == ["a.png", "b.JPG", "c[1].png", "clip.MOV"]


def test_find_inputs_of_a_pattern(folder):
    assert [p.name for p in find_inputs([str(folder / "*.png")])] == ["a.png", "c[1].png"]
    assert [p.name for p in find_inputs([str(folder / "*.M*")])] == ["clip.MOV"]


def test_find_inputs_takes_a_file_with_brackets_by_its_name(folder):
    assert find_inputs([str(folder / "c[1].png")]) == [folder / "c[1].png"]


def test_find_inputs_lists_each_once_in_order(folder):
    names = [p.name for p in find_inputs([str(folder / "b.JPG"), str(folder), str(folder / "gone.png")])]
    assert names == ["b.JPG", "a.png", "c[1].png", "clip.MOV", "gone.png"]


@pytest.mark.parametrize(
    ("name", "message"), [("inner.png", "no photo or video in this folder"), ("*.gif", "matches no")]
)
def test_find_inputs_of_nothing(folder, name, message):
    with pytest.raises(DataError, match=message):
        find_inputs([str(folder / name)])


@pytest.mark.parametrize(
    ("name", "expected"), [("a.mp4", True), ("a.WebM", True), ("a.gif", False), ("avi", False)]
)
def test_videos_are_told_by_their_names(name, expected):
    assert is_video(Path(name)) == expected


def test_pictures_of_a_photo_are_one_without_a_number(tmp_path):
    Image.new("RGB", (7, 5), (1, 2, 3)).save(tmp_path / "a.png")
    ((frame, image),) = pictures_of(tmp_path / "a.png", every=3)
    assert frame is None
    assert image.shape == (5, 7, 3)
    assert n_expected(tmp_path / "a.png") == 1


@pytest.mark.parametrize(
    ("every", "numbers"), [(1, [0, 1, 2, 3, 4]), (2, [0, 2, 4]), (3, [0, 3]), (5, [0]), (9, [0])]
)
def test_pictures_of_a_video_are_its_frames_with_their_numbers(video, every, numbers):
    pictures = list(pictures_of(video, every))
    assert [frame for frame, _ in pictures] == numbers
    np.testing.assert_allclose([image.mean() for _, image in pictures], 40 * np.array(numbers), atol=4)
    assert n_expected(video, every) == len(numbers)


def test_pictures_of_a_video_are_not_held(video, monkeypatch):
    """However long the video: a frame is gone once the next one but one is there."""
    frames = []

    def endless(path, *, step):
        while True:
            image = np.zeros((4, 4, 3), np.uint8)
            frames.append(weakref.ref(image))
            yield image
            del image

    monkeypatch.setattr(photo_inputs, "video_frames", endless)
    for frame, _ in pictures_of(video):
        gc.collect()
        assert sum(reference() is not None for reference in frames) <= 2
        if frame == 20:
            break


@pytest.mark.parametrize("content", [None, b"", b"no video"])
def test_pictures_of_what_is_no_video(tmp_path, content):
    path = tmp_path / "a.mp4"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.mp4"):
        list(pictures_of(path))
    assert n_expected(path) == 1


def test_overlay_names_are_all_different():
    photos = [Path("x/a.jpg"), Path("y/a.png"), Path("A.png"), Path("a-2.png"), Path("b.tar.png")]
    assert overlay_names(photos, flat=True) == ["a.jpg", "a-2.png", "A-3.png", "a-2-2.png", "b.tar.png"]
    assert overlay_names(photos) == ["x/a.jpg", "y/a.png", "A.png", "a-2.png", "b.tar.png"]
    assert overlay_names([Path("x/a.gif"), Path("x/b.JPEG")]) == ["a.png", "b.JPEG"]


def test_overlay_names_of_videos_differ_in_their_stems():
    assert overlay_names([Path("a.png"), Path("a.mp4"), Path("b.MOV")]) == ["a.png", "a-2.mp4", "b.mp4"]


def test_overlays_must_not_replace_inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inputs = [Path("a.avi"), Path("b.png")]
    check_not_replaced(inputs, [tmp_path / "out" / "a.avi", tmp_path / "a.png"])
    with pytest.raises(DataError, match=r"b\.png: results would replace"):
        check_not_replaced(inputs, [tmp_path / "out" / "a.avi", tmp_path / "b.png"])
