"""YAML files that hold settings, read as plain values only."""

from pathlib import Path
from typing import Any

import yaml

from ...features.errors import DataError

MAX_BYTES = 10_000_000


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML file whose top is a mapping.

    Raises
    ------
    DataError
        If it cannot be read, is larger than `MAX_BYTES`, is not YAML or something else than a mapping.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"{path}: larger than {MAX_BYTES // 10**6} MB, which no file of settings is")
        document = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError, ValueError) as error:
        raise DataError(f"{path}: not YAML ({error})") from None
    if not isinstance(document, dict):
        raise DataError(f"{path}: holds no settings; expected are lines of 'name: value'")
    return {str(key): value for key, value in document.items()}
