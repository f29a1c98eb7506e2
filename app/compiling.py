"""Says that kernels are being compiled, which happens on first use and may take a while."""

import time
from collections.abc import Callable

from numba.core.event import Event, Listener

NOTICE_AFTER_S = 1.0
"""Seconds of compilation after which it is mentioned."""

NOTICE = "compiling, once on this machine: some 20 s of processor time"


class CompilationNotice(Listener):
    """Says once that kernels are being compiled, when that has taken longer than a moment.

    Parameters
    ----------
    say : callable
        Called with the message.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said = False
        self._depth = 0  # compilations are nested
        self._began = 0.0
        self._seconds = 0.0

    def on_start(self, event: Event) -> None:
        """Hear that a compilation begins."""
        if self._depth == 0:
            self._began = time.perf_counter()
        self._depth += 1
        self._notice(self._seconds + time.perf_counter() - self._began)

    def on_end(self, event: Event) -> None:
        """Hear that a compilation ends."""
        self._depth -= 1
        seconds = self._seconds + time.perf_counter() - self._began
        if self._depth == 0:
            self._seconds = seconds
        self._notice(seconds)

    def _notice(self, seconds: float) -> None:
        if seconds > NOTICE_AFTER_S and not self._said:
            self._said = True
            self._say(NOTICE)
