"""Seconds and work by phase of a training run."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager


class Phases:
    """A stop-watch with named phases.

    Attributes
    ----------
    seconds : dict of str to float
    work : dict of str to int
        What was done in a phase, in the phase's own unit (photos, windows, visits).
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
