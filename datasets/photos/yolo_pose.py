"""YOLO-pose: a folder with a YAML file, `images/` and `labels/` with one text file a photo.

A line of a text file is an object: class, centre x, centre y, width, height, then x, y and perhaps
visibility (0: not annotated, 1: hidden, 2: seen) of each keypoint; all lengths are parts of the picture's
width and height. The YAML file states `kpt_shape: [number, 2 or 3]` and, in newer versions, `kpt_names`.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ...features.errors import DataError
from .images import EXTENSIONS, read_image_size
from .keypoint_schemes import names_for
from .photo_rows import BadRowError, PhotoRows, make_photo_set
from .photo_set import Photo, PhotoSet, object_boxes
from .yaml_files import read_yaml

DATA_FILE = "data.yaml"
MAX_KEYPOINTS = 10_000
KEYPOINT_NAME = "keypoint_{}"
_SPLITS = ("train", "val", "test")


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
    settings = read_yaml(settings_file)
    n_keypoints, n_values = _keypoint_shape(settings, settings_file)
    names = _names(settings, n_keypoints)
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


def _keypoint_shape(settings: dict[str, Any], path: Path) -> tuple[int, int]:
    match settings.get("kpt_shape"):
        case [int(n_keypoints), 2 | 3 as n_values] if 1 <= n_keypoints <= MAX_KEYPOINTS:
            return n_keypoints, n_values
        case other:
            raise DataError(f"{path}: kpt_shape is {other!r}, expected [number of keypoints, 2 or 3]")


def _names(settings: dict[str, Any], n_keypoints: int) -> tuple[str, ...]:
    stated = settings.get("kpt_names")
    if isinstance(stated, dict) and stated:
        stated = next(iter(stated.values()))  # by class; all classes share them
    if isinstance(stated, list) and len(stated) == n_keypoints and len(set(map(str, stated))) == n_keypoints:
        return tuple(map(str, stated))
    return names_for(n_keypoints) or tuple(KEYPOINT_NAME.format(k) for k in range(n_keypoints))


def _images(root: Path, settings: dict[str, Any]) -> list[Path]:
    """All photos of the splits that the settings name, below the folder."""
    found: dict[Path, None] = {}
    for split in _SPLITS:
        stated = settings.get(split)
        for text in stated if isinstance(stated, list) else [stated]:
            if isinstance(text, str):
                place = root / text
                found.update(dict.fromkeys(_pictures(place) if place.is_dir() else []))
    if not found:
        found.update(dict.fromkeys(_pictures(root / "images")))
    return [path for path in found if path.is_relative_to(root)]


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
            values = np.array(line.split(), dtype=np.float64)
            if len(values) != 5 + len(names) * n_values or not np.isfinite(values).all():
                raise BadRowError(f"{len(values)} numbers, expected {5 + len(names) * n_values} finite ones")
            _add_object(rows, values, names, n_values, scale)
        except ValueError as error:  # also a BadRowError
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
