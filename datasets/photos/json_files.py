"""JSON files of label tools: read whole, and looked at with care."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...features.errors import DataError
from ..limits import check_memory
from .photo_rows import BadRowError

BYTES_PER_CHARACTER = 12
"""About what a character of JSON takes in memory, against the budget of `limits`."""

BAD_ITEM = (BadRowError, TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError)
"""What an item of another form than expected raises; it is left out and reported."""


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


def number(values: Mapping[str, Any], key: str) -> float:
    """Return a finite number of an item.

    Raises
    ------
    BadRowError
        If it is missing, no number or not finite.
    """
    value = values.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadRowError(f"{key} is {value!r}, expected a number")
    return float(value)


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
