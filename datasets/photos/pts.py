"""300-W and iBUG: a folder of photos with one `.pts` file a face, 68 points each.

A `.pts` file has the name of its photo: `photo.pts`, or `photo_1.pts`, `photo_2.pts` for several
faces. Its lines hold x and y in pixels counted from 1; the usual header (`version`, `n_points`, braces)
may be missing.
"""

import os
import re
from functools import partial
from pathlib import Path

import numpy as np

from ..numbers import BadRowError, finite_numbers
from .keypoint_schemes import POINTS_OF_68, from_68
from .photo_rows import PhotoRows, read_files
from .photo_set import PhotoSet

PHOTO_ENDINGS = (".jpg", ".jpeg", ".png", ".bmp")
_HEADER = re.compile(r"version\s*:|n_points\s*:|[{}]")
_NUMBERED = re.compile(r"_\d+$")


def read_pts(path: str | os.PathLike) -> PhotoSet:
    """Read a folder of `.pts` files as seven of the paper's keypoints; the scheme has no ears.

    Parameters
    ----------
    path : path-like
        The folder, which also holds the photos (or has them in `images/`).

    Returns
    -------
    PhotoSet
    """
    folder = Path(path)
    return read_files(folder, ".pts", partial(_add_pts, _photos_by_stem(folder)), list(POINTS_OF_68))


def _add_pts(available: dict[str, str], photos: dict[str, PhotoRows], file: Path) -> None:
    stem = file.stem if file.stem in available else _NUMBERED.sub("", file.stem)
    if stem not in available:
        raise BadRowError("no photo of this name")
    points = _read_points(file)
    rows = photos.setdefault(available[stem], PhotoRows())
    face = str(len(rows.points))
    for keypoint, (x, y) in from_68(points).items():
        rows.add(face, keypoint, (float(x), float(y)))
    (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
    rows.boxes[face] = float(x0), float(y0), float(x1), float(y1)


def _photos_by_stem(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for place in (folder / "images", folder):
        if place.is_dir():
            found |= {p.stem: p.name for p in sorted(place.iterdir()) if p.suffix.lower() in PHOTO_ENDINGS}
    return found


def _read_points(file: Path) -> np.ndarray:
    """Return the 68 points (x, y), counted from 0."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise BadRowError("cannot be read as text") from None
    values = [line.split() for line in lines if line.strip() and not _HEADER.match(line.strip())]
    if any(len(value) != 2 for value in values):
        raise BadRowError("not lines of two numbers")
    if len(values) != 68:
        raise BadRowError(f"{len(values)} points; 68 are expected")
    return np.array([finite_numbers(value, "a coordinate") for value in values]) - 1
