"""Exit statuses, and the one place that turns errors into a line and a status."""

import functools
import sys
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import typer

from ..features.errors import AnnealedError

OPENCV_HELP = (
    "OpenCV cannot be loaded ({error}). Install the system library it names, or run: "
    "pip uninstall -y opencv-python && pip install opencv-python-headless"
)


class ExitStatus(IntEnum):
    """What the process returns to the shell."""

    OK = 0
    ERROR = 1
    BAD_INPUT = 2
    INTERRUPTED = 130


def printable(text: str) -> str:
    """Return a text for a terminal: what is no letter, sign or blank, such as a control code, is written out.

    Names come from files, and a file may hold codes that a terminal would obey, or halves of characters that
    cannot be printed at all.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def one_line(text: str) -> str:
    """Return a text as one line for a terminal."""
    return printable(" ".join(text.split()))


def exit_with(message: str, status: ExitStatus) -> typer.Exit:
    """Print one line on stderr and return the exception that ends the command."""
    print(f"annealed: {one_line(message)}", file=sys.stderr)
    return typer.Exit(int(status))


def report_errors(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command so that whatever a user can cause ends in one line, never in a traceback.

    A bug still shows its traceback: only the package's own errors, the operating system's and an
    OpenCV that lacks system libraries are expected here.
    """

    @functools.wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except AnnealedError as error:
            raise exit_with(str(error), ExitStatus.BAD_INPUT) from None
        except KeyboardInterrupt:
            raise exit_with("interrupted", ExitStatus.INTERRUPTED) from None
        except BrokenPipeError:
            raise
        except OSError as error:
            raise exit_with(str(error), ExitStatus.BAD_INPUT) from None
        except ImportError as error:
            if "cv2" not in str(error) and ".so" not in str(error):
                raise
            raise exit_with(OPENCV_HELP.format(error=error), ExitStatus.ERROR) from None

    return guarded
