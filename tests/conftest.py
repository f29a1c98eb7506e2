"""Fixtures that every test may use."""

import os
from pathlib import Path

os.environ["MPLBACKEND"] = "Agg"  # pictures without a screen
# Compiled code of tests is kept apart from that of other runs.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".numba_cache"))

import numpy as np
import pytest
from kernel_cache import forget_stale

from annealed.features.threads import get_num_threads, set_num_threads

ROOT = Path(__file__).parents[1]
SOURCES = "features", "models", "datasets", "app", "scripts", "tests", "docs"
DEFAULT_DATA = ROOT.parent / "shared" / "data"


def pytest_configure(config):
    """Forget compiled code of sources that have changed, before there are workers."""
    if not hasattr(config, "workerinput"):
        forget_stale(ROOT, SOURCES, Path(os.environ["NUMBA_CACHE_DIR"]))


@pytest.fixture
def rng():
    """A generator that starts every test from the same seed."""
    return np.random.default_rng(0)


@pytest.fixture
def data_folder():
    """The folder of real data sets: ANNEALED_DATA, or `../shared/data` beside the checkout."""
    folder = Path(os.environ.get("ANNEALED_DATA", DEFAULT_DATA))
    if not folder.is_dir():
        pytest.skip(f"no data sets: {folder} is not a folder; ANNEALED_DATA names one")
    return folder


@pytest.fixture
def with_threads():
    """Call a function once with one thread and once with two, and give both results."""
    before = get_num_threads()

    def call_both(function):
        results = []
        for n_threads in (1, 2):
            set_num_threads(n_threads)
            results.append(function())
        return results

    yield call_both
    set_num_threads(before)
