"""JSON files of label tools: read whole."""

import json
from pathlib import Path
from typing import Any

from ...features.errors import DataError
from ..limits import check_memory
from ..numbers import BadRowError

BYTES_PER_CHARACTER = 12
"""About what a character of JSON takes in memory, against the budget of `limits`."""


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Raises
    ------
    DataError
        If it cannot be read, is too large, or not JSON.
    """
    try:
        check_memory(path, BYTES_PER_CHARACTER * path.stat().st_size, "its JSON")
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except DataError:
        raise
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    # A ValueError is also what a number of thousands of digits gives.
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not JSON ({error})") from None


def file_name(text: Any) -> str:
    """The last part of a path or address, of any system.

    Raises
    ------
    BadRowError
        If there is none.
    """
    name = str(text or "").replace("\\", "/").rsplit("/", 1)[-1].split("?", 1)[0]
    if not name:
        raise BadRowError(f"names no picture: {text!r}")
    return name
