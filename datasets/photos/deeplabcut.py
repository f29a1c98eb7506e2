"""DeepLabCut: projects as they are, and single `CollectedData_<scorer>.csv` or `.h5` files.

A project is a folder with `config.yaml` and `labeled-data/<video>/`, each with pictures and the labels of
one or several scorers. Labels are a table with three or four header rows: scorer, individuals (of projects
with several animals), bodyparts, coords. What `config.yaml` says is of use, but not needed.
"""

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...features.errors import DataError
from ...features.schemas import Name, Schema, SchemaError, validated
from ..numbers import BadRowError, finite_numbers
from .deeplabcut_h5 import read_label_table
from .photo_rows import PhotoRows, make_photo_set
from .photo_set import PhotoSet
from .yaml_files import read_yaml

HEADERS = ("scorer", "individuals", "bodyparts", "coords")
POINT_COORDS = ("x", "y", "likelihood")
LABELS_PREFIX = "CollectedData_"
LABELED_DATA = "labeled-data"
CONFIG_FILE = "config.yaml"
_SOLE = "0"  # the animal of a file without individuals


class _Config(Schema):
    scorer: Name = ""


@dataclass(frozen=True)
class LabelTable:
    """The labels of one file.

    Attributes
    ----------
    path : Path
    header : dict of row name to list of str
        Cells of the header rows; those of `n_index` columns first are of no use.
    rows : list of (where, cells)
        Where a row is, for messages, and its cells.
    n_index : int
        Columns that name the photo.
    """

    path: Path
    header: dict[str, list[str]]
    rows: list[tuple[str, list[str]]]
    n_index: int

    @property
    def scorers(self) -> tuple[str, ...]:
        """Who labelled, in the order of the columns."""
        return tuple(dict.fromkeys(self.header.get("scorer", [""])[self.n_index :]))

    def columns(self, scorer: str) -> list[tuple[int, str, str]]:
        """Column of x, individual and body part of each point that a scorer labelled."""
        width = len(self.header["coords"])
        scorers = self.header.get("scorer", [scorer] * width)
        individuals = self.header.get("individuals", [_SOLE] * width)
        coords = self.header["coords"]
        return [
            (j, individuals[j], self.header["bodyparts"][j])
            for j in range(self.n_index, width - 1)
            if coords[j] == "x" and coords[j + 1] == "y" and scorers[j] == scorer
        ]


def is_project(folder: Path) -> bool:
    """Whether a folder is a DeepLabCut project, its `labeled-data`, or the labels of one of its videos."""
    return (folder / LABELED_DATA).is_dir() or bool(_label_folders(folder))


def read_deeplabcut(path: str | os.PathLike) -> PhotoSet:
    """Read DeepLabCut's labels, of one animal or of several ("individuals").

    Frames without any label, and of several scorers all but one (that of `config.yaml`, otherwise the one
    with the most files), are left out and said so.

    Parameters
    ----------
    path : path-like
        The project's folder or `config.yaml`, its `labeled-data`, the folder of one video, or one CSV or
        H5 file. Photos are looked for by their file names beside the labels and in `images/` there.

    Returns
    -------
    PhotoSet

    Raises
    ------
    DataError
        If there are no labels, or none that can be used.
    """
    path = Path(path)
    if path.name == CONFIG_FILE:
        path = path.parent
    if path.is_dir():
        return _read_project(path)
    labels = _Labels()
    labels.add(_read_table(path), "", None)
    return make_photo_set(path, path.parent, labels.photos, list(labels.names), labels.problems)


class _Labels:
    """Collects the labels of several files."""

    def __init__(self) -> None:
        self.photos: dict[str, PhotoRows] = {}
        self.names: dict[str, None] = {}
        self.problems: list[str] = []

    def add(self, table: LabelTable, prefix: str, scorer: str | None) -> None:
        """Add a file's labels; `prefix` begins the names of its photos."""
        scorers = table.scorers
        if not scorers:
            raise DataError(f"{table.path}: its header names no scorer and no keypoint")
        chosen = scorer if scorer in scorers else scorers[0]
        if len(scorers) > 1:
            others = ", ".join(name for name in scorers if name != chosen)
            self.problems.append(f"{table.path}: labels of {chosen} are used, those of {others} left out")
        columns = table.columns(chosen)
        self.names.update(dict.fromkeys(name for _, _, name in columns))
        n_empty = 0
        for where, row in table.rows:
            rows = PhotoRows()
            name = prefix + _file_name(row[: table.n_index])
            for j, individual, bodypart in columns:
                try:
                    _add(rows, individual, bodypart, row[j : j + 2])
                except BadRowError as error:
                    self.problems.append(f"{table.path.name} {where}: {error}")
            if not rows.points:
                n_empty += 1
            elif name in self.photos:
                self.problems.append(f"{table.path.name} {where}: {name} is there twice; the first counts")
            else:
                self.photos[name] = rows
        if n_empty:
            self.problems.append(f"{table.path}: {n_empty} frames without any label are left out")


def _add(photo: PhotoRows, individual: str, name: str, cells: Sequence[str]) -> None:
    """Add a point; empty cells and "nan" mean that it is not annotated."""
    if any(cell.strip().lower() in ("", "nan") for cell in cells):
        return
    x, y = finite_numbers(cells, name).tolist()
    photo.add(individual, name, (x, y))


def _file_name(index: list[str]) -> str:
    """The photo's file name: the last part of the last index cell that is not empty."""
    cell = next((cell for cell in reversed(index) if cell), "")
    return cell.replace("\\", "/").rsplit("/", 1)[-1]


def _read_project(folder: Path) -> PhotoSet:
    data = folder / LABELED_DATA if (folder / LABELED_DATA).is_dir() else folder
    folders = _label_folders(data)
    if not folders:
        raise DataError(f"{folder}: no {LABELS_PREFIX}<scorer>.csv or .h5 in {LABELED_DATA}/<video>/")
    labels = _Labels()
    scorer = _scorer(folder, folders, labels.problems)
    for place in folders:
        prefix = "" if place == data else f"{place.name}/"
        try:
            labels.add(_read_table(_labels_of(place, scorer)), prefix, scorer)
        except DataError as error:
            labels.problems.append(str(error))
    return make_photo_set(folder, data, labels.photos, list(labels.names), labels.problems)


def _label_folders(folder: Path) -> list[Path]:
    """The folder itself, or those directly in it, that hold labels."""
    if _label_files(folder):
        return [folder]
    try:
        return sorted(place for place in folder.iterdir() if place.is_dir() and _label_files(place))
    except OSError as error:
        raise DataError(f"{folder}: cannot be read ({error.strerror})") from None


def _label_files(folder: Path) -> list[Path]:
    return sorted(
        path
        for ending in (".csv", ".h5")
        for path in folder.glob(f"{LABELS_PREFIX}*{ending}")
        if path.is_file()
    )


def _scorer_of(file: Path) -> str:
    return file.stem.removeprefix(LABELS_PREFIX)


def _scorer(project: Path, folders: Sequence[Path], problems: list[str]) -> str:
    """The scorer whose labels are used: that of the configuration, otherwise that of the most folders."""
    counts: dict[str, int] = {}
    for folder in folders:
        for name in {_scorer_of(file) for file in _label_files(folder)}:
            counts[name] = counts.get(name, 0) + 1
    stated = ""
    if (project / CONFIG_FILE).is_file():
        try:
            stated = validated(_Config, read_yaml(project / CONFIG_FILE)).scorer
        except DataError as error:
            problems.append(str(error))
        except SchemaError as error:
            problems.append(f"{project / CONFIG_FILE}: {error}")
    chosen = stated if stated in counts else min(counts, key=lambda name: (-counts[name], name))
    others = sorted(set(counts) - {chosen})
    if others:
        problems.append(f"{project}: labels of {chosen} are used, those of {', '.join(others)} left out")
    return chosen


def _labels_of(folder: Path, scorer: str) -> Path:
    """The labels of a scorer in a folder: CSV before H5, which says the same."""
    files = [file for file in _label_files(folder) if _scorer_of(file) == scorer]
    if not files:
        raise DataError(f"{folder}: no labels of {scorer}")
    return min(files, key=lambda file: file.suffix != ".csv")


def _read_table(path: Path) -> LabelTable:
    if path.suffix.lower() in (".h5", ".hdf5"):
        columns, index, values = read_label_table(path)
        n_index = max((len(cells) for cells in index), default=1)
        header = {name: [name] * n_index + cells for name, cells in columns.items()}
        rows = [
            (f"row {i}", [*[""] * (n_index - len(cells)), *cells, *map(_cell, row)])
            for i, (cells, row) in enumerate(zip(index, values, strict=True), start=1)
        ]
    else:
        header, rows = _read_csv(path)
        n_index = next(
            (j for j, c in enumerate(header["coords"]) if c in ("x", "y", "likelihood")),
            len(header["coords"]),
        )
    if not {"bodyparts", "coords"} <= set(header):
        raise DataError(f"{path}: not a DeepLabCut file; it needs the header rows 'bodyparts' and 'coords'")
    return LabelTable(path, header, rows, n_index)


def _cell(value: float) -> str:
    return "" if np.isnan(value) else repr(float(value))


def _read_csv(path: Path) -> tuple[dict[str, list[str]], list[tuple[str, list[str]]]]:
    """Return the header rows by their first cell, and the other rows with where they are."""
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
    rows = [(f"line {line}", row) for line, row in lines if row and row[0] not in HEADERS]
    for where, row in rows:
        if len(row) != width:
            raise DataError(f"{path}: {where} has {len(row)} cells, its header {width}")
    return header, rows
