"""YOLO-pose: a folder with a YAML file, `images/` and `labels/` with one text file a photo.

A line of a text file is an object: class, centre x, centre y, width, height, then x, y and perhaps
visibility (0: not annotated, 1: hidden, 2: seen) of each keypoint; all lengths are parts of the picture's
width and height. The YAML file states `kpt_shape: [number, 2 or 3]` and, in newer versions, `kpt_names`.
"""

import os
from pathlib import Path
from typing import Annotated

import numpy as np
import yaml
from pydantic import Field

from ...features.errors import DataError
from ...features.schemas import Name, Schema, SchemaError, validated
from ..numbers import BadRowError, finite_numbers
from .images import EXTENSIONS, is_there, read_image_size
from .keypoint_schemes import names_for
from .photo_rows import MAX_KEYPOINTS, PhotoRows, make_photo_set
from .photo_set import Photo, PhotoSet, object_boxes
from .yaml_files import read_yaml

DATA_FILE = "data.yaml"
KEYPOINT_NAME = "keypoint_{}"


def find_settings(folder: Path) -> Path | None:
    """The YAML file of a folder that states the keypoints' shape."""
    for path in sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")]):
        try:
            if "kpt_shape" in read_yaml(path):
                return path
        except DataError:
            continue
    return None


def read_yolo_pose(path: str | os.PathLike) -> PhotoSet:
    """Read a YOLO-pose data set, all of its splits together.

    Parameters
    ----------
    path : path-like
        The folder, or its YAML file.

    Returns
    -------
    PhotoSet
        Names of photos are paths below the folder.
    """
    path = Path(path)
    settings_file = find_settings(path) if path.is_dir() else path
    if settings_file is None:
        raise DataError(f"{path}: no YAML file with 'kpt_shape' in this folder")
    settings = _read_settings(settings_file)
    names, n_values = settings.names(), settings.kpt_shape[1]
    root = settings_file.parent
    photos: dict[str, PhotoRows] = {}
    problems: list[str] = []
    for image in _images(root, settings):
        labels = _labels_of(image, root)
        if labels is None:
            continue  # a photo that nobody labelled
        rows = PhotoRows()
        try:
            _add(rows, labels, names, n_values, read_image_size(image), problems)
        except DataError as error:
            problems.append(str(error))
            continue
        photos[image.relative_to(root).as_posix()] = rows
    return make_photo_set(path, root, photos, list(names), problems)


class _Settings(Schema):
    kpt_shape: Annotated[list[int], Field(min_length=2, max_length=2)]
    kpt_names: dict[int | Name, list[Name]] | list[Name] | None = None
    train: list[Name] | Name | None = None
    val: list[Name] | Name | None = None
    test: list[Name] | Name | None = None

    def names(self) -> tuple[str, ...]:
        """The keypoints' names: those that are stated, usual ones of so many, or numbers."""
        n_keypoints = self.kpt_shape[0]
        stated = self.kpt_names or []
        if isinstance(stated, dict):
            stated = next(iter(stated.values()))  # by class; all classes share them
        if len(stated) == n_keypoints and len(set(stated)) == n_keypoints:
            return tuple(stated)
        return names_for(n_keypoints) or tuple(KEYPOINT_NAME.format(k) for k in range(n_keypoints))

    def folders(self) -> list[str]:
        """Of the photos of all splits."""
        splits = (self.train, self.val, self.test)
        return [text for split in splits for text in (split if isinstance(split, list) else [split]) if text]


def _read_settings(path: Path) -> _Settings:
    try:
        settings = validated(_Settings, read_yaml(path))
    except SchemaError as error:
        raise DataError(f"{path}: {error}") from None
    n_keypoints, n_values = settings.kpt_shape
    if not (1 <= n_keypoints <= MAX_KEYPOINTS and n_values in (2, 3)):
        raise DataError(f"{path}: kpt_shape is {settings.kpt_shape}, expected [number of keypoints, 2 or 3]")
    return settings


def _images(root: Path, settings: _Settings) -> list[Path]:
    """All photos of the splits that the settings name, below the folder and nowhere else."""
    found: dict[Path, None] = {}
    inside = root.resolve()
    for text in settings.folders():
        place = root / text
        if is_there(place) and place.is_dir() and place.resolve().is_relative_to(inside):
            found.update(dict.fromkeys(_pictures(root / place.resolve().relative_to(inside))))
    return list(found) or _pictures(root / "images")


def _pictures(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in EXTENSIONS)


def _labels_of(image: Path, root: Path) -> Path | None:
    """The text file of a photo: its last folder `images` is `labels`."""
    parts = list(image.relative_to(root).parts)
    places = [i for i, part in enumerate(parts[:-1]) if part == "images"]
    if places:
        parts[places[-1]] = "labels"
    labels = root.joinpath(*parts).with_suffix(".txt")
    return labels if labels.is_file() else None


def _add(
    rows: PhotoRows,
    labels: Path,
    names: tuple[str, ...],
    n_values: int,
    size: tuple[int, int],
    problems: list[str],
) -> None:
    try:
        lines = labels.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise DataError(f"{labels}: cannot be read as text") from None
    scale = np.array([size[1], size[0]], dtype=np.float64)
    for place, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            values = finite_numbers(line.split(), "a number")
            if len(values) != 5 + len(names) * n_values:
                raise BadRowError(f"{len(values)} numbers, expected {5 + len(names) * n_values}")
            _add_object(rows, values, names, n_values, scale)
        except BadRowError as error:
            problems.append(f"{labels.name} line {place}: {error}")


def _add_object(
    rows: PhotoRows, values: np.ndarray, names: tuple[str, ...], n_values: int, scale: np.ndarray
) -> None:
    owner = str(len(rows.points))
    rows.points[owner] = {}
    middle, half = values[1:3] * scale, values[3:5] * scale / 2
    rows.boxes[owner] = tuple(np.concatenate([middle - half, middle + half]).tolist())
    for name, point in zip(names, values[5:].reshape(-1, n_values), strict=True):
        seen = point[2] if n_values == 3 else (0 if not point[:2].any() else 2)
        if seen > 0:
            x, y = (point[:2] * scale).tolist()
            rows.add(owner, name, (x, y), visible=bool(seen > 1))


def format_yolo_labels(photo: Photo, size: tuple[int, int]) -> str:
    """Return the lines of a photo; an object without box and points has none."""
    scale = np.array([size[1], size[0]], dtype=np.float64)
    lines = []
    for points, visible, box in zip(photo.points, photo.visible, object_boxes(photo), strict=True):
        if not np.isfinite(box).all():
            continue
        low, high = box[:2] / scale, box[2:] / scale
        known = np.isfinite(points).all(axis=1)
        columns = np.column_stack([np.where(known[:, None], points / scale, 0), known * (1 + visible)])
        values = [*((low + high) / 2), *(high - low), *columns.ravel()]
        lines.append(" ".join(["0", *(f"{value:.8g}" for value in values)]))
    return "".join(line + "\n" for line in lines)


def format_yolo_settings(names: tuple[str, ...]) -> str:
    """Return the YAML file of a data set whose photos are in `images/`."""
    settings = {
        "path": ".",
        "train": "images",
        "val": "images",
        "kpt_shape": [len(names), 3],
        "names": {0: "object"},
        "kpt_names": {0: list(names)},
    }
    return str(yaml.safe_dump(settings, sort_keys=False))
