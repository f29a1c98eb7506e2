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
ROW_BYTES = 24  # of a row of any table: its target, its weight and its place
COLUMN_BYTES = 100
TIMES_READ = 10
DEFAULT_WORK = 200_000_000
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


class TooMuchError(DataError):
    """A file asks for more than its budget."""


def memory_budget(path: str | os.PathLike) -> int:
    """Return how many bytes the contents of a file or folder may take in memory."""
    stated = _stated(MEMORY)
    if stated is not None:
        return stated
    return max(DEFAULT_MEMORY, TIMES_FILE_SIZE * _size_on_disk(path))


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
    TooMuchError
        If it is; the message names the environment variable that raises the budget.
    """
    if n_bytes <= DEFAULT_MEMORY and _stated(MEMORY) is None:
        return  # without a look at what may be a large folder
    budget = memory_budget(path)
    if n_bytes > budget:
        raise TooMuchError(
            f"{Path(path)}: {what} would take {_readable(n_bytes)}, more than the {_readable(budget)} that "
            f"this file may take; {MEMORY}=16G, for example, accepts more"
        )


def check_table(path: str | os.PathLike, n_rows: int, n_features: int, itemsize: int) -> None:
    """Refuse a table on disk that claims far more rows or columns than its file can hold.

    A table that is read in blocks may be larger than the budget of its file. But a few bytes can claim one
    of any size, in formats where what is not stored has a value all the same.

    Parameters
    ----------
    path : path-like
    n_rows, n_features, itemsize : int
        What is claimed; `itemsize` in bytes.
    """
    size = f"a table of {n_rows} x {n_features}"
    check_memory(path, ROW_BYTES * n_rows + COLUMN_BYTES * n_features, f"what is kept of {size}")
    check_memory(path, n_rows * n_features * itemsize // TIMES_READ, f"a tenth of {size}")


def _size_on_disk(path: str | os.PathLike) -> int:
    """Bytes of a file, or of all files of a folder."""
    if not os.path.isdir(path):
        return os.stat(path).st_size
    return sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())


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
