"""Photos and videos named on the command line: files, folders and globs."""

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

import numpy as np

from ..datasets import videos
from ..datasets.photos import images
from ..datasets.photos.images import read_image
from ..datasets.videos import stated_length, video_frames
from ..features.errors import DataError

ACCEPTED = images.EXTENSIONS + videos.EXTENSIONS
WRITTEN = ".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp", ".ppm"
"""Formats that photos keep; of the others one would lose colours."""


def find_inputs(inputs: Sequence[str]) -> list[Path]:
    """List the photos and videos that the inputs name, each once, in their order.

    A folder stands for the photos and videos directly in it, by name; a pattern with `*`, `?` or `[` that
    is no file for what it matches.

    Raises
    ------
    DataError
        If an input matches nothing, or a folder holds neither photo nor video.
    """
    found: dict[Path, None] = {}
    for text in inputs:
        path = Path(text)
        if path.is_dir():
            paths = sorted(p for p in path.iterdir() if p.suffix.lower() in ACCEPTED and p.is_file())
            if not paths:
                raise DataError(f"{path}: no photo or video in this folder (accepted: {', '.join(ACCEPTED)})")
        elif not path.exists() and glob.has_magic(text):
            paths = [Path(match) for match in sorted(glob.glob(text)) if Path(match).is_file()]
            if not paths:
                raise DataError(f"{text}: matches no file")
        else:
            paths = [path]
        found.update(dict.fromkeys(paths))
    return list(found)


def is_video(path: Path) -> bool:
    """Tell videos from photos by the ending of their name."""
    return path.suffix.lower() in videos.EXTENSIONS


def pictures_of(path: Path, every: int = 1) -> Iterator[tuple[int | None, np.ndarray]]:
    """Yield the pictures of a photo or video, (H, W, 3) uint8 RGB, one in memory at a time.

    With each comes the number of its frame, from 0; None for a photo. Of a video, frames 0, `every`,
    2 * `every`, ... are taken.

    Raises
    ------
    DataError
        If the photo, or the first frame of the video, cannot be read.
    """
    if not is_video(path):
        yield None, read_image(path)
        return
    for i, frame in enumerate(video_frames(path, step=every)):
        yield i * every, frame


def n_expected(path: Path, every: int = 1) -> int:
    """Return how many pictures `pictures_of` should yield by the video's header; 1 if there is no telling."""
    if not is_video(path):
        return 1
    try:
        return max(1, -(-stated_length(path) // every))
    except DataError:
        return 1


def overlay_names(paths: Sequence[Path], *, flat: bool = False) -> list[str]:
    """Return a name for the overlay of each input, no two alike but for their endings.

    Photos keep their format, videos are MP4. Inputs that lie in several folders keep these, as far as they
    differ: `a/x.jpg` and `b/x.jpg` stay what they are, but `a/x.jpg` and `a/y.jpg` become `x.jpg` and
    `y.jpg`. With `flat` all results lie in one folder.
    """
    names: list[str] = []
    taken: set[str] = set()
    for path, folder in zip(paths, [PurePath()] * len(paths) if flat else _folders(paths), strict=True):
        stem, n = (folder / path.stem).as_posix(), 1
        while stem.lower() in taken:
            n += 1
            stem = (folder / f"{path.stem}-{n}").as_posix()
        taken.add(stem.lower())
        ending = path.suffix if path.suffix.lower() in WRITTEN else ".png"
        names.append(stem + (".mp4" if is_video(path) else ending))
    return names


def _folders(paths: Sequence[Path]) -> list[PurePath]:
    """The folder of each path, relative to the one that all of them share."""
    folders = [path.absolute().parent for path in paths]
    try:
        shared = os.path.commonpath(folders) if folders else ""
    except ValueError:  # on several drives
        return [PurePath()] * len(folders)
    return [folder.relative_to(shared) for folder in folders]


def check_not_replaced(paths: Sequence[Path], outputs: Sequence[Path]) -> None:
    """Refuse to write results over inputs.

    Raises
    ------
    DataError
        If one of the outputs would be the file of an input.
    """
    inputs = {path.resolve() for path in paths}
    for output in outputs:
        if output.resolve() in inputs:
            raise DataError(f"{output}: results would replace this input; choose another folder")
