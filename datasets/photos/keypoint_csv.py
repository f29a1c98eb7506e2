"""Keypoint annotation as CSV files beside a folder of photos.

A data set is a folder with

- `keypoints.csv`: `image,keypoint,x,y` and, where wanted, `face` (default 0) and `visible` (default 1);
- `images/` with the photos (or the photos beside the CSV file);
- optional `faces.csv`: `image,face` and `x0,y0,x1,y1` (box), `eye_distance` (size in pixels) or `original`
  (what it was called where it comes from);
- optional `ignore.csv`: `image,x0,y0,x1,y1`, regions with objects that nobody annotated;
- optional `images.csv`: `image` and, where wanted, `width,height`: names photos without any object too.

x and y are pixels of the photo as a viewer shows it (EXIF applied), pixel centres on integers.
"""

import csv
import io
import math
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...features.errors import DataError
from ..numbers import BadRowError, finite_number
from .photo_rows import PhotoRows, make_photo_set
from .photo_set import PhotoSet

KEYPOINTS_FILE = "keypoints.csv"
BOX_COLUMNS = ("x0", "y0", "x1", "y1")


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
    photos: dict[str, PhotoRows] = {}
    problems: list[str] = []
    if (folder / "images.csv").is_file():
        _read_images(folder / "images.csv", photos, problems)
    names = _read_points(keypoints_file, photos, problems)
    if (folder / "faces.csv").is_file():
        _read_faces(folder / "faces.csv", photos, problems)
    if (folder / "ignore.csv").is_file():
        _read_ignore(folder / "ignore.csv", photos, problems)
    return make_photo_set(keypoints_file, folder, photos, names, problems)


def _locate(path: Path) -> tuple[Path, Path]:
    if path.is_dir():
        path = path / KEYPOINTS_FILE
    if not path.is_file():
        raise DataError(f"{path}: no such annotation file (a folder with {KEYPOINTS_FILE} is expected)")
    return path.parent, path


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
    return finite_number(row.get(column, ""), column)


def _box(row: dict[str, str]) -> tuple[float, float, float, float]:
    """x0, y0, x1, y1 of a row."""
    x0, y0, x1, y1 = (_number(row, column) for column in BOX_COLUMNS)
    if x1 < x0 or y1 < y0:
        raise BadRowError(f"box {x0:g},{y0:g},{x1:g},{y1:g} ends before it begins")
    return x0, y0, x1, y1


def _name(row: dict[str, str], column: str, default: str = "") -> str:
    text = row.get(column, "") or default
    if not text:
        raise BadRowError(f"{column} is empty")
    return text


def _read_points(path: Path, photos: dict[str, PhotoRows], problems: list[str]) -> list[str]:
    names: dict[str, None] = {}
    for where, row in _rows(path, ("image", "keypoint", "x", "y")):
        try:
            image, face, keypoint = _name(row, "image"), _name(row, "face", "0"), _name(row, "keypoint")
            point = _number(row, "x"), _number(row, "y")
            visible = _visible(row)
            photos.setdefault(image, PhotoRows()).add(face, keypoint, point, visible=visible)
        except BadRowError as error:
            problems.append(f"{where}: {error}")
            continue
        names.setdefault(keypoint)
    return list(names)


def _visible(row: dict[str, str]) -> bool:
    text = row.get("visible", "") or "1"
    if text.lower() not in ("0", "1", "2", "true", "false"):
        raise BadRowError(f"visible is {text!r}, expected 1 or 0")
    return text.lower() not in ("0", "false")


def _read_faces(path: Path, photos: dict[str, PhotoRows], problems: list[str]) -> None:
    for where, row in _rows(path, ("image", "face")):
        try:
            image, face = _name(row, "image"), _name(row, "face", "0")
            box = _box(row) if row.get("x0") else None
            size = _number(row, "eye_distance") if row.get("eye_distance") else None
            if size is not None and size <= 0:
                raise BadRowError(f"eye_distance is {size:g}, expected a positive number")
        except BadRowError as error:
            problems.append(f"{where}: {error}")
            continue
        rows = photos.setdefault(image, PhotoRows())
        rows.points.setdefault(face, {})
        if box is not None:
            rows.boxes[face] = box
        if size is not None:
            rows.sizes[face] = size
        if row.get("original"):
            rows.originals[face] = row["original"]


def _read_ignore(path: Path, photos: dict[str, PhotoRows], problems: list[str]) -> None:
    for where, row in _rows(path, ("image", *BOX_COLUMNS)):
        try:
            image, box = _name(row, "image"), _box(row)
        except BadRowError as error:
            problems.append(f"{where}: {error}")
            continue
        if image in photos:
            photos[image].ignore.append(box)
        else:
            problems.append(f"{where}: {image} has no other annotation")


def _read_images(path: Path, photos: dict[str, PhotoRows], problems: list[str]) -> None:
    for where, row in _rows(path, ("image",)):
        try:
            rows = photos.setdefault(_name(row, "image"), PhotoRows())
            if row.get("width") and row.get("height"):
                rows.size_stated = int(_number(row, "height")), int(_number(row, "width"))
        except BadRowError as error:
            problems.append(f"{where}: {error}")


def format_keypoints(photos: PhotoSet) -> dict[str, str]:
    """Return the annotation of a set as the texts of the files, by name, that `load_keypoints` reads."""
    images = _format(("image",), ([photo.name] for photo in photos))
    points = _format(
        ("image", "face", "keypoint", "x", "y", "visible"),
        (
            [photo.name, face, keypoint, x, y, int(seen)]
            for photo in photos
            for face, points, visible in zip(photo.object_names, photo.points, photo.visible, strict=True)
            for keypoint, (x, y), seen in zip(photos.keypoint_names, points.tolist(), visible, strict=True)
            if math.isfinite(x) and math.isfinite(y)
        ),
    )
    with_originals = any(photo.originals for photo in photos)
    faces = _format(
        ("image", "face", *BOX_COLUMNS, "eye_distance", *(["original"] if with_originals else [])),
        ([*row, *origin] if with_originals else row for row, origin in _object_rows(photos)),
    )
    regions = ([photo.name, *box] for photo in photos for box in photo.ignore.tolist())
    ignore = _format(("image", *BOX_COLUMNS), regions)
    return {"images.csv": images, KEYPOINTS_FILE: points, "faces.csv": faces, "ignore.csv": ignore}


def _object_rows(photos: PhotoSet) -> Iterator[tuple[list[str], list[str]]]:
    """Cells of each object, and what it was called where it comes from."""
    for photo in photos:
        for i, name in enumerate(photo.object_names):
            numbers = _cells([*photo.boxes[i], photo.sizes[i]])
            yield [photo.name, name, *numbers], [photo.originals[i] if photo.originals else ""]


def _cells(values: list[float]) -> list[str]:
    """Numbers as text that reads back the same; empty where there is none."""
    return [repr(float(value)) if math.isfinite(value) else "" for value in values]


def _format(header: tuple[str, ...], rows: Iterable[list]) -> str:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()
