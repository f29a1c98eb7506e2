"""`annealed info`: what a model file holds."""

import json
from pathlib import Path
from typing import Annotated

import typer


def command(
    model: Annotated[Path, typer.Argument(help="Model file, or the name of a model that ships.")],
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what a model file holds: kind, parameters, data and scores recorded at training."""
    from ..models.store import read_model_file, resolve_model_path

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
        print(f"{name}: {value if isinstance(value, str) else json.dumps(value, sort_keys=True)}")
