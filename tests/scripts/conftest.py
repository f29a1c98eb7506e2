from pathlib import Path

import pytest

from annealed.features.threads import get_num_threads, set_num_threads

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture(autouse=True)
def scripts_on_path(monkeypatch):
    """Scripts import each other by their bare names, as when one of them is run."""
    monkeypatch.syspath_prepend(SCRIPTS / "benchmarks")
    monkeypatch.syspath_prepend(SCRIPTS / "experiments")


@pytest.fixture(autouse=True)
def same_threads_afterwards():
    before = get_num_threads()
    yield
    set_num_threads(before)
