"""Tests see what changed: compiled code is kept for as long as all sources that it is made from stay."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from kernel_cache import forget_stale, source_fingerprints

ROOT = Path(__file__).parents[1]
ROOMS = "features", "models", "datasets"

KERNEL = """
from numba import njit

from .constants import FACTOR

@njit(cache=True)
def scaled(x):
    return FACTOR * x
"""


@pytest.fixture
def checkout(tmp_path):
    """A package of three files: a constant, a kernel that reads it, and one that does not."""
    room = tmp_path / "room"
    room.mkdir()
    (room / "__init__.py").write_text("")
    (room / "constants.py").write_text("FACTOR = 10\n")
    (room / "kernel.py").write_text(KERNEL)
    (room / "caller.py").write_text(
        "def twice(x):\n    from .kernel import scaled\n    return 2 * scaled(x)\n"
    )
    (room / "other.py").write_text("from numba import njit\n")
    return tmp_path


def changed(before, after):
    return {name for name in after if after[name] != before[name]}


def test_a_source_s_fingerprint_covers_what_it_imports(checkout):
    before = source_fingerprints(checkout, ["room"])
    (checkout / "room" / "constants.py").write_text("FACTOR = 5\n")
    after = source_fingerprints(checkout, ["room"])
    assert changed(before, after) == {"room/constants.py", "room/kernel.py", "room/caller.py"}


def test_imports_in_a_circle_and_of_packages(checkout):
    (checkout / "room" / "constants.py").write_text(
        "from . import other\nfrom .caller import (\n    twice,\n)\n"
    )
    (checkout / "features").mkdir()
    (checkout / "features" / "user.py").write_text("from annealed.room.kernel import scaled\n")
    before = source_fingerprints(checkout, ["room", "features"])
    (checkout / "room" / "other.py").write_text("")
    assert changed(before, source_fingerprints(checkout, ["room", "features"])) == set(before) - {
        "room/__init__.py"
    }


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is kept without compilation")
def test_a_changed_constant_of_another_file_is_seen(checkout):
    cache = checkout / "cache"

    def scaled_one():
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
        code = "from room.kernel import scaled; print(scaled(1))"
        command = [sys.executable, "-c", code]
        return int(
            subprocess.run(command, cwd=checkout, env=environment, capture_output=True, check=True).stdout
        )

    forget_stale(checkout, ["room"], cache)
    assert scaled_one() == 10
    (checkout / "room" / "constants.py").write_text("FACTOR = 5\n")
    assert scaled_one() == 10  # what numba does by itself
    assert "room/kernel.py" in forget_stale(checkout, ["room"], cache)
    assert scaled_one() == 5
    assert forget_stale(checkout, ["room"], cache) == set()
    assert list(cache.glob("room_*/kernel.*"))


def test_kernels_of_this_checkout_are_kept_where_the_sources_decide():
    cache = Path(os.environ["NUMBA_CACHE_DIR"])
    assert str(cache) == numba.config.CACHE_DIR
    assert (cache / "sources.json").is_file()


def test_half_a_constant_of_hog_reaches_the_kernels_that_call_it(tmp_path):
    for room in ROOMS:
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__", "shipped"))
    before = source_fingerprints(tmp_path, ROOMS)
    hog = tmp_path / "features" / "channels" / "hog.py"
    text = hog.read_text()
    assert "CLIP = np.float32(0.2)" in text
    hog.write_text(text.replace("CLIP = np.float32(0.2)", "CLIP = np.float32(0.1)"))
    reached = changed(before, source_fingerprints(tmp_path, ROOMS))
    assert {"features/channels/hog.py", "features/chunks.py", "models/keypoints/scan.py"} < reached
    assert not reached & {"features/codes.py", "features/integral.py", "models/losses.py"}
