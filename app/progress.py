"""Progress on stderr: bars for a person at a terminal, silence for a file or a pipe."""

import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


class Bars:
    """A bar for the phase that is under way; phases that are over leave their bar behind.

    A context manager. Nothing is written unless stderr is a terminal.
    """

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description:<28}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
        )
        self._phase = ""
        self._task: TaskID | None = None

    def __enter__(self) -> "Bars":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def update(self, phase: str, done: int, total: int) -> None:
        """Say how far a phase is; a new name, or a phase that starts again, begins a new bar."""
        if phase != self._phase or self._task is None or done == 0:
            self._phase = phase
            self._task = self._progress.add_task(phase, total=total)
        self._progress.update(self._task, completed=done, total=total)


def warn(message: str) -> None:
    """Print one line on stderr."""
    print(f"annealed: {' '.join(message.split())}", file=sys.stderr)


def warn_of_problems(problems: tuple[str, ...] | list[str], shown: int = 10) -> None:
    """Print problems one a line, and how many more there are."""
    for problem in problems[:shown]:
        warn(problem)
    if len(problems) > shown:
        warn(f"... and {len(problems) - shown} more problems of this kind")
