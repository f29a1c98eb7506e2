"""Annotated photos in any of the formats that people have."""

import os
from collections.abc import Callable
from pathlib import Path

from ...features.errors import DataError, ParameterError
from .aflw import read_aflw, read_aflw_mat
from .coco import format_coco, read_coco
from .deeplabcut import CONFIG_FILE, is_project, read_deeplabcut
from .imglab_cvat import read_cvat, read_imglab
from .keypoint_csv import KEYPOINTS_FILE, format_keypoints, load_keypoints
from .photo_set import PhotoSet
from .pts import read_pts

READERS: dict[str, Callable[[Path], PhotoSet]] = {
    "csv": load_keypoints,
    "coco": read_coco,
    "aflw": read_aflw,
    "aflw-mat": read_aflw_mat,
    "pts": read_pts,
    "imglab": read_imglab,
    "cvat": read_cvat,
    "deeplabcut": read_deeplabcut,
}
WRITERS: dict[str, Callable[[PhotoSet], str | dict[str, str]]] = {
    "csv": format_keypoints,
    "coco": format_coco,
}
"""What gives the text of a file, or the texts of the files of a folder by name."""

_HEAD_BYTES = 4096
_ERRORS = "backslashreplace"  # a name may hold what UTF-8 cannot


def read_annotations(path: str | os.PathLike, form: str | None = None) -> PhotoSet:
    """Read annotated photos.

    Parameters
    ----------
    path : path-like
        File or folder.
    form : str, optional
        A key of `READERS`; by default told from the name and the beginning of the file.

    Raises
    ------
    DataError
        If the format cannot be told, or the file cannot be read in it.
    """
    path = Path(path)
    if form is not None and form not in READERS:
        raise ParameterError(f"format must be one of {', '.join(READERS)}, got {form!r}")
    return READERS[form or format_of(path)](path)


def format_of(path: Path) -> str:
    """Tell the format of an annotation from its name and its beginning."""
    if path.is_dir():
        return _format_of_folder(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file or folder")
    ending = path.suffix.lower()
    if path.name == CONFIG_FILE or ending in (".h5", ".hdf5"):
        return "deeplabcut"
    if ending in (".sqlite", ".db", ".sqlite3"):
        return "aflw"
    if ending == ".json":
        return "coco"
    with open(path, "rb") as stream:
        head = stream.read(_HEAD_BYTES)
    if ending == ".xml":
        return "imglab" if b"<dataset" in head else "cvat"
    if ending == ".csv":
        return "deeplabcut" if b"\nbodyparts," in head or head.startswith(b"bodyparts,") else "csv"
    raise DataError(f"{path}: its annotation format cannot be told; name one of {', '.join(READERS)}")


def _format_of_folder(folder: Path) -> str:
    if (folder / KEYPOINTS_FILE).is_file():
        return "csv"
    if is_project(folder):
        return "deeplabcut"
    for pattern, form in (("*.pts", "pts"), ("*.mat", "aflw-mat")):
        if next(folder.glob(pattern), None) is not None:
            return form
    raise DataError(
        f"{folder}: no annotation in this folder; expected are {KEYPOINTS_FILE}, a DeepLabCut "
        "project, .pts or .mat files"
    )


def encode_annotations(photos: PhotoSet, form: str) -> bytes | dict[str, bytes]:
    """Return the annotation of a set as the contents of a file, or of the files of a folder by name.

    Parameters
    ----------
    photos : PhotoSet
    form : str
        A key of `WRITERS`.
    """
    if form not in WRITERS:
        raise ParameterError(f"the annotation can be written as {' or '.join(WRITERS)}, got {form!r}")
    text = WRITERS[form](photos)
    if isinstance(text, str):
        return text.encode(errors=_ERRORS)
    return {name: part.encode(errors=_ERRORS) for name, part in text.items()}
