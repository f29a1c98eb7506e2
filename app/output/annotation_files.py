"""Annotations of photos as files, in the forms that people can go on with."""

import os
from pathlib import Path

from ...datasets.photos.annotation_formats import encode_annotations
from ...datasets.photos.annotation_writers import IN_FOLDER
from ...datasets.photos.keypoint_csv import KEYPOINTS_FILE
from ...datasets.photos.photo_set import PhotoSet
from ...features.errors import DataError
from ...models.whole_files import whole_folder, write_whole


def write_annotations(photos: PhotoSet, path: str | os.PathLike, form: str) -> None:
    """Write the annotation of a set, whole or not at all; the photos themselves are not copied.

    Parameters
    ----------
    photos : PhotoSet
    path : path-like
        The file, or the folder of a form of several files.
    form : str
        A key of `annotation_formats.WRITERS`.
    """
    files = encode_annotations(photos, form)
    if isinstance(files, bytes):
        write_whole(path, files)
        return
    with whole_folder(path) as folder:
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)


def would_replace(path: Path, form: str) -> Path | None:
    """Return a file of before that writing a form there would replace, if there is one."""
    if form in IN_FOLDER:
        return next(iter(sorted(path.glob(IN_FOLDER[form]))), None)
    return path if path.exists() else None


def check_not_source(source: Path, out: Path) -> None:
    """Refuse to write a conversion onto what it is made of.

    Parameters
    ----------
    source : Path
        The file, or the folder, that is read.
    out : Path
        The file that is written; of several the one with the keypoints.

    Raises
    ------
    DataError
        If they are the same.
    """
    read = source / KEYPOINTS_FILE if source.is_dir() else source
    if read.exists() and out.exists() and out.samefile(read):
        raise DataError(f"{out}: the conversion would replace what it is made of; name another place")
