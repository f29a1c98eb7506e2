"""Forgets compiled kernels whose sources have changed, in their own file or in any that it imports.

numba keeps compiled code as long as the file of the function itself stays the same. A kernel that calls
another one, or reads a constant, of a file that has changed would go on as before, and its tests would pass.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

_IMPORT = re.compile(r"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_MANIFEST = "sources.json"


def forget_stale(root: Path, rooms: Iterable[str], cache: Path) -> set[str]:
    """Delete what numba has kept in a folder of sources that are not what they were.

    Parameters
    ----------
    root : Path
        Of the checkout.
    rooms : iterable of str
        Its folders with sources.
    cache : Path
        The folder NUMBA_CACHE_DIR.

    Returns
    -------
    set of str
        The sources whose kernels were forgotten, relative to `root`.
    """
    fingerprints = source_fingerprints(root, rooms)
    manifest = cache / _MANIFEST
    known = json.loads(manifest.read_text()) if manifest.is_file() else {}
    fresh = {Path(path) for path, value in fingerprints.items() if known.get(path) == value}
    kept = {(path.parent.name, path.stem) for path in fresh}
    for file in cache.glob("*/*.nb[ic]"):
        folder, source = file.parent.name.rpartition("_")[0], file.name.split(".")[0]
        if (folder, source) not in kept:
            file.unlink(missing_ok=True)
    cache.mkdir(parents=True, exist_ok=True)
    manifest.write_text(json.dumps(fingerprints, indent=1))
    return set(fingerprints) - {str(path) for path in fresh}


def source_fingerprints(root: Path, rooms: Iterable[str]) -> dict[str, str]:
    """Return for each source a hash of it and of all that it imports, directly or not."""
    files = [path for room in rooms for path in sorted((root / room).rglob("*.py"))]
    texts = {path: path.read_text() for path in files}
    imports = {path: _imported(path, text, root) & set(files) for path, text in texts.items()}
    own = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in texts.items()}
    fingerprints = {}
    for path in files:
        together = "".join(own[other] for other in sorted(_reached(path, imports)))
        fingerprints[str(path.relative_to(root))] = hashlib.sha256(together.encode()).hexdigest()
    return fingerprints


def _reached(start: Path, imports: dict[Path, set[Path]]) -> set[Path]:
    """A source and all that it imports, directly or not."""
    reached, waiting = {start}, [start]
    while waiting:
        new = imports[waiting.pop()] - reached
        reached |= new
        waiting.extend(new)
    return reached


def _imported(path: Path, text: str, root: Path) -> set[Path]:
    """Files that a source may mean by ``from ... import ...``, whether they exist or not."""
    found = set()
    for dots, module, names in _IMPORT.findall(text):
        if dots:
            folder = path.parents[len(dots) - 1]
        elif module.split(".")[0] == "annealed":
            folder, module = root, module.partition(".")[2]
        else:
            folder = root / "tests" / "shared"  # helpers of the tests are imported by their bare names
        target = folder.joinpath(*filter(None, module.split(".")))
        found |= {target.with_suffix(".py"), target / "__init__.py"}
        found |= {target / f"{name}.py" for name in re.findall(r"\w+", names)}
    return found
