"""Annotated photos in any of the formats that people have."""

import os
import re
from collections.abc import Callable
from pathlib import Path

from ...features.errors import DataError, ParameterError
from .aflw import read_aflw, read_aflw_mat
from .annotation_writers import WRITERS, encode_annotations
from .coco import read_coco
from .deeplabcut import CONFIG_FILE, is_project, read_deeplabcut
from .imglab_cvat import read_cvat, read_imglab
from .keypoint_csv import KEYPOINTS_FILE, load_keypoints
from .label_studio import read_label_studio
from .labelme import read_labelme
from .opencv_list import is_opencv_list, read_opencv_list
from .photo_set import PhotoSet
from .pts import read_pts
from .sleap import read_sleap
from .yolo_pose import find_settings, read_yolo_pose

__all__ = ["READERS", "WRITERS", "encode_annotations", "format_of", "read_annotations"]

READERS: dict[str, Callable[[Path], PhotoSet]] = {
    "csv": load_keypoints,
    "coco": read_coco,
    "aflw": read_aflw,
    "aflw-mat": read_aflw_mat,
    "pts": read_pts,
    "imglab": read_imglab,
    "cvat": read_cvat,
    "deeplabcut": read_deeplabcut,
    "sleap": read_sleap,
    "label-studio": read_label_studio,
    "labelme": read_labelme,
    "yolo-pose": read_yolo_pose,
    "opencv": read_opencv_list,
}
_ENDINGS = ".json", ".xml", ".slp", ".sqlite", ".sqlite3", ".db", ".h5", ".txt", ".csv"
_MARKS = {"cvat": (b"<annotations",), "coco": (b'"images"', b'"annotations"', b'"categories"', b'"info"')}
"""What the beginning of a file in a folder has, where its name alone tells too little."""

_HEAD_BYTES = 4096
_NAMED = 4


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
    if form is None:
        form, path = _located(path)
    return READERS[form](path)


def format_of(path: Path) -> str:
    """Tell the format of an annotation from its name and its beginning; of a folder from what is in it."""
    return _located(path)[0]


def _located(path: Path) -> tuple[str, Path]:
    """The format of an annotation, and what its reader takes: of a folder perhaps the one file in it."""
    if path.is_dir():
        return _located_in(path)
    return _format_of_file(path), path


def _format_of_file(path: Path) -> str:
    if not path.is_file():
        raise DataError(f"{path}: no such file or folder")
    ending = path.suffix.lower()
    if path.name == CONFIG_FILE or ending in (".h5", ".hdf5"):
        return "deeplabcut"
    if ending in (".sqlite", ".db", ".sqlite3"):
        return "aflw"
    with open(path, "rb") as stream:
        head = stream.read(_HEAD_BYTES)
    if ending == ".slp":
        return "sleap"
    if ending == ".json":
        return _format_of_json(head)
    if ending in (".yaml", ".yml"):
        return "yolo-pose"
    if ending == ".txt" and is_opencv_list(head.decode("utf-8", "replace")):
        return "opencv"
    if ending == ".xml":
        return "imglab" if b"<dataset" in head else "cvat"
    if ending == ".csv":
        return "deeplabcut" if b"\nbodyparts," in head or head.startswith(b"bodyparts,") else "csv"
    raise DataError(f"{path}: its annotation format cannot be told; name one of {', '.join(READERS)}")


def _format_of_json(head: bytes) -> str:
    if re.match(rb"(\xef\xbb\xbf)?\s*\[\s*\{", head):
        return "label-studio"
    return "labelme" if b'"shapes"' in head else "coco"


def _located_in(folder: Path) -> tuple[str, Path]:
    if (folder / KEYPOINTS_FILE).is_file():
        return "csv", folder
    if is_project(folder):
        return "deeplabcut", folder
    if find_settings(folder) is not None:
        return "yolo-pose", folder
    for pattern, form in (("*.pts", "pts"), ("*.mat", "aflw-mat")):
        if next(folder.glob(pattern), None) is not None:
            return form, folder
    for path in sorted(folder.glob("*.json"))[:1]:
        if _format_of_file(path) == "labelme":
            return "labelme", folder
    file = _only_file(folder)
    return _format_of_file(file), file


def _only_file(folder: Path) -> Path:
    """The one annotation file in a folder.

    Raises
    ------
    DataError
        If there is none, or more than one.
    """
    found = [path for path in sorted(folder.iterdir()) if path.is_file() and _is_annotation(path)]
    if len(found) > 1:
        names = ", ".join(path.name for path in found[:_NAMED]) + (", ..." if len(found) > _NAMED else "")
        raise DataError(f"{folder}: several annotations in this folder ({names}); name one of the files")
    if not found:
        raise DataError(
            f"{folder}: no annotation in this folder; expected are {KEYPOINTS_FILE}, a project of DeepLabCut "
            "or YOLO-pose, .pts, .mat or LabelMe's .json files, or one file of another format"
        )
    return found[0]


def _is_annotation(path: Path) -> bool:
    """Whether a file's name, and its beginning, are those of an annotation."""
    if path.suffix.lower() not in _ENDINGS:
        return False
    try:
        form = _format_of_file(path)
    except DataError:
        return False
    with open(path, "rb") as stream:
        head = stream.read(_HEAD_BYTES)
    if form == "csv":
        return b"image" in head and b"keypoint" in head
    return form not in _MARKS or any(mark in head for mark in _MARKS[form])
