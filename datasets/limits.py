"""How much memory and work a file may ask for, checked before either is spent.

A file of a few bytes can claim a table of gigabytes. What it claims is therefore compared with a budget: by
default half a gigabyte, or twenty times its own size where that is more, so that files which are large in
earnest pass. Two environment variables set other budgets:

- `ANNEALED_INPUT_MEMORY`: bytes, with K, M or G for powers of 1024 (`4G`);
- `ANNEALED_INPUT_WORK`: steps of a database's queries.
"""

import os
from pathlib import Path

from ..features.errors import DataError, ParameterError

MEMORY = "ANNEALED_INPUT_MEMORY"
WORK = "ANNEALED_INPUT_WORK"
DEFAULT_MEMORY = 512 * 2**20
TIMES_FILE_SIZE = 20
DEFAULT_WORK = 200_000_000
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


def memory_budget(path: str | os.PathLike) -> int:
    """Return how many bytes the contents of a file may take in memory."""
    stated = _stated(MEMORY)
    if stated is not None:
        return stated
    return max(DEFAULT_MEMORY, TIMES_FILE_SIZE * os.stat(path).st_size)


def work_budget() -> int:
    """Return how many steps the queries on a database may take."""
    stated = _stated(WORK)
    return DEFAULT_WORK if stated is None else stated


def check_memory(path: str | os.PathLike, n_bytes: int, what: str) -> None:
    """Refuse what would take more memory than the budget of its file.

    Parameters
    ----------
    path : path-like
        The file, which must exist.
    n_bytes : int
        About how much is needed; of any size.
    what : str
        Begins the message: "a table of 3 x 5000000".

    Raises
    ------
    DataError
        If it is too much; the message names the environment variable that raises the budget.
    """
    budget = memory_budget(path)
    if n_bytes > budget:
        raise DataError(
            f"{Path(path)}: {what} would take {_readable(n_bytes)}, more than the {_readable(budget)} that "
            f"this file may take; {MEMORY}=16G, for example, accepts more"
        )


def _stated(variable: str) -> int | None:
    """The value of an environment variable, None if it is not set."""
    text = os.environ.get(variable, "").strip().upper()
    if not text:
        return None
    number, unit = (text[:-1], _UNITS[text[-1]]) if text[-1] in _UNITS else (text, 1)
    if not (number.isascii() and number.isdecimal() and len(number) < 19):
        raise ParameterError(f"{variable} is {text!r}; accepted are whole numbers, perhaps with K, M or G")
    return int(number) * unit


def _readable(n_bytes: int) -> str:
    """A number of bytes in words."""
    if n_bytes >= 2**60:  # too large for a float, perhaps
        return "more than 2^60 bytes"
    for unit, name in ((2**30, "GB"), (2**20, "MB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.1f} {name}"
    return f"{n_bytes} bytes"
