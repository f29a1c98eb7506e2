"""Tracks as NPZ and as CSV.

NPZ holds everything: `positions` (P, F, 2) and, where wanted, `visible` (P, F), `labels` (P,), `y_up`,
`frame_offset`, `width`, `height`, `name`.

CSV is long, a row a point and frame: `track,frame,x,y` and, where wanted, `label` (whole numbers from 0, -1
for an outlier; the same in all rows of a track). A pair of track and frame without a row is a point that is
not visible. `frame` counts the frames of the video from 0; x and y are pixels as they are in the tracks,
the direction of y is not written down. A track that is never visible has one row without frame, x and y.
"""

import csv
import io
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...features.errors import DataError
from ..limits import check_memory
from ..mat_files import MAX_LABEL
from ..npz_files import load_npz
from .point_arrays import is_point_file, point_tracks
from .tracks import MAX_OFFSET, Tracks

CSV_COLUMNS = ("track", "frame", "x", "y")
CELL_BYTES = 60
"""Of a track in a frame: twice its position, whether it is visible, and what is computed of these."""
_SCALARS = ("y_up", "frame_offset", "width", "height", "name")


def encode_npz(tracks: Tracks, **others: np.ndarray) -> bytes:
    """Return the contents of an NPZ file with all there is to the tracks, and other arrays by their names."""
    arrays: dict[str, Any] = {"positions": tracks.positions, "visible": tracks.visible, **others}
    for name in ("labels", *_SCALARS):
        value = getattr(tracks, name)
        if value is not None:
            arrays[name] = np.asarray(value)
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def read_npz_tracks(path: str | os.PathLike) -> Tracks:
    """Read tracks from an NPZ file; only `positions` must be there.

    Raises
    ------
    DataError
        If the file is missing or damaged, or an array has the wrong shape or kind.
    """
    path = Path(path)
    content = load_npz(path)
    if is_point_file(content):
        return point_tracks(content, path)
    if "positions" not in content:
        raise DataError(f"{path}: no array 'positions' (found {', '.join(sorted(content)) or 'none'})")
    for name in ("positions", "visible", "labels"):
        if name in content and content[name].dtype.kind not in "biuf":
            raise DataError(f"{path}: {name} must hold numbers, found {content[name].dtype}")
    options: dict[str, Any] = {"name": path.stem}
    options |= {name: content[name] for name in ("visible", "labels") if name in content}
    options |= {name: _scalar(path, name, content[name]) for name in _SCALARS if name in content}
    try:
        return Tracks(content["positions"], **options)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def _scalar(path: Path, name: str, array: np.ndarray) -> Any:
    kinds, convert = _SCALAR_KINDS[name]
    if array.size != 1 or array.dtype.kind not in kinds:
        raise DataError(f"{path}: {name} must be a single value, found {array.dtype} {array.shape}")
    return convert(array.ravel()[0])


_SCALAR_KINDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "y_up": ("biu", bool),
    "frame_offset": ("iu", int),
    "width": ("iu", int),
    "height": ("iu", int),
    "name": ("U", str),
}


def encode_csv(tracks: Tracks) -> bytes:
    """Return the contents of a CSV file: positions, and labels if there are any."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    labelled = tracks.labels is not None
    writer.writerow([*CSV_COLUMNS, "label"] if labelled else CSV_COLUMNS)
    for i in range(len(tracks)):
        end = [int(tracks.labels[i])] if tracks.labels is not None else []
        frames = np.flatnonzero(tracks.visible[i])
        if not len(frames):
            writer.writerow([i, "", "", "", *end])
        for f in frames.tolist():
            # repr of a Python float: the shortest text that reads back as the same number
            x, y = tracks.positions[i, f].tolist()
            writer.writerow([i, f + tracks.frame_offset, x, y, *end])
    return stream.getvalue().encode()


def encode_napari(tracks: Tracks) -> bytes:
    """Return the rows of a napari tracks layer as CSV: `track_id,t,y,x,label`, sorted by track and frame."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["track_id", "t", "y", "x", "label"])
    labels = np.full(len(tracks), -1) if tracks.labels is None else tracks.labels
    for i, f in zip(*np.nonzero(tracks.visible), strict=True):
        x, y = tracks.positions[i, f].tolist()
        writer.writerow([i, f + tracks.frame_offset, y, x, labels[i]])
    return stream.getvalue().encode()


def read_csv_tracks(path: str | os.PathLike) -> Tracks:
    """Read tracks from a long CSV file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    Tracks
        In the order of their first rows. The first frame of the file becomes frame 0 of the tracks, its
        number `frame_offset`.

    Raises
    ------
    DataError
        If a column is missing or a row cannot be used; the message names the line.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    try:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            table = _CsvTable(stream)
    except UnicodeDecodeError:
        raise DataError(f"{path}: not UTF-8 text") from None
    except (csv.Error, _BadRowError) as error:
        raise DataError(f"{path}: {error}") from None
    return table.tracks(path)


class _BadRowError(ValueError):
    """A row that cannot be used."""


class _CsvTable:
    """The rows of a CSV file, checked."""

    def __init__(self, stream: io.TextIOBase) -> None:
        reader = csv.DictReader(stream)
        found = reader.fieldnames or []
        missing = [column for column in CSV_COLUMNS if column not in found]
        if missing:
            raise _BadRowError(
                f"column {', '.join(missing)} is missing (found {', '.join(found) or 'nothing'})"
            )
        self.labelled = "label" in found
        self.points: dict[tuple[str, int], tuple[float, float]] = {}
        self.labels: dict[str, int] = {}
        for row in reader:
            try:
                self._add({key: (row[key] or "").strip() for key in found})
            except _BadRowError as error:
                raise _BadRowError(f"line {reader.line_num}: {error}") from None

    def _add(self, row: dict[str, str]) -> None:
        track = row["track"]
        if not track:
            raise _BadRowError("track is empty")
        label = _whole(row, "label", -1, MAX_LABEL) if self.labelled else 0
        if self.labels.setdefault(track, label) != label:
            raise _BadRowError(f"track {track} has label {label} here and {self.labels[track]} before")
        if not (row["frame"] or row["x"] or row["y"]):
            return
        frame = _whole(row, "frame", 0, MAX_OFFSET)
        if (track, frame) in self.points:
            raise _BadRowError(f"track {track} is there twice in frame {frame}")
        self.points[track, frame] = _finite(row, "x"), _finite(row, "y")

    def tracks(self, path: Path) -> Tracks:
        """Put the points in place."""
        if not self.points:
            raise DataError(f"{path}: no row with a position")
        frames = [frame for _, frame in self.points]
        first, n_frames = min(frames), max(frames) - min(frames) + 1
        check_memory(
            path,
            CELL_BYTES * n_frames * len(self.labels),
            f"{len(self.labels)} tracks from frame {first} to {max(frames)}",
        )
        index = {track: i for i, track in enumerate(self.labels)}
        positions = np.full((len(index), n_frames, 2), np.nan)
        for (track, frame), point in self.points.items():
            positions[index[track], frame - first] = point
        try:
            return Tracks(
                positions,
                visible=np.isfinite(positions[:, :, 0]),
                labels=np.array(list(self.labels.values()), dtype=np.int64) if self.labelled else None,
                frame_offset=first,
                name=path.stem,
            )
        except DataError as error:
            raise DataError(f"{path}: {error}") from None


def _whole(row: dict[str, str], column: str, least: int, most: int) -> int:
    try:
        value = int(row[column])
    except ValueError:
        value = least - 1
    if not least <= value <= most:
        raise _BadRowError(f"{column} is {row[column][:40]!r}, expected a whole number, {least} to {most}")
    return value


def _finite(row: dict[str, str], column: str) -> float:
    try:
        value = float(row[column])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _BadRowError(f"{column} is {row[column]!r}, expected a finite number")
    return value
