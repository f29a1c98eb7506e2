"""Numbers that are written as text, turned into numbers in one place."""

import math
from collections.abc import Iterable

import numpy as np

SHOWN = 40


class BadRowError(ValueError):
    """A part of a file that cannot be used: it is left out and reported, or ends the reading."""


def finite_number(text: str, what: str) -> float:
    """Return the number that a text is.

    Parameters
    ----------
    text : str
        In the digits of ASCII, perhaps with blanks around it.
    what : str
        For the message.

    Raises
    ------
    BadRowError
        If it is none, or infinite.
    """
    try:
        value = float(text if _plain(text) else "")
    except ValueError:
        raise BadRowError(f"{what} is {text[:SHOWN]!r}, expected a number") from None
    if not math.isfinite(value):
        raise BadRowError(f"{what} is {text[:SHOWN]!r}, expected a finite number")
    return value


def whole_number(text: str, what: str, least: int, most: int) -> int:
    """Return the whole number that a text is, from `least` to `most`; otherwise raise a BadRowError."""
    try:
        value = int(text if _plain(text) else "")
    except ValueError:
        value = least - 1
    if not least <= value <= most:
        raise BadRowError(f"{what} is {text[:SHOWN]!r}, expected a whole number, {least} to {most}")
    return value


def finite_numbers(texts: Iterable[str], what: str) -> np.ndarray:
    """Return the numbers that several texts are, float64; see `finite_number`."""
    return np.array([finite_number(text, what) for text in texts], dtype=np.float64)


def _plain(text: str) -> bool:
    """Whether a text has none of what Python accepts beyond usual numbers: other alphabets, underscores."""
    return text.isascii() and "_" not in text
