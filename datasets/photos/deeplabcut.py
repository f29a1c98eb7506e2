"""DeepLabCut: `CollectedData_<scorer>.csv` with three or four header rows."""

import csv
import os
from pathlib import Path

from ...features.errors import DataError
from .photo_rows import BadRowError, PhotoRows, make_photo_set
from .photo_set import PhotoSet

HEADERS = ("scorer", "individuals", "bodyparts", "coords")


def read_deeplabcut(path: str | os.PathLike) -> PhotoSet:
    """Read DeepLabCut's labels, of one animal or of several ("individuals").

    Parameters
    ----------
    path : path-like
        The CSV file. The first column, or the first three (folder, video, photo), name a photo, which is
        looked for by its file name beside the CSV file and in `images/`.

    Returns
    -------
    PhotoSet
    """
    path = Path(path)
    header, rows = _read(path)
    n_index = len(header["coords"]) - len([c for c in header["coords"] if c in ("x", "y", "likelihood")])
    individuals = header.get("individuals", ["0"] * len(header["coords"]))
    columns = [
        (j, individuals[j], header["bodyparts"][j])
        for j in range(n_index, len(header["coords"]))
        if header["coords"][j] == "x"
    ]
    photos: dict[str, PhotoRows] = {}
    problems: list[str] = []
    names = dict.fromkeys(name for _, _, name in columns)
    for line, row in rows:
        photo = photos.setdefault(_file_name(row[:n_index]), PhotoRows())
        for j, individual, name in columns:
            try:
                _add(photo, individual, name, row[j : j + 2])
            except BadRowError as error:
                problems.append(f"{path.name} line {line}: {error}")
    return make_photo_set(path, path.parent, photos, list(names), problems)


def _read(path: Path) -> tuple[dict[str, list[str]], list[tuple[int, list[str]]]]:
    """Return the header rows by their first cell, and the other rows with their line numbers."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            lines = list(enumerate(csv.reader(stream), start=1))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: not a CSV file ({error})") from None
    header = {row[0]: row for _, row in lines[: len(HEADERS)] if row and row[0] in HEADERS}
    if not {"bodyparts", "coords"} <= set(header):
        raise DataError(f"{path}: not a DeepLabCut file; it needs the header rows 'bodyparts' and 'coords'")
    width = len(header["coords"])
    if any(len(row) != width for row in header.values()):
        raise DataError(f"{path}: its header rows have different lengths")
    rows = [(line, row) for line, row in lines if row and row[0] not in HEADERS]
    for line, row in rows:
        if len(row) != width:
            raise DataError(f"{path}: line {line} has {len(row)} cells, its header {width}")
    return header, rows


def _file_name(index: list[str]) -> str:
    """The photo's file name: the last part of the last index cell that is not empty."""
    cell = next((cell for cell in reversed(index) if cell), "")
    return cell.replace("\\", "/").rsplit("/", 1)[-1]


def _add(photo: PhotoRows, individual: str, name: str, cells: list[str]) -> None:
    """Add a point; empty cells and "nan" mean that it is not annotated."""
    if any(cell.strip().lower() in ("", "nan") for cell in cells):
        return
    try:
        x, y = (float(cell) for cell in cells)
    except ValueError:
        raise BadRowError(f"{name} is at {','.join(cells)!r}, expected two numbers") from None
    photo.add(individual, name, (x, y))
