"""One reader for every file of tracks."""

import os
from pathlib import Path

from ...features.errors import DataError
from ..mat_files import load_mat
from .hopkins import read_hopkins
from .multiview import read_multiview
from .point_arrays import read_point_array
from .track_files import read_csv_tracks, read_npz_tracks
from .tracks import Tracks

TRACK_ENDINGS = ".mat", ".npz", ".npy", ".csv"


def read_tracks(path: str | os.PathLike) -> Tracks:
    """Read a file of tracks by its kind.

    Parameters
    ----------
    path : path-like
        - `.npz` or `.csv`: see `track_files`; `.npz` or `.npy` of a point tracker: see `point_arrays`;
        - `.mat`: a Hopkins 155 file (variables y and s), or a struct `Data` as in KT3DMoSeg and MTPV.

    Returns
    -------
    Tracks

    Raises
    ------
    DataError
        If the file is missing, of another kind, damaged or has contents that do not fit together.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    kind = path.suffix.lower()
    if kind == ".npz":
        return read_npz_tracks(path)
    if kind == ".npy":
        return read_point_array(path)
    if kind == ".csv":
        return read_csv_tracks(path)
    if kind == ".mat":
        return _read_mat(path)
    raise DataError(f"{path}: not a file of tracks (accepted: {', '.join(TRACK_ENDINGS)})")


def _read_mat(path: Path) -> Tracks:
    content = load_mat(path)
    if "Data" in content:
        return read_multiview(path)
    if "y" in content:
        return read_hopkins(path)
    raise DataError(
        f"{path}: neither a Hopkins 155 file (variables y and s) nor a struct Data; it has "
        f"{', '.join(sorted(content)) or 'nothing'}"
    )
