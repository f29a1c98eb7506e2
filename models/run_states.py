"""States of annealing runs in a folder, so that a run that was ended goes on to the same bits.

    run/
      fit-00.npz        state of the first annealing run, after the last iteration that was kept
      fit-01.npz        state of the second
      ...

A state is a few numbers a feature still kept. Rows are not in it: they are read again. Each file is written
whole or not at all.
"""

import hashlib
import io
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from ..features.errors import DataError
from .cluster.lost import WorkersLostError
from .losses import Loss
from .whole_files import write_whole

LOCK_FILE = ".lock"
EVERY_S = 1.0  # a state is written at most so often: bits do not depend on which was the last
_MARK = "of_problem"

_states: ContextVar["RunStates | None"] = ContextVar("annealed_run_states", default=None)


@contextmanager
def resumable(folder: str | PathLike, *, resume: bool = False) -> Iterator[None]:
    """Keep the states of the fits within this context in a folder, and go on from those that are there.

    Whatever ended the fits before, the same fits in the same order end with the same models. Only fits of one
    size k keep their states; the others begin again.

    Parameters
    ----------
    folder : path-like
        Made if it does not exist.
    resume : bool
        Whether to go on from what is there; otherwise the folder must hold no states.

    Examples
    --------
    >>> import annealed
    >>> with annealed.resumable("run"), annealed.distributed("tcp://10.0.0.1:8786"):  # doctest: +SKIP
    ...     annealed.FSAClassifier(k=100).fit("table/", "target")
    """
    states = RunStates(folder, resume=resume)
    token = _states.set(states)
    try:
        yield
    except WorkersLostError as error:
        raise WorkersLostError(f"{error}; {states.describe()}") from None
    finally:
        _states.reset(token)
        states.release()


def current_states() -> "RunStates | None":
    """Return the states of the innermost context, or None."""
    return _states.get()


class RunStates:
    """The states in one folder, counted in the order in which runs begin; see `resumable`."""

    def __init__(self, folder: str | PathLike, *, resume: bool) -> None:
        self.folder = Path(folder)
        self._n_begun = 0
        if resume and not self.folder.is_dir():
            raise DataError(f"{self.folder}: no run to resume")
        self._made = not self.folder.exists()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"{self.folder}: cannot be made ({error.strerror})") from None
        self._lock = FileLock(self.folder / LOCK_FILE)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise DataError(f"{self.folder}: another process works on this run; wait for its end") from None
        except (OSError, NotImplementedError):
            pass  # a disk without locks
        if not resume and any(self.folder.glob("fit-*.npz")):
            self.release()
            raise DataError(
                f"{self.folder}: holds a run already; continue it with --resume (resume=True) or name "
                "another folder"
            )

    def begin(self, problem: tuple[Any, ...], loss: Loss) -> "RunState":
        """Return the state of the next run, of a problem that is told apart by these values and its loss."""
        path = self.folder / f"fit-{self._n_begun:02d}.npz"
        self._n_begun += 1
        return RunState(path, _mark(problem, loss))

    def describe(self) -> str:
        """Say how a run goes on."""
        return (
            f"its state is kept in {self.folder}: the same command with --resume (in Python: "
            "annealed.resumable(folder, resume=True)) goes on from there"
        )

    def release(self) -> None:
        """Let other processes continue the run; a folder that was made for nothing goes."""
        self._lock.release()
        if self._made and not any(self.folder.glob("fit-*.npz")):
            with suppress(OSError):  # something else may be there
                (self.folder / LOCK_FILE).unlink(missing_ok=True)
                self.folder.rmdir()


class RunState:
    """The file of one run.

    Attributes
    ----------
    found : dict of str to ndarray, or None
        What the file held when the run began.
    """

    def __init__(self, path: Path, mark: str) -> None:
        self.path = path
        self.found: dict[str, np.ndarray] | None = None
        self._mark = mark
        self._written = 0.0
        if path.exists():
            self.found = self._read()

    def write(self, state: dict[str, np.ndarray]) -> None:
        """Write the state, unless one was written just before."""
        now = time.monotonic()
        if self._written and now - self._written < EVERY_S:
            return
        content = io.BytesIO()
        np.savez(content, allow_pickle=False, **{**state, _MARK: np.array(self._mark)})
        write_whole(self.path, content.getvalue())
        self._written = now

    def _read(self) -> dict[str, np.ndarray]:
        try:
            with np.load(self.path, allow_pickle=False) as file:
                state = dict(file)
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
            raise DataError(f"{self.path}: not a state of a run ({error}); delete it to begin anew") from None
        if str(state.pop(_MARK, "")) != self._mark:
            raise DataError(
                f"{self.path}: is of a run on other data or with other parameters; resume it with the same, "
                "or name another folder"
            )
        return state


def _mark(problem: tuple[Any, ...], loss: Loss) -> str:
    """Return a hash of what a run depends on, but for the values of the features."""
    digest = hashlib.sha256(repr(problem).encode())
    for name in sorted(vars(loss)):
        value = getattr(loss, name)
        if isinstance(value, np.ndarray):
            digest.update(name.encode() + np.ascontiguousarray(value).tobytes())
    return digest.hexdigest()
