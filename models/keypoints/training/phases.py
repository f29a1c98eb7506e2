"""Seconds and work by phase of a training run."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

UNITS = {"scan": "windows", "annealing": "visits"}
"""What is counted: windows scanned, those of all keypoints together, and (sample, feature) visits."""


class Phases:
    """A stop-watch with named phases.

    Attributes
    ----------
    seconds : dict of str to float
    work : dict of str to int
        What was done in a phase, in the unit that `UNITS` names for it.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.work: dict[str, int] = defaultdict(int)

    @contextmanager
    def measure(self, phase: str) -> Iterator[None]:
        """Add the time spent inside to a phase."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] += time.perf_counter() - started

    def add(self, other: "Phases") -> None:
        """Add what somebody else has measured."""
        for phase, seconds in other.seconds.items():
            self.seconds[phase] += seconds
        for phase, work in other.work.items():
            self.work[phase] += work

    def rates(self) -> dict[str, float]:
        """Return the work done in a second of each phase that counts it."""
        return {
            phase: done / self.seconds[phase]
            for phase, done in self.work.items()
            if done and self.seconds.get(phase, 0) > 0
        }
