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
from ..mat_files import load_mat
from .keypoint_schemes import AFLW_21
from .photo_rows import BadRowError, PhotoRows, make_photo_set, read_files
from .photo_set import PhotoSet

_FACES = """
    SELECT Objects.face_id, FaceImages.filepath, FaceImages.width, FaceImages.height,
           FaceRect.x, FaceRect.y, FaceRect.w, FaceRect.h
    FROM Objects
    JOIN FaceImages ON FaceImages.file_id = Objects.file_id
    LEFT JOIN FaceRect ON FaceRect.face_id = Objects.face_id
    ORDER BY FaceImages.filepath, Objects.face_id
"""
_POINTS = "SELECT face_id, feature_id, x, y FROM FeatureCoords ORDER BY face_id, feature_id"


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
        if width and height:
            rows.size_stated = int(height), int(width)
        if None not in box:
            x, y, w, h = (float(value) for value in box)
            rows.boxes[face] = x, y, x + w, y + h
    for face_id, feature_id, x, y in points:
        try:
            if face_id not in owner:
                raise BadRowError("a point of a face that is not in the table Objects")
            if not 1 <= feature_id <= len(AFLW_21):
                raise BadRowError(f"feature_id is {feature_id}, expected 1 to {len(AFLW_21)}")
            name, face = owner[face_id]
            photos[name].add(face, AFLW_21[feature_id - 1], (float(x), float(y)))
        except (BadRowError, TypeError, ValueError) as error:
            problems.append(f"{path.name} face {face_id}: {error}")
    return make_photo_set(path, path.parent, photos, list(AFLW_21), problems)


def _query(path: Path) -> tuple[list[tuple], list[tuple]]:
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            return database.execute(_FACES).fetchall(), database.execute(_POINTS).fetchall()
    except sqlite3.Error as error:
        raise DataError(f"{path}: not the database of AFLW ({error})") from None


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
        points = np.asarray(load_mat(file).get("pt2d"))
    except DataError as error:
        raise BadRowError(str(error)) from None
    if points.dtype.kind not in "iuf" or points.shape != (2, len(AFLW_21)):
        raise BadRowError(f"pt2d has shape {points.shape}, expected (2, {len(AFLW_21)})")
    return points.T.astype(np.float64)
