"""Photos named on the command line: files, folders and globs."""

import glob
from collections.abc import Sequence
from pathlib import Path

from ..datasets.images import EXTENSIONS
from ..features.errors import DataError


def find_photos(inputs: Sequence[str]) -> list[Path]:
    """List the photos that the inputs name, each once, in their order.

    A folder stands for the pictures directly in it, by name; a pattern with `*`, `?` or `[` that is no
    file for what it matches.

    Raises
    ------
    DataError
        If an input matches nothing, or a folder holds no picture.
    """
    found: dict[Path, None] = {}
    for text in inputs:
        path = Path(text)
        if path.is_dir():
            photos = sorted(p for p in path.iterdir() if p.suffix.lower() in EXTENSIONS and p.is_file())
            if not photos:
                raise DataError(f"{path}: no picture in this folder (accepted: {', '.join(EXTENSIONS)})")
        elif not path.exists() and glob.has_magic(text):
            photos = [Path(match) for match in sorted(glob.glob(text)) if Path(match).is_file()]
            if not photos:
                raise DataError(f"{text}: matches no file")
        else:
            photos = [path]
        found.update(dict.fromkeys(photos))
    return list(found)


def overlay_names(photos: Sequence[Path]) -> list[str]:
    """Return a file name for the overlay of each photo, no two alike."""
    names: list[str] = []
    taken: set[str] = set()
    for photo in photos:
        name, n = f"{photo.stem}.png", 1
        while name.lower() in taken:
            n += 1
            name = f"{photo.stem}-{n}.png"
        taken.add(name.lower())
        names.append(name)
    return names
