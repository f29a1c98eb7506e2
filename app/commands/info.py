"""`annealed info`: what a model file holds."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

LONGEST = 200
"""Characters of a list that is printed as it is."""


def command(
    model: Annotated[Path, typer.Argument(help="Model file, or the name of a model that ships.")],
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what a model file holds: kind, parameters, data and scores recorded at training."""
    from ...models.model_files import read_model_file, resolve_model_path
    from ..status import printable

    path = resolve_model_path(model)
    file = read_model_file(path)
    description = {
        "file": str(path),
        "kind": file.kind,
        **file.metadata,
        "arrays": {name: f"{array.dtype}{list(array.shape)}" for name, array in file.arrays.items()},
    }
    if json_output:
        print(json.dumps(description, indent=1, sort_keys=True))
        return
    for name, value in description.items():
        for line in _lines(name, value):
            print(printable(line))


def _lines(name: str, value: Any) -> Iterator[str]:
    """One line for each value, however deep; of a long list only how long it is, --json has it all."""
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _lines(f"{name}.{key}", inner)
        return
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    if isinstance(value, list) and len(text) > LONGEST:
        text = f"{len(value)} values"
    yield f"{name}: {text}"
