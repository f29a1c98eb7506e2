"""YAML files that hold settings, read as plain values only."""

from pathlib import Path
from typing import Any

import yaml

from ...features.errors import DataError

MAX_BYTES = 1_000_000  # some ten seconds


class _PlainLoader(yaml.SafeLoader):
    """Reads plain values; merged mappings ("<<"), which can grow to any size, are refused."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
            raise yaml.constructor.ConstructorError(problem="merged mappings are not read")


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
        document = yaml.load(path.read_text(encoding="utf-8-sig"), _PlainLoader)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError, ValueError) as error:
        raise DataError(f"{path}: not YAML ({error})") from None
    if not isinstance(document, dict):
        raise DataError(f"{path}: holds no settings; expected are lines of 'name: value'")
    return {key: value for key, value in document.items() if isinstance(key, str)}
