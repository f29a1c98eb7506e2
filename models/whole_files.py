"""Files and folders that appear whole or not at all: the one way in which anything is written.

What is written goes into a hidden folder beside its place, onto the disk, and then takes its place in one
step. An error, a full disk, a kill or a power cut before that step leaves what was there. The hidden folder
of a process that was killed is removed by the next one that writes there.
"""

import contextlib
import errno
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from ..features.errors import DataError, WriteError

PREFIX = ".annealed."
_LOCK = "lock"
_NEW_S = 60.0  # a hidden folder without a lock may be one that is just being made
_ADVICE = {
    errno.ENOSPC: "the disk is full; free some of it, or name a place on another",
    errno.EDQUOT: "the quota is used up; free some of it, or name a place on another disk",
    errno.EFBIG: "files may not be so large here (ulimit -f); name another place",
    errno.EROFS: "nothing can be written on this disk; name a place on another",
    errno.EACCES: "no permission; name a folder that is yours",
    errno.EPERM: "no permission; name a folder that is yours",
    errno.ENOENT: "there is no such folder; make it first",
    errno.ENOTDIR: "a part of the path is no folder; name another place",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
    errno.EIO: "the disk reports an error; name a place on another",
}
_cleared: set[str] = set()


@contextmanager
def whole_file(path: str | os.PathLike, *, keep_interrupted: bool = False) -> Iterator[Path]:
    """Yield where to write a file that takes the place of `path` at the end of the `with` block.

    An error inside the block leaves what was there before. So does a block that wrote nothing.

    Parameters
    ----------
    path : path-like
        Of a link the file that it leads to.
    keep_interrupted : bool
        Let Ctrl-C end the file where it is, for files that are of use in part.

    Raises
    ------
    WriteError
        If the disk refuses; the message names the file and what can be done.
    """
    wanted = Path(path)
    with _explained(wanted):
        place = Path(os.path.realpath(wanted))
        if place.exists() and not place.is_file():
            kind = "a folder" if place.is_dir() else "no regular file"
            raise WriteError(f"{wanted}: is {kind}; name a file to write")
        with _hidden_folder(place.parent) as folder:
            temporary = folder / place.name
            try:
                yield temporary
            except KeyboardInterrupt:
                if keep_interrupted:
                    _move_file(temporary, place)
                raise
            _move_file(temporary, place)


@contextmanager
def whole_folder(path: str | os.PathLike) -> Iterator[Path]:
    """Yield a folder to write into, which becomes `path` at the end of the `with` block.

    If there is such a folder already, its other files stay, and those that were written take their places,
    one right after the other, when all of them are complete.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    WriteError
        If the disk refuses; the message names the folder and what can be done.
    """
    wanted = Path(path)
    with _explained(wanted):
        place = Path(os.path.realpath(wanted))
        if place.exists() and not place.is_dir():
            raise WriteError(f"{wanted}: is a file; name a folder to write into")
        place.parent.mkdir(parents=True, exist_ok=True)
        with _hidden_folder(place.parent) as folder:
            temporary = folder / (place.name or "results")
            temporary.mkdir()
            yield temporary
            files = sorted(file for file in temporary.rglob("*") if file.is_file())
            for file in files:
                _sync(file)
            if not place.exists():
                os.rename(temporary, place)
            for file in files if temporary.exists() else []:
                target = place / file.relative_to(temporary)
                target.parent.mkdir(parents=True, exist_ok=True)
                os.replace(file, target)
            _sync_folder(place)
            _sync_folder(place.parent)


def write_whole(path: str | os.PathLike, data: bytes) -> None:
    """Write a file whole or not at all: an interruption leaves the file that was there before."""
    with whole_file(path) as temporary, _explained(Path(path)):
        temporary.write_bytes(data)
        if not data:  # `whole_file` takes an empty file for one that was not written
            _move(temporary, Path(os.path.realpath(path)))


def check_file_place(path: str | os.PathLike) -> None:
    """Complain of a place where no file can be written, before the work on its contents begins."""
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path}: is a folder; name a file to write")
    if not path.parent.is_dir():
        raise DataError(f"{path.parent}: no such folder to write into")
    _check_rights(path, path.parent)


def check_folder_place(path: str | os.PathLike) -> None:
    """Complain of a place where no folder can be written, before the work on its contents begins."""
    path = Path(path)
    above = next((folder for folder in (path, *path.absolute().parents) if folder.exists()), Path.cwd())
    if not above.is_dir():
        raise DataError(f"{above}: is a file; name a folder to write into")
    _check_rights(path, above)


def _check_rights(path: Path, folder: Path) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        raise DataError(f"{path}: cannot be written ({_ADVICE[errno.EACCES]})")


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what the disk says into one line with the name of the file, and what can be done."""
    try:
        yield
    except OSError as error:
        foreign = error.filename is not None and PREFIX not in os.fspath(error.filename)
        if foreign and os.fspath(error.filename) not in (os.fspath(path), os.path.realpath(path.parent)):
            raise  # of another file, such as one that is read inside the block
        advice = _ADVICE.get(error.errno or 0)
        reason = f"{error.strerror or error}" + (f": {advice}" if advice else "")
        raise WriteError(f"{path}: cannot be written ({reason}); what was there is as it was") from None


@contextmanager
def _hidden_folder(parent: Path) -> Iterator[Path]:
    """A folder for what is not complete, which other processes know to be in use."""
    if os.fspath(parent) not in _cleared:  # once, as a folder may hold many files
        _cleared.add(os.fspath(parent))
        clear_leftovers(parent)
    with tempfile.TemporaryDirectory(dir=parent, prefix=PREFIX, ignore_cleanup_errors=True) as folder:
        lock = FileLock(Path(folder) / _LOCK)
        with contextlib.suppress(NotImplementedError):  # a disk without locks: then nobody clears it
            lock.acquire()
        try:
            yield Path(folder)
        finally:
            lock.release()


def clear_leftovers(parent: Path) -> None:
    """Remove the hidden folders in `parent` that were left by processes which were killed."""
    with contextlib.suppress(OSError):
        for folder in [Path(entry.path) for entry in os.scandir(parent) if entry.name.startswith(PREFIX)]:
            with contextlib.suppress(OSError, NotImplementedError, Timeout):
                lock = folder / _LOCK
                if not lock.exists() and time.time() - folder.stat().st_mtime < _NEW_S:
                    continue
                with FileLock(lock, timeout=0):
                    shutil.rmtree(folder, ignore_errors=True)


def _move_file(temporary: Path, path: Path) -> None:
    if temporary.exists() and temporary.stat().st_size:
        _move(temporary, path)


def _move(temporary: Path, path: Path) -> None:
    """Put a file in its place once it is on the disk, with the rights of the file that was there."""
    if path.exists():
        os.chmod(temporary, path.stat().st_mode & 0o777)
    _sync(temporary)
    os.replace(temporary, path)
    _sync_folder(path.parent)


def _sync(path: Path) -> None:
    with open(path, "rb+") as stream:
        os.fsync(stream.fileno())


def _sync_folder(path: Path) -> None:
    """So that the new name, too, survives a power cut; Windows has no such thing."""
    if os.name == "posix":
        handle = os.open(path, os.O_RDONLY)
        try:
            with contextlib.suppress(OSError):  # some disks cannot
                os.fsync(handle)
        finally:
            os.close(handle)
