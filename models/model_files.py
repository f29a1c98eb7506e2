"""Model files: arrays and JSON metadata in one `.safetensors` file (no code is ever executed).

Layout of the metadata, one JSON document under the key `annealed`:
`{"format_version": 1, "kind": "keypoint-detector", ...whatever the kind records...}`.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from ..features.errors import DataError
from .whole_files import write_whole

FORMAT_VERSION = 1
METADATA_KEY = "annealed"
MAX_FILE_BYTES = 1 << 30
SHIPPED = Path(__file__).parent / "shipped"

# kind -> the class that reads it back, imported when a file of that kind is loaded
LOADERS = {
    "estimator": "annealed.models.estimators.persistence:load",
    "keypoint-detector": "annealed.models.keypoints.detector:KeypointDetector.from_model_file",
    "motion-ranker": "annealed.models.motion.motion_ranker:MotionRanker.from_model_file",
}


@dataclass(frozen=True)
class ModelFile:
    """The checked contents of a model file.

    Attributes
    ----------
    kind : str
        Which class the file belongs to, a key of `LOADERS`.
    arrays : dict of str to ndarray
    metadata : dict
        JSON values: training configuration, seed, data summary, scores.
    """

    kind: str
    arrays: dict[str, np.ndarray]
    metadata: dict[str, Any]

    def array(
        self, name: str, *, dtype: type | np.dtype, shape: tuple[int | None, ...], finite: bool = True
    ) -> np.ndarray:
        """Return one array after checking its presence, dtype, shape (None: any length) and values."""
        if name not in self.arrays:
            raise DataError(f"model file: array {name!r} is missing (found {sorted(self.arrays)})")
        array = self.arrays[name]
        if array.dtype != np.dtype(dtype):
            raise DataError(f"model file: array {name!r} is {array.dtype}, expected {np.dtype(dtype)}")
        fits = len(array.shape) == len(shape) and all(
            want is None or have == want for have, want in zip(array.shape, shape, strict=True)
        )
        if not fits:
            raise DataError(f"model file: array {name!r} has shape {array.shape}, expected {shape}")
        if finite and np.issubdtype(array.dtype, np.floating) and not np.isfinite(array).all():
            raise DataError(f"model file: array {name!r} has values that are not finite")
        return array


def write_model_file(
    path: str | os.PathLike, kind: str, arrays: dict[str, np.ndarray], metadata: dict[str, Any]
) -> None:
    """Write a model file, atomically.

    Parameters
    ----------
    path : path-like
    kind : str
        A key of `LOADERS`.
    arrays : dict of str to ndarray
    metadata : dict
        JSON-serialisable; must not hold the keys `format_version` and `kind`.
    """
    if kind not in LOADERS:
        raise ValueError(f"kind must be one of {sorted(LOADERS)}, got {kind!r}")
    document = {"format_version": FORMAT_VERSION, "kind": kind, **metadata}
    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_whole(path, save(tensors, {METADATA_KEY: json.dumps(document, sort_keys=True)}))


def read_model_file(path: str | os.PathLike, kind: str | None = None) -> ModelFile:
    """Read and check a model file.

    Raises
    ------
    DataError
        If the file is missing, not a model file, of another format version or of another kind.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such model file")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise DataError(f"{path}: larger than {MAX_FILE_BYTES} bytes, not a model of this program")
    try:
        with safe_open(path, framework="numpy") as file:
            text = (file.metadata() or {}).get(METADATA_KEY)
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, OSError, TypeError, ValueError, AttributeError) as error:
        # An AttributeError names a number type that NumPy does not have.
        raise DataError(f"{path}: not a safetensors model file ({error})") from None
    document = _parse_metadata(path, text)
    found = document.pop("kind")
    if kind is not None and found != kind:
        raise DataError(f"{path}: holds a {found}, expected a {kind}")
    return ModelFile(found, arrays, document)


def _parse_metadata(path: Path, text: str | None) -> dict[str, Any]:
    if text is None:
        raise DataError(f"{path}: a safetensors file, but not written by annealed")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: broken metadata ({error})") from None
    kind = document.get("kind") if isinstance(document, dict) else None
    if not isinstance(kind, str) or kind not in LOADERS:
        raise DataError(f"{path}: unknown kind of model; this version reads {sorted(LOADERS)}")
    if document.pop("format_version", None) != FORMAT_VERSION:
        raise DataError(f"{path}: another format version; this version reads {FORMAT_VERSION}")
    return document


def shipped_models(kind: str | None = None) -> list[str]:
    """Return the names of the models that ship, of one kind (a key of `LOADERS`) or of all."""
    files = sorted(SHIPPED.glob("*.safetensors"))
    return [file.stem for file in files if kind is None or read_model_file(file).kind == kind]


def resolve_model_path(name_or_path: str | os.PathLike, kind: str | None = None) -> Path:
    """Turn the name of a shipped model (`face`, `hopkins155`) or a path into a path.

    Raises
    ------
    DataError
        If there is neither; it names the models that ship, of the kind that is wanted.
    """
    path = Path(name_or_path)
    shipped = SHIPPED / f"{path.name}.safetensors"
    if not path.exists() and path.name == str(name_or_path) and shipped.is_file():
        return shipped
    if not path.exists():
        names = ", ".join(shipped_models(kind)) or "none"
        raise DataError(f"{name_or_path}: no such model file; models that ship: {names}")
    return path


def load_model(name_or_path: str | os.PathLike) -> Any:
    """Load a model of any kind from a shipped name or a path.

    Returns
    -------
    object
        What the file's kind stands for: a detector, a ranker, an estimator.
    """
    file = read_model_file(resolve_model_path(name_or_path))
    module, _, attributes = LOADERS[file.kind].partition(":")
    loader: Callable[[ModelFile], Any] = import_module(module)  # type: ignore[assignment]
    for attribute in attributes.split("."):
        loader = getattr(loader, attribute)
    return loader(file)
