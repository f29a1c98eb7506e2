"""Progress on stderr: one bar for the whole run at a terminal, a line now and then in a file or a pipe.

A run may say beforehand which stages it will have. Then its bar covers all of them, and how long it will take
is foretold from the stages of the same kind that are over.
"""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from .status import one_line
from .wording import count, duration

LINE_EVERY_S = 15.0
"""Where there is no terminal, a line is printed so often at most; shorter work is silent."""


@dataclass(frozen=True)
class Stage:
    """A part of a run.

    Attributes
    ----------
    phase : str
        As it is reported.
    label : str
        What it is a part of, such as ``round 2 of 4``; may be empty.
    weight : float
        Rough time it takes, in any unit, for as long as no stage of its kind was met.
    """

    phase: str
    label: str = ""
    weight: float = 1.0

    @property
    def kind(self) -> str:
        """Stages of one kind take about as long: those whose phase begins with the same word."""
        return self.phase.split(" ")[0].rstrip(",")


class Timeline:
    """How far a run is, and how long it will still take.

    Parameters
    ----------
    stages : sequence of Stage
        All that are to come; may be empty.
    now : callable
        Seconds on some clock.
    """

    def __init__(self, stages: Sequence[Stage] = (), now: Callable[[], float] = time.monotonic) -> None:
        self._planned = list(stages)
        self._now = now
        self._began = self._stage_began = now()
        self._seconds: dict[str, list[float]] = {}
        self._place = -1
        self.stage = Stage("")
        self.done, self.total = 0, 0

    def update(self, phase: str, done: int, total: int) -> bool:
        """Note how far a phase is; return whether a stage has begun with it."""
        begins = phase != self.stage.phase or done < self.done
        if begins:
            if self.stage.phase:
                self._seconds.setdefault(self.stage.kind, []).append(self._now() - self._stage_began)
            self._stage_began = self._now()
            self._place = self._next_place(phase)
            planned = self._planned[self._place] if self._place >= 0 else Stage("")
            self.stage = planned if planned.phase == phase else Stage(phase, planned.label)
        self.done, self.total = done, total
        return begins

    def _next_place(self, phase: str) -> int:
        """Number of the next planned stage with that phase, or where the run is if there is none."""
        later = range(self._place + 1, len(self._planned))
        return next((i for i in later if self._planned[i].phase == phase), self._place)

    @property
    def gone(self) -> float:
        """Seconds since the beginning."""
        return self._now() - self._began

    @property
    def left(self) -> float | None:
        """Seconds that will still pass, or None while nothing tells."""
        stage_gone, share = self._now() - self._stage_began, self.done / max(self.total, 1)
        expected = [self._expected(stage) for stage in self._planned[self._place + 1 :]]
        if share >= 0.05:
            here: float | None = stage_gone * (1 - share) / share
        else:
            usual = self._expected(self.stage)
            here = None if usual is None else max(usual - stage_gone, 0.0)
        if here is None or None in expected:
            return None
        return here + sum(seconds for seconds in expected if seconds is not None)

    @property
    def share(self) -> float:
        """Part of the whole run that is over, as far as can be told, in 0..1."""
        left = self.left
        if left is None:
            return 0.0
        return self.gone / max(self.gone + left, 1e-9)

    def _expected(self, stage: Stage) -> float | None:
        """Seconds that a stage will take: as long as others of its kind, else by its weight."""
        if stage.kind in self._seconds:
            return sum(self._seconds[stage.kind]) / len(self._seconds[stage.kind])
        over = self._planned[: max(self._place, 0)]
        seconds = sum(map(sum, self._seconds.values()))
        return stage.weight * seconds / sum(s.weight for s in over) if over and seconds else None

    def describe(self) -> str:
        """Say where the run is, in a few words."""
        label = f"{self.stage.label}: " if self.stage.label else ""
        return f"{label}{self.stage.phase} {self.done} of {self.total}"

    def describe_times(self) -> str:
        """Say how long it has taken, and will take."""
        left = self.left
        return f"{duration(self.gone)} gone" + ("" if left is None else f", about {duration(left)} left")


class Bars:
    """Says how far a run is.

    A context manager. At a terminal there is one bar; elsewhere a line is printed when a part of the run is
    over, at most every 15 seconds.

    Parameters
    ----------
    stages : sequence of Stage
        Those that the run will have, if they are known.
    log : Path, optional
        File that gets a line for every stage.
    """

    def __init__(
        self,
        stages: Sequence[Stage] = (),
        *,
        log: Path | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timeline = Timeline(stages, now)
        self._log = log
        self._now = now
        self._last_line = now()
        self._listening = ExitStack()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.percentage:>3.0f} %  {task.fields[times]}"),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
            expand=True,
        )
        self._task = self._progress.add_task("", total=1.0, visible=False, times="")

    def __enter__(self) -> "Bars":
        from numba.core.event import install_listener

        from .compiling import CompilationNotice

        self._progress.start()
        self._listening.enter_context(install_listener("numba:compile", CompilationNotice(self._say)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.close()
        self._progress.stop()
        if self._timeline.stage.phase:
            ended = "done" if kind is None else f"ended by {kind.__name__}"
            self._write_log(f"{ended} after {duration(self._timeline.gone)}")

    def update(self, phase: str, done: int, total: int) -> None:
        """Say how far a phase is; a new name, or a phase that starts again, is a new stage."""
        over = self._timeline.describe() if self._timeline.stage.phase else ""
        if self._timeline.update(phase, done, total) and over:
            self._write_log(f"{over}; {self._timeline.describe_times()}")
        line, times = self._timeline.describe(), self._timeline.describe_times()
        self._progress.update(
            self._task, description=line, completed=self._timeline.share, times=times, visible=True
        )
        if self._progress.disable and self._now() - self._last_line >= LINE_EVERY_S:
            self._last_line = self._now()
            warn(f"{line}; {times}")

    def _say(self, message: str) -> None:
        if self._progress.disable:
            warn(message)
        else:
            self._progress.console.print(message)

    def _write_log(self, line: str) -> None:
        if self._log is not None and self._log.parent.is_dir():
            with self._log.open("a", encoding="utf-8") as file:
                file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}\n")


def warn(message: str) -> None:
    """Print one line on stderr."""
    print(f"annealed: {one_line(message)}", file=sys.stderr)


def warn_of_problems(problems: tuple[str, ...] | list[str], shown: int = 10) -> None:
    """Print problems one per line, and how many more there are."""
    for problem in problems[:shown]:
        warn(problem)
    if len(problems) > shown:
        warn(f"... and {count(len(problems) - shown, 'more problem')} of this kind")
