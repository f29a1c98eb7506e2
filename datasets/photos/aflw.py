"""AFLW: the database `aflw.sqlite`, and folders of `.mat` files with the 21 points (AFLW2000-3D).

M. Koestinger, P. Wohlhart, P. M. Roth, H. Bischof. Annotated Facial Landmarks in the Wild. ICCV
Workshops 2011. Coordinates are taken as they are published.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np

from ...features.errors import DataError
from ..limits import WORK, check_memory, work_budget
from ..mat_files import load_mat
from ..numbers import BadRowError
from .keypoint_schemes import AFLW_21
from .photo_rows import PhotoRows, make_photo_set, read_files
from .photo_set import PhotoSet
from .pixel_schemas import MAX_POSITION_PX

_FACES = """
    SELECT Objects.face_id, FaceImages.filepath, FaceImages.width, FaceImages.height,
           FaceRect.x, FaceRect.y, FaceRect.w, FaceRect.h
    FROM Objects
    JOIN FaceImages ON FaceImages.file_id = Objects.file_id
    LEFT JOIN FaceRect ON FaceRect.face_id = Objects.face_id
"""
_TABLES = "Objects", "FaceImages", "FaceRect", "FeatureCoords"
_MAX_VALUE_BYTES = 10_000
_STEPS, _FETCHED = 10_000, 10_000  # between looks at the budget
_ROW_BYTES = 500
_POINTS = "SELECT face_id, feature_id, x, y FROM FeatureCoords"


def read_aflw(path: str | os.PathLike) -> PhotoSet:
    """Read AFLW's database.

    Parameters
    ----------
    path : path-like
        `aflw.sqlite`. Photos are looked for, by the database's file paths, in its folder and in
        `images/` there.

    Returns
    -------
    PhotoSet
        With the 21 points, among them the paper's nine.
    """
    path = Path(path)
    faces, points = _query(path)
    photos: dict[str, PhotoRows] = {}
    problems: list[str] = []
    owner: dict[int, tuple[str, str]] = {}
    for face_id, name, width, height, *box in faces:
        if face_id in owner:  # a second rectangle of the same face
            continue
        rows = photos.setdefault(str(name), PhotoRows())
        face = str(len(rows.points))
        owner[face_id] = str(name), face
        rows.points[face] = {}
        try:
            if width and height:
                rows.size_stated = _whole(height), _whole(width)
            if None not in box:
                x, y, w, h = map(_finite, box)
                rows.boxes[face] = x, y, x + w, y + h
        except BadRowError as error:
            problems.append(f"{path.name} face {face_id}: {error}")
    for face_id, feature_id, x, y in points:
        try:
            if face_id not in owner:
                raise BadRowError("a point of a face that is not in the table Objects")
            if not (isinstance(feature_id, int) and 1 <= feature_id <= len(AFLW_21)):
                raise BadRowError(f"feature_id is {feature_id!r}, expected 1 to {len(AFLW_21)}")
            name, face = owner[face_id]
            photos[name].add(face, AFLW_21[feature_id - 1], (_finite(x), _finite(y)))
        except BadRowError as error:
            problems.append(f"{path.name} face {face_id}: {error}")
    return make_photo_set(path, path.parent, photos, list(AFLW_21), problems)


def _finite(value: object) -> float:
    """A number of the database, in any of the types that SQLite may give it."""
    if not isinstance(value, int | float) or not abs(value) <= MAX_POSITION_PX:
        raise BadRowError(f"{str(value)[:40]!r} where a number of pixels is expected")
    return float(value)


def _whole(value: object) -> int:
    number = _finite(value)
    if number < 1:
        raise BadRowError(f"{number:g} where a number of pixels is expected")
    return int(number)


def _query(path: Path) -> tuple[list[tuple], list[tuple]]:
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            _restrict(path, database)
            faces, points = _rows(path, database, _FACES), _rows(path, database, _POINTS)
    except sqlite3.OperationalError as error:
        if "interrupted" in str(error):
            raise DataError(
                f"{path}: its tables take more than {work_budget()} steps to read; {WORK}=2G, for example, "
                "accepts more"
            ) from None
        raise DataError(f"{path}: not the database of AFLW ({error})") from None
    except (sqlite3.Error, ValueError, OverflowError) as error:
        raise DataError(f"{path}: not the database of AFLW ({error})") from None
    faces = [row for row in faces if isinstance(row[0], int)]
    return sorted(faces, key=lambda row: (str(row[1]), row[0])), sorted(points, key=lambda row: str(row[:2]))


def _restrict(path: Path, database: sqlite3.Connection) -> None:
    """Refuse views, which could compute for ever, and let the query take no more than its budget of work."""
    database.text_factory = lambda text: text.decode("utf-8", "replace")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
    database.execute("PRAGMA trusted_schema = OFF")
    kinds = dict(database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall())
    if not all(str(kinds.get(name, "")).upper().startswith("CREATE TABLE") for name in _TABLES):
        raise DataError(f"{path}: not the database of AFLW; it needs the tables {', '.join(_TABLES)}")
    left = iter(range(max(1, work_budget() // _STEPS)))
    database.set_progress_handler(lambda: next(left, None) is None, _STEPS)


def _rows(path: Path, database: sqlite3.Connection, query: str) -> list[tuple]:
    rows: list[tuple] = []
    answers = database.execute(query)
    while part := answers.fetchmany(_FETCHED):
        rows += part
        n_bytes = _ROW_BYTES * len(rows) + sum(
            len(v) for row in part for v in row if isinstance(v, str | bytes)
        )
        check_memory(path, n_bytes, f"{len(rows)} rows and more")
    return rows


def read_aflw_mat(path: str | os.PathLike) -> PhotoSet:
    """Read a folder of `.mat` files with `pt2d`, the 21 points, each beside a photo of its name.

    Points with a negative coordinate are not annotated.

    Parameters
    ----------
    path : path-like
        The folder, which also holds the photos (or has them in `images/`).

    Returns
    -------
    PhotoSet
    """
    return read_files(Path(path), ".mat", _add_mat, list(AFLW_21))


def _add_mat(photos: dict[str, PhotoRows], file: Path) -> None:
    points = _mat_points(file)
    rows = photos.setdefault(f"{file.stem}.jpg", PhotoRows())
    rows.points["0"] = {}
    for keypoint, (x, y) in zip(AFLW_21, points.tolist(), strict=True):
        if x >= 0 and y >= 0:
            rows.add("0", keypoint, (x, y))


def _mat_points(file: Path) -> np.ndarray:
    try:
        points = load_mat(file).get("pt2d")
    except DataError as error:
        raise BadRowError(str(error)) from None
    if not isinstance(points, np.ndarray):
        raise BadRowError("no array pt2d")
    if points.dtype.kind not in "iuf" or points.shape != (2, len(AFLW_21)):
        raise BadRowError(f"pt2d has shape {points.shape}, expected (2, {len(AFLW_21)})")
    return points.T.astype(np.float64)
