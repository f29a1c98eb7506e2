"""The process that reads doubtful files, and what is made of its end."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

MOST_MEGABYTES = 1500


class Child:
    """A process that reads files, started anew when one of them ends it.

    Parameters
    ----------
    environment : str
        Variables that it has besides those of this process.
    """

    def __init__(self, **environment: str) -> None:
        self._environment = {**os.environ, **environment}
        self._process: subprocess.Popen | None = None

    def ask(self, kind: str, path: Path) -> dict[str, Any]:
        """Return what comes of a file: "read", "refused" or "bug"."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{kind}\t{path}\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            self._process = None
            return {"result": "bug", "text": f"the process ended with status {process.wait()}"}
        result = json.loads(line)
        if int(result["megabytes"]) > MOST_MEGABYTES:
            self.close()
            return {"result": "bug", "text": f"{result['megabytes']} MB of memory"}
        return result

    def _running(self) -> subprocess.Popen:
        if self._process is None:
            program = Path(__file__).with_name("reading.py")
            self._process = subprocess.Popen(
                [sys.executable, str(program)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=self._environment,
            )
        return self._process

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
