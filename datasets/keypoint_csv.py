"""Keypoint annotation as CSV files beside a folder of photos.

A data set is a folder with

- `keypoints.csv`: `image,keypoint,x,y` and, where wanted, `face` (default 0) and `visible` (default 1);
- `images/` with the photos (or the photos beside the CSV file);
- optional `faces.csv`: `image,face` and `x0,y0,x1,y1` (box) and/or `eye_distance` (size in pixels);
- optional `ignore.csv`: `image,x0,y0,x1,y1`, regions with objects that nobody annotated;
- optional `images.csv`: `image` and, where wanted, `width,height`: names photos without any object too.

x and y are pixels of the photo as a viewer shows it (EXIF applied), pixel centres on integers.
"""

import csv
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..features.errors import DataError
from .images import read_image_size
from .photos import Photo, PhotoSet

KEYPOINTS_FILE = "keypoints.csv"
BOX_COLUMNS = ("x0", "y0", "x1", "y1")


@dataclass
class _PhotoRows:
    """What the CSV files say about one photo, in (row, col)."""

    points: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)
    visible: dict[tuple[str, str], bool] = field(default_factory=dict)
    boxes: dict[str, tuple[float, ...]] = field(default_factory=dict)
    sizes: dict[str, float] = field(default_factory=dict)
    ignore: list[tuple[float, ...]] = field(default_factory=list)
    size_stated: tuple[int, int] | None = None


class _BadRowError(ValueError):
    """A row that is left out and reported."""


def load_keypoints(path: str | os.PathLike) -> PhotoSet:
    """Read a data set of annotated photos in the CSV form.

    Rows and photos that cannot be used are left out and listed in `problems`; the rest is read.

    Parameters
    ----------
    path : path-like
        The folder, or its `keypoints.csv`.

    Returns
    -------
    PhotoSet
        Photos in the order of `images.csv` (or of their first row), keypoints in the order of
        their first row. Pixels are read only when asked for.

    Raises
    ------
    DataError
        If the folder or a column is missing, or nothing usable is left.
    """
    folder, keypoints_file = _locate(Path(path))
    photos: dict[str, _PhotoRows] = {}
    problems: list[str] = []
    if (folder / "images.csv").is_file():
        _read_images(folder / "images.csv", photos, problems)
    names = _read_points(keypoints_file, photos, problems)
    if (folder / "faces.csv").is_file():
        _read_faces(folder / "faces.csv", photos, problems)
    if (folder / "ignore.csv").is_file():
        _read_ignore(folder / "ignore.csv", photos, problems)
    usable = []
    for name, rows in photos.items():
        try:
            usable.append(_make_photo(name, _photo_path(folder, name), rows, names, problems))
        except DataError as error:
            problems.append(str(error))
    if not usable or not names:
        first = f"; first problem: {problems[0]}" if problems else ""
        raise DataError(f"{keypoints_file}: no usable photo with a keypoint{first}")
    return PhotoSet(tuple(names), tuple(usable), tuple(problems))


def _locate(path: Path) -> tuple[Path, Path]:
    if path.is_dir():
        path = path / KEYPOINTS_FILE
    if not path.is_file():
        raise DataError(f"{path}: no such annotation file (a folder with {KEYPOINTS_FILE} is expected)")
    return path.parent, path


def _photo_path(folder: Path, name: str) -> Path:
    inside = folder / "images" / name
    return inside if inside.exists() or not (folder / name).exists() else folder / name


def _rows(path: Path, required: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (where, row) for each row of a CSV file after checking its columns."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            found = reader.fieldnames or []
            missing = [column for column in required if column not in found]
            if missing:
                raise DataError(
                    f"{path}: column {', '.join(missing)} is missing (found {', '.join(found) or 'nothing'})"
                )
            for row in reader:
                cells = {key: (value or "").strip() for key, value in row.items() if isinstance(key, str)}
                yield f"{path.name} line {reader.line_num}", cells
    except UnicodeDecodeError:
        raise DataError(f"{path}: not UTF-8 text") from None
    except csv.Error as error:
        raise DataError(f"{path}: not a CSV file ({error})") from None


def _number(row: dict[str, str], column: str) -> float:
    text = row.get(column, "")
    try:
        value = float(text)
    except ValueError:
        raise _BadRowError(f"{column} is {text!r}, expected a number") from None
    if not math.isfinite(value):
        raise _BadRowError(f"{column} is {text!r}, expected a finite number")
    return value


def _box(row: dict[str, str]) -> tuple[float, float, float, float]:
    """row0, col0, row1, col1 of a row's x0, y0, x1, y1."""
    x0, y0, x1, y1 = (_number(row, column) for column in BOX_COLUMNS)
    if x1 < x0 or y1 < y0:
        raise _BadRowError(f"box {x0:g},{y0:g},{x1:g},{y1:g} ends before it begins")
    return y0, x0, y1, x1


def _name(row: dict[str, str], column: str, default: str = "") -> str:
    text = row.get(column, "") or default
    if not text:
        raise _BadRowError(f"{column} is empty")
    return text


def _read_points(path: Path, photos: dict[str, _PhotoRows], problems: list[str]) -> list[str]:
    names: dict[str, None] = {}
    for where, row in _rows(path, ("image", "keypoint", "x", "y")):
        try:
            image, face, keypoint = _name(row, "image"), _name(row, "face", "0"), _name(row, "keypoint")
            point = _number(row, "y"), _number(row, "x")
            visible = _visible(row)
            points = photos.setdefault(image, _PhotoRows()).points.setdefault(face, {})
            if keypoint in points:
                raise _BadRowError(f"{keypoint} of face {face} in {image} is there twice; the first counts")
        except _BadRowError as error:
            problems.append(f"{where}: {error}")
            continue
        names.setdefault(keypoint)
        points[keypoint] = point
        photos[image].visible[face, keypoint] = visible
    return list(names)


def _visible(row: dict[str, str]) -> bool:
    text = row.get("visible", "") or "1"
    if text.lower() not in ("0", "1", "2", "true", "false"):
        raise _BadRowError(f"visible is {text!r}, expected 1 or 0")
    return text.lower() not in ("0", "false")


def _read_faces(path: Path, photos: dict[str, _PhotoRows], problems: list[str]) -> None:
    for where, row in _rows(path, ("image", "face")):
        try:
            image, face = _name(row, "image"), _name(row, "face", "0")
            box = _box(row) if row.get("x0") else None
            size = _number(row, "eye_distance") if row.get("eye_distance") else None
            if size is not None and size <= 0:
                raise _BadRowError(f"eye_distance is {size:g}, expected a positive number")
        except _BadRowError as error:
            problems.append(f"{where}: {error}")
            continue
        rows = photos.setdefault(image, _PhotoRows())
        rows.points.setdefault(face, {})
        if box is not None:
            rows.boxes[face] = box
        if size is not None:
            rows.sizes[face] = size


def _read_ignore(path: Path, photos: dict[str, _PhotoRows], problems: list[str]) -> None:
    for where, row in _rows(path, ("image", *BOX_COLUMNS)):
        try:
            image, box = _name(row, "image"), _box(row)
        except _BadRowError as error:
            problems.append(f"{where}: {error}")
            continue
        if image in photos:
            photos[image].ignore.append(box)
        else:
            problems.append(f"{where}: {image} has no other annotation")


def _read_images(path: Path, photos: dict[str, _PhotoRows], problems: list[str]) -> None:
    for where, row in _rows(path, ("image",)):
        try:
            rows = photos.setdefault(_name(row, "image"), _PhotoRows())
            if row.get("width") and row.get("height"):
                rows.size_stated = int(_number(row, "height")), int(_number(row, "width"))
        except _BadRowError as error:
            problems.append(f"{where}: {error}")


def _make_photo(name: str, path: Path, rows: _PhotoRows, names: list[str], problems: list[str]) -> Photo:
    height, width = read_image_size(path)
    if rows.size_stated not in (None, (height, width)):
        stated_height, stated_width = rows.size_stated  # type: ignore[misc]
        raise DataError(
            f"{path}: {width} x {height} pixels, but images.csv says {stated_width} x {stated_height}"
        )
    objects = list(rows.points)
    points = np.full((len(objects), len(names), 2), np.nan)
    visible = np.zeros((len(objects), len(names)), dtype=bool)
    for i, face in enumerate(objects):
        for keypoint, (r, c) in rows.points[face].items():
            j = names.index(keypoint)
            points[i, j] = r, c
            inside = -0.5 <= r < height - 0.5 and -0.5 <= c < width - 0.5
            visible[i, j] = rows.visible[face, keypoint] and inside
            if rows.visible[face, keypoint] and not inside:
                problems.append(
                    f"{name}: {keypoint} of face {face} at x={c:g}, y={r:g} lies outside the photo "
                    f"({width} x {height}); taken as hidden"
                )
    nowhere = (math.nan,) * 4
    return Photo(
        name=name,
        source=path,
        object_names=tuple(objects),
        points=points,
        visible=visible,
        sizes=np.array([rows.sizes.get(face, math.nan) for face in objects], dtype=np.float64),
        boxes=np.array([rows.boxes.get(face, nowhere) for face in objects]).reshape(-1, 4),
        ignore=np.array(rows.ignore, dtype=np.float64).reshape(-1, 4),
    )
