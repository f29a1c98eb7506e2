"""Where results go: a place that is taken is refused, unless what is there may be overwritten.

Two runs never mix. A folder of results holds a list of the files that a run has written into it; the next run
with --overwrite removes those of them that it does not write itself. Other files are left alone.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..features.errors import DataError
from ..models.whole_files import check_file_place, check_folder_place, write_whole
from .progress import warn
from .wording import listed

LIST_FILE = ".annealed-files"
"""Names, one a line, of the files that a run has written into a folder."""

NAMED = 6
"""Files that are named at the end of a run; of more the number."""


def check_new_file(path: Path, overwrite: bool) -> None:
    """Complain of a place where no file can be written, or where there is one that must not be replaced.

    Raises
    ------
    DataError
    """
    check_file_place(path)
    if path.exists() and not overwrite:
        raise DataError(f"{path}: is there already; --overwrite replaces it")


def check_new_folder(path: Path, overwrite: bool) -> None:
    """Complain of a place where no folder can be written, or of one that is not empty.

    Raises
    ------
    DataError
    """
    check_folder_place(path)
    if not overwrite and path.is_dir() and any(path.iterdir()):
        raise DataError(f"{path}: is not empty; name another folder, or replace results with --overwrite")


@contextmanager
def results_folder(path: Path, overwrite: bool) -> Iterator[Path]:
    """Let a block write its results into a folder, and say at the end which files they are.

    Parameters
    ----------
    path : Path
    overwrite : bool
        Take a folder that is not empty, and remove what an earlier run has left in it once the block has come
        to its end. After an error, or Ctrl-C, everything stays.

    Raises
    ------
    DataError
        If the folder cannot be written, or is not empty and must be.
    """
    check_new_folder(path, overwrite)
    before = _files(path)
    earlier = _listed_files(path)
    complete = False
    try:
        yield path
        complete = True
    finally:
        written = [name for name, state in _files(path).items() if before.get(name) != state]
        if complete:
            _remove(path, [name for name in earlier if name not in written])
        kept = written if complete else sorted({*earlier, *written})
        if written:
            write_whole(
                path / LIST_FILE, "".join(f"{name}\n" for name in kept).encode("utf-8", "surrogateescape")
            )
            warn(f"written to {path}: {listed(written, NAMED, 'file')}")


def _files(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file in a folder, by its name within it, and what changes when it is written anew."""
    found = {}
    for place in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if place.is_file() and place.name != LIST_FILE:
            state = place.stat()
            found[place.relative_to(folder).as_posix()] = (state.st_ino, state.st_mtime_ns)
    return found


def _listed_files(folder: Path) -> list[str]:
    """What an earlier run has written, by its list."""
    try:
        text = (folder / LIST_FILE).read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return []
    return [name for name in text.splitlines() if name]


def _remove(folder: Path, names: Sequence[str]) -> None:
    """Remove files of a folder, and folders in it that are empty then; never anything outside of it."""
    inside = folder.resolve()
    for name in names:
        place = inside / name
        if not place.resolve().is_relative_to(inside) or not place.is_file():
            continue
        place.unlink()
        for above in place.parents:
            if above == inside or any(above.iterdir()):
                break
            os.rmdir(above)
