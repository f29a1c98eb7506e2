"""Files that appear whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path, *, keep_interrupted: bool = False) -> Iterator[Path]:
    """Yield where to write a file that takes the place of `path` at the end of the `with` block.

    An error inside the block leaves what was there before. So does a block that wrote nothing.

    Parameters
    ----------
    path : Path
    keep_interrupted : bool
        Let Ctrl-C end the file where it is, for files that are of use in part.
    """
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".annealed.") as folder:
        temporary = Path(folder) / path.name
        try:
            yield temporary
        except KeyboardInterrupt:
            if keep_interrupted:
                _move(temporary, path)
            raise
        _move(temporary, path)


def _move(temporary: Path, path: Path) -> None:
    if temporary.exists() and temporary.stat().st_size:
        os.replace(temporary, path)
