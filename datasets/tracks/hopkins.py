"""Hopkins 155: `<sequence>/<sequence>_truth.mat`.

R. Tron and R. Vidal. A Benchmark for the Comparison of 3-D Motion Segmentation Algorithms. CVPR 2007.

What the files do not say, and this reader knows (checked against the videos and the preview pictures):

- the vertical axis of `y` points up in some sequences;
- some videos have one frame more than their tracks, the first;
- in `three-cars` and its parts the pixels `y` are not K times the normalised `x`; the pixels are read
  there as everywhere;
- `dancing`, with five motions, is not one of the 155.
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...features.errors import DataError
from ..mat_files import load_mat, track_labels, track_positions
from .tracks import MAX_SIDE_PX, Tracks

NOT_OF_THE_155 = {"dancing"}
Y_UP = {"arm", "cars2B", "people1", "people2", "truck1", "truck2", *(f"cars{i}" for i in range(1, 11))}
FIRST_FRAME_UNUSED = {"1R2TCR", "1RT2RCRT", "2T3RCRTP", "cars2_06", "cars2_07"}
_TRAFFIC = re.compile(r"cars|truck|kanatani[12]")
_ARTICULATED = re.compile(r"arm|articulated|people|kanatani3|head|two_cranes")
_VARIANT = re.compile(r"_g(12|13|23)$")


def video_of(sequence: str) -> str:
    """Return the video that a sequence was cut from: its name without `_g12`, `_g13` or `_g23`."""
    return _VARIANT.sub("", sequence)


def category_of(sequence: str) -> str:
    """Return "checkerboard", "traffic" or "articulated"."""
    if _TRAFFIC.match(sequence):
        return "traffic"
    return "articulated" if _ARTICULATED.match(sequence) else "checkerboard"


def read_hopkins(path: str | os.PathLike) -> Tracks:
    """Read one `*_truth.mat` file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    Tracks
        In pixels (the array `y` of the file), labels from 0.

    Raises
    ------
    DataError
        If the file cannot be read, or its arrays are missing, of the wrong shape or not finite.
    """
    path = Path(path)
    content = load_mat(path)
    missing = {"y", "s"} - set(content)
    if missing:
        raise DataError(f"{path}: no variable {sorted(missing)[0]!r}; a Hopkins 155 file has y and s")
    positions = track_positions(path, "y", content["y"])
    labels = track_labels(path, "s", content["s"], len(positions))
    name = path.name.removesuffix(".mat").removesuffix("_truth")
    video = video_of(name)
    return Tracks(
        positions,
        labels=np.unique(labels, return_inverse=True)[1].ravel(),
        y_up=video in Y_UP,
        frame_offset=int(video in FIRST_FRAME_UNUSED),
        width=_number(content, "width"),
        height=_number(content, "height"),
        name=name,
    )


def _number(content: Mapping[str, Any], key: str) -> int | None:
    """A side of the frame in pixels, None unless the file says a number that can be one."""
    value = content.get(key)
    if not isinstance(value, np.ndarray) or value.size != 1 or value.dtype.kind not in "iuf":
        return None
    return int(value.flat[0]) if 1 <= value.flat[0] <= MAX_SIDE_PX else None


def load_hopkins155(
    path: str | os.PathLike, *, on_problem: Callable[[str], None] | None = None
) -> list[Tracks]:
    """Read all sequences below a folder, in the order of their names.

    Parameters
    ----------
    path : path-like
        Folder with one folder a sequence. Other folders are passed over; `dancing` is left out.
    on_problem : callable, optional
        Called with one line for each sequence that cannot be read, which is then left out. By default
        such a sequence raises.

    Returns
    -------
    list of Tracks

    Raises
    ------
    DataError
        If the folder holds no sequence, or none that can be read.
    """
    root = Path(path)
    if not root.is_dir():
        raise DataError(f"{root}: no such folder")
    files = sorted(root.glob("*/*_truth.mat"))
    files = [file for file in files if file.parent.name not in NOT_OF_THE_155]
    if not files:
        raise DataError(f"{root}: no <sequence>/<sequence>_truth.mat below this folder")
    sequences = []
    for file in files:
        try:
            sequences.append(read_hopkins(file))
        except DataError as error:
            if on_problem is None:
                raise
            on_problem(str(error))
    if not sequences:
        raise DataError(f"{root}: none of the {len(files)} sequences can be read")
    return sequences
