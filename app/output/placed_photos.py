"""Photos put where a converted annotation looks for them, as copies or links."""

import io
import os
import shutil
from pathlib import Path, PurePosixPath

import numpy as np
from PIL import Image

from ...datasets.photos.annotation_writers import IN_FOLDER, deeplabcut_place
from ...datasets.photos.images import EXTENSIONS
from ...datasets.photos.photo_set import Photo, PhotoSet
from ...features.errors import DataError
from ...models.whole_files import whole_file, write_whole

_FLAT = "labelme", "yolo-pose", "deeplabcut"
"""Formats that know photos by their file names, not by paths."""


def place_photos(photos: PhotoSet, out: Path, form: str, *, copy: bool, overwrite: bool = False) -> int:
    """Put the photos of a set where an annotation of it looks for them; return how many were put.

    Photos that are there already are left alone.

    Parameters
    ----------
    photos : PhotoSet
    out : Path
        The file, or the folder, of the annotation.
    form : str
        A key of `annotation_formats.WRITERS`.
    copy : bool
        Copy files; otherwise make links to them. Pictures that are no files are written as PNG.
    overwrite : bool
        Replace other files in their places.

    Raises
    ------
    DataError
        If two photos share a place, one has no place in the folder, or a place is taken.
    """
    places = _places(photos, out, form)
    wanted = [
        (photo, place) for photo, place in zip(photos, places, strict=True) if not _is_there(photo, place)
    ]
    for _, place in wanted:
        if place.exists() and not overwrite:
            raise DataError(f"{place}: another picture is there; --overwrite replaces it")
    for photo, place in wanted:
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(photo.source, np.ndarray):
            write_whole(place, _png(photo.source))
        elif copy:
            with whole_file(place) as temporary:
                shutil.copyfile(photo.source, temporary)
        else:
            place.unlink(missing_ok=True)
            _link(photo.source.resolve(), place)
    return len(wanted)


def _places(photos: PhotoSet, out: Path, form: str) -> list[Path]:
    """Where each photo goes; no two to the same place."""
    folder = out if form in IN_FOLDER else out.parent
    taken: dict[Path, str] = {}
    for photo in photos:
        place = folder / _name(photo, form)
        if place in taken:
            raise DataError(
                f"{photo.name} and {taken[place]} would both be {place}; name them differently first"
            )
        taken[place] = photo.name
    return list(taken)


def _name(photo: Photo, form: str) -> PurePosixPath:
    """A photo's path below the folder of the annotation."""
    name = PurePosixPath(photo.name.replace("\\", "/"))
    if form in _FLAT:
        name = PurePosixPath(name.name) if form != "deeplabcut" else deeplabcut_place(photo)
    if name.is_absolute() or ".." in name.parts or ":" in name.parts[0]:
        raise DataError(
            f"{photo.name}: a name outside of the annotation's folder; --images none leaves photos alone"
        )
    if isinstance(photo.source, np.ndarray) and name.suffix.lower() not in EXTENSIONS:
        name = name.with_name(f"{name.name}.png")
    return name if form in ("labelme", "deeplabcut") else PurePosixPath("images") / name


def _is_there(photo: Photo, place: Path) -> bool:
    return isinstance(photo.source, Path) and place.exists() and place.samefile(photo.source)


def _link(source: Path, place: Path) -> None:
    """A symbolic link, or where those are not allowed a second name of the file."""
    try:
        os.symlink(source, place)
    except OSError:
        os.link(source, place)


def _png(image: np.ndarray) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, format="PNG")
    return stream.getvalue()
