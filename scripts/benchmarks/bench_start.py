"""Processor seconds of what a user waits for first: the help, an import, the first photo and a later one.

Usage: python scripts/benchmarks/bench_start.py [--repeats N]

The first photo compiles its kernels into an empty folder, as in a new environment; of the others the least of
several runs is printed.
"""

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from PIL import Image
from skimage.data import astronaut


def processor_seconds(command: list[str], cache: str | None = None) -> float:
    """Run a command and return the processor time that it and its threads took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    subprocess.run(command, check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    program = [sys.executable, "-m", "annealed"]
    print(f"{platform.machine()}, Python {platform.python_version()}, numba {version('numba')}")
    with tempfile.TemporaryDirectory() as folder:
        photo = str(Path(folder) / "astronaut.png")
        Image.fromarray(astronaut()).save(photo)
        detect, cache = [*program, "detect-keypoints", photo], str(Path(folder) / "cache")
        commands = {
            "annealed --help": [*program, "--help"],
            "import annealed.models": [sys.executable, "-c", "import annealed.models"],
            "a fit's import": [sys.executable, "-c", "from annealed.models import FSAClassifier"],
        }
        for name, command in commands.items():
            print(f"{name}: {min(processor_seconds(command) for _ in range(repeats)):.2f} s")
        print(f"first photo, kernels compiled: {processor_seconds(detect, cache):.1f} s")
        print(f"a later photo: {min(processor_seconds(detect, cache) for _ in range(repeats)):.2f} s")


if __name__ == "__main__":
    main()
