"""Fixtures that every test may use."""

import os
from pathlib import Path

# Two threads even on a machine of one core: that results do not depend on their number is tested.
os.environ.setdefault("NUMBA_NUM_THREADS", str(max(2, os.cpu_count() or 1)))
os.environ["MPLBACKEND"] = "Agg"  # pictures without a screen

import numba
import numpy as np
import pytest

DEFAULT_DATA = Path(__file__).parents[2] / "shared" / "data"


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
    if numba.config.DISABLE_JIT:
        pytest.skip("there are no threads without compilation")
    before = numba.get_num_threads()

    def call_both(function):
        results = []
        for n_threads in (1, 2):
            numba.set_num_threads(n_threads)
            results.append(function())
        return results

    yield call_both
    numba.set_num_threads(before)
