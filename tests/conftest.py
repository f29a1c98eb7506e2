"""Fixtures that every test may use."""

import os
from pathlib import Path

os.environ["MPLBACKEND"] = "Agg"  # pictures without a screen

import numpy as np
import pytest

from annealed.features.threads import get_num_threads, set_num_threads

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
    before = get_num_threads()

    def call_both(function):
        results = []
        for n_threads in (1, 2):
            set_num_threads(n_threads)
            results.append(function())
        return results

    yield call_both
    set_num_threads(before)
