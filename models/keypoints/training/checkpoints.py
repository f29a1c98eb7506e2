"""The run folder of a training: its configuration and one checkpoint per mining round.

    run/
      config.json                 configuration, keypoints, fingerprint of the data
      round-00.safetensors        positives, random negatives, classifiers trained on them
      round-01.safetensors        negatives mined in round 1, classifiers trained on all so far
      ...

Every file is written whole or not at all, and a round depends only on the files before it, so a run
that was killed continues to the same model, bit for bit.
"""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import BaseFileLock, FileLock, Timeout
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from ....features.errors import DataError
from ....features.pool import PATCH_PX
from ...model_files import ModelFile
from ...whole_files import write_whole
from ..detector import KIND
from ..keypoint_classifier import KeypointClassifier
from ..packing import pack_classifiers, unpack_classifiers
from .mining import KEY_COLUMNS, Examples
from .record import RoundRecord

CONFIG_FILE = "config.json"
LOCK_FILE = ".lock"
ADDED = {"photos_a_batch": 32}
"""What runs were begun with before there was a name for it."""

KINDS = ("positives", "held_out", "negatives")
_ROUND_FILE = re.compile(r"round-(\d\d+)\.safetensors")
_METADATA_KEY = "annealed-round"


@dataclass(frozen=True, eq=False)
class Round:
    """What one round leaves behind.

    Attributes
    ----------
    positives, held_out, negatives : tuple of Examples
        Those that are new in this round, of each keypoint; `held_out` are positives that are not
        trained on.
    classifiers : tuple of KeypointClassifier
        Trained on all examples up to this round.
    record : RoundRecord
    """

    positives: tuple[Examples, ...]
    held_out: tuple[Examples, ...]
    negatives: tuple[Examples, ...]
    classifiers: tuple[KeypointClassifier, ...]
    record: RoundRecord


class RunFolder:
    """Reads and writes the checkpoints of one training run.

    Parameters
    ----------
    path : path-like
        Made if it does not exist.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        self._lock: BaseFileLock | None = None

    def begin(self, config: dict[str, Any], *, resume: bool) -> list[Round]:
        """Open the folder for a run and return the rounds that are there already.

        Parameters
        ----------
        config : dict
            JSON values; whatever the result depends on.
        resume : bool
            Whether to continue a run; otherwise the folder must not hold one.

        Raises
        ------
        DataError
            If there is a run that must not be continued, none that could be, one of another configuration,
            or one that another process works on.
        """
        file = self.path / CONFIG_FILE
        if file.parent.is_dir() or not resume:
            self._take()
        if not resume:
            if file.exists():
                raise DataError(
                    f"{self.path}: holds a run already; continue it with --resume, replace it with "
                    "--overwrite, or name another folder"
                )
            write_whole(file, json.dumps(config, indent=1, sort_keys=True).encode())
            return []
        if not file.is_file():
            raise DataError(f"{self.path}: no run to resume ({CONFIG_FILE} is missing)")
        self._check_config(file, config)
        return self.read_rounds()

    def clear(self) -> None:
        """Remove the run that the folder holds, if there is one; other files stay.

        Raises
        ------
        DataError
            If another process works on it.
        """
        if not (self.path / CONFIG_FILE).exists():
            return
        self._take()
        for place in sorted(self.path.iterdir()):
            if place.name == CONFIG_FILE or _ROUND_FILE.fullmatch(place.name):
                place.unlink()
        self.release()

    def _take(self) -> None:
        """Keep other processes out for as long as this one lives, or until the folder is let go."""
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(self.path / LOCK_FILE)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise DataError(f"{self.path}: another process works on this run; wait for its end") from None
        except (OSError, NotImplementedError):
            pass  # a disk without locks

    def release(self) -> None:
        """Let other processes continue the run."""
        if self._lock is not None:
            self._lock.release()

    def read_rounds(self) -> list[Round]:
        """Return the rounds from the first to the last without a gap."""
        numbers = {int(m[1]) for m in map(_ROUND_FILE.fullmatch, os.listdir(self.path)) if m}
        rounds: list[Round] = []
        while len(rounds) in numbers:
            rounds.append(read_round(self._round_path(len(rounds))))
        return rounds

    def write_round(self, number: int, result: Round) -> None:
        """Write one checkpoint."""
        write_round(self._round_path(number), result)

    def _round_path(self, number: int) -> Path:
        return self.path / f"round-{number:02d}.safetensors"

    def _check_config(self, file: Path, config: dict[str, Any]) -> None:
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            if not isinstance(found, dict):
                raise ValueError("not an object")
        except (OSError, ValueError, RecursionError) as error:
            raise DataError(f"{file}: not a configuration ({error})") from None
        wanted = json.loads(json.dumps(config))
        found = {**{name: value for name, value in ADDED.items() if name in wanted}, **found}
        for key in sorted(set(wanted) | set(found)):
            if found.get(key) != wanted.get(key):
                raise DataError(
                    f"{self.path}: the run was started with {key} = {found.get(key)!r}, not "
                    f"{wanted.get(key)!r}; resume it with the same options and data, or name another folder"
                )


def write_round(path: Path, result: Round) -> None:
    """Write a round's examples and classifiers, whole or not at all."""
    arrays, metadata = pack_classifiers(result.classifiers)
    for kind in KINDS:
        for i, examples in enumerate(getattr(result, kind)):
            arrays[f"{kind}.{i}.patches"] = examples.patches
            arrays[f"{kind}.{i}.keys"] = examples.keys
    document = json.dumps({**metadata, "record": result.record.to_json()})
    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_whole(path, save(tensors, {_METADATA_KEY: document}))


def read_round(path: Path) -> Round:
    """Read what `write_round` wrote, checking it."""
    try:
        with safe_open(path, framework="numpy") as stream:
            document = json.loads((stream.metadata() or {})[_METADATA_KEY])
            if not isinstance(document, dict):
                raise ValueError("its metadata are no object")
            arrays = {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, OSError, LookupError, ValueError, TypeError, RecursionError) as error:
        raise DataError(f"{path}: not a checkpoint ({error}); delete it to redo its round") from None
    file = ModelFile(KIND, arrays, document)
    try:
        classifiers = unpack_classifiers(file)
        sets = {kind: _read_sets(file, kind, len(classifiers)) for kind in KINDS}
        record = RoundRecord.from_json(document.get("record", {}))
    except DataError as error:
        raise DataError(f"{path}: {error}; delete it to redo its round") from None
    return Round(**sets, classifiers=classifiers, record=record)


def _read_sets(file: ModelFile, kind: str, n: int) -> tuple[Examples, ...]:
    sets = []
    for i in range(n):
        keys = file.array(f"{kind}.{i}.keys", dtype=np.int32, shape=(None, KEY_COLUMNS))
        shape = (len(keys), PATCH_PX, PATCH_PX, 3)
        sets.append(Examples(file.array(f"{kind}.{i}.patches", dtype=np.uint8, shape=shape), keys))
    return tuple(sets)
