"""`annealed info`: what a model file holds, or what this installation is."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

LIBRARIES = (
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "scikit-image",
    "opencv-python",
    "opencv-python-headless",
)

LONGEST = 200
"""Characters of a list that is printed as it is."""


def command(
    model: Annotated[
        Path | None,
        typer.Argument(help="Model file, or the name of a model that ships; without it, this installation."),
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what a model file holds: kind, parameters, data and scores recorded at training.

    Without a model: versions of the program and its libraries, threads, models that ship, and where compiled
    code is kept.
    """
    from ..status import printable

    description = _installation() if model is None else _model(model)
    if json_output:
        print(json.dumps(description, indent=1, sort_keys=True))
        return
    for name, value in description.items():
        for line in _lines(name, value):
            print(printable(line))


def _model(model: Path) -> dict[str, Any]:
    from ...models.model_files import read_model_file, resolve_model_path

    path = resolve_model_path(model)
    file = read_model_file(path)
    return {
        "file": str(path),
        "kind": file.kind,
        **file.metadata,
        "arrays": {name: f"{array.dtype}{list(array.shape)}" for name, array in file.arrays.items()},
    }


def _installation() -> dict[str, Any]:
    import os
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from ...features import threads
    from ...models.model_files import SHIPPED

    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "annealed": version("annealed"),
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "folder": str(Path(threads.__file__).parents[1]),
        "threads": threads.get_num_threads(),
        "processors": os.cpu_count(),
        "models": sorted(path.stem for path in SHIPPED.glob("*.safetensors")),
        "compiled code": os.environ.get("NUMBA_CACHE_DIR") or "beside the sources, or in numba's user folder",
        "libraries": versions,
    }


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
