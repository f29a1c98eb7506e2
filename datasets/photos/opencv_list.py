"""The lists of `opencv_annotation`: a line per photo, with its name, the number of boxes and the boxes.

A box is x, y, width and height in pixels. There are no keypoints: the only one here is the middle of the
box, and the box tells the size.
"""

import os
from pathlib import Path

import numpy as np

from ...features.errors import DataError
from ..numbers import BadRowError, finite_numbers
from .photo_rows import PhotoRows, make_photo_set
from .photo_set import Photo, PhotoSet, object_boxes

MIDDLE = "center"


def is_opencv_list(head: str) -> bool:
    """Whether the first line of a text is one of such a list."""
    try:
        _parsed(head.splitlines()[0])
    except (IndexError, BadRowError):
        return False
    return True


def read_opencv_list(path: str | os.PathLike) -> PhotoSet:
    """Read a list of `opencv_annotation`.

    Parameters
    ----------
    path : path-like
        The text file; names of photos are relative to its folder.

    Returns
    -------
    PhotoSet
        With one keypoint, `MIDDLE`.
    """
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: not text") from None
    photos: dict[str, PhotoRows] = {}
    problems: list[str] = []
    for place, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            name, boxes = _parsed(line)
        except BadRowError as error:
            problems.append(f"{path.name} line {place}: {error}")
            continue
        rows = photos.setdefault(name, PhotoRows())
        for x, y, width, height in boxes.tolist():
            owner = str(len(rows.points))
            try:
                rows.add(owner, MIDDLE, (x + (width - 1) / 2, y + (height - 1) / 2))
            except BadRowError as error:
                problems.append(f"{path.name} line {place}: {error}")
            else:
                rows.boxes[owner] = x, y, x + width - 1, y + height - 1
    return make_photo_set(path, path.parent, photos, [MIDDLE], problems)


def _parsed(line: str) -> tuple[str, np.ndarray]:
    """A photo's name, which may hold blanks, and its boxes (n, 4): x, y, width, height."""
    words = line.split()
    for i in range(1, len(words)):
        n_boxes, left = divmod(len(words) - i - 1, 4)
        if not left and words[i] == str(n_boxes):
            try:
                boxes = finite_numbers(words[i + 1 :], "a number of a box").reshape(-1, 4)
            except BadRowError:
                continue
            if (boxes[:, 2:] <= 0).any():
                raise BadRowError("a box without width or height")
            return line[: _start_of(line, i)].strip(), boxes
    raise BadRowError("expected a photo, the number of boxes, and x, y, width, height of each")


def _start_of(line: str, word: int) -> int:
    """Where the word of a number begins."""
    place = 0
    for text in line.split()[:word]:
        place = line.index(text, place) + len(text)
    return place


def format_opencv_line(photo: Photo) -> str:
    """Return a photo's line, with whole pixels, as the tool writes them."""
    boxes = object_boxes(photo)
    boxes = boxes[np.isfinite(boxes).all(axis=1)]
    words = [photo.name, str(len(boxes))]
    for x0, y0, x1, y1 in np.rint(boxes).astype(int).tolist():
        words += map(str, (x0, y0, max(1, x1 - x0 + 1), max(1, y1 - y0 + 1)))
    return " ".join(words) + "\n"
