"""The worked examples of docs/extend are run, and their slopes compared with finite differences."""

import doctest
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scanned import features_at

from annealed.features.channels.known_channels import register, unregister
from annealed.features.maps import LevelMaps
from annealed.features.patches import cut_windows
from annealed.features.pool import WindowPool

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = sorted((DOCS / "examples").glob("*.py"))


def load(path):
    spec = importlib.util.spec_from_file_location(f"docs_example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # channels and data classes look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def example():
    return {path.stem: load(path) for path in EXAMPLES}


@pytest.mark.parametrize("name", [path.stem for path in EXAMPLES])
def test_examples_do_what_they_say(example, name):
    result = doctest.testmod(example[name])
    assert result.attempted > 3
    assert result.failed == 0


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_ends_a_page(path):
    pages = [page.read_text() for page in (DOCS / "extend").glob("*.md")]
    assert (
        sum(page.rstrip().endswith(f"```{{literalinclude}} ../examples/{path.name}\n```") for page in pages)
        == 1
    )


def test_slopes_of_the_loss(example, rng):
    y, f = rng.normal(size=(2, 1, 30)) * 3
    loss = example["loss"].LogCosh(y)
    slopes = loss.derivative(f, 0, 30)
    for i in range(30):
        step = np.zeros_like(f)
        step[0, i] = 1e-5
        rise = loss.value(f + step, 0, 30) - loss.value(f - step, 0, 30)
        assert slopes[0, i] == pytest.approx(rise / 2e-5, abs=1e-8)


def test_gradient_and_curvature_of_the_penalty(example, rng):
    penalty = example["penalty"].Rising(0.7)
    beta = rng.normal(size=(1, 2, 5))
    gradient = np.zeros_like(beta)
    penalty.add_gradient(beta, gradient)
    for place in np.ndindex(beta.shape):
        step = np.zeros_like(beta)
        step[place] = 1e-6
        rise = penalty.value(beta + step) - penalty.value(beta - step)
        assert gradient[place] == pytest.approx(rise / 2e-6, abs=1e-6)
    other = rng.normal(size=beta.shape)
    there = np.zeros_like(beta)
    penalty.add_gradient(other, there)
    assert np.linalg.norm(gradient - there) <= penalty.curvature(2) * np.linalg.norm(beta - other)


def test_the_channel_has_the_same_values_in_windows_and_in_a_photo(example, rng):
    channel = example["channel"].SURROUND
    register(channel)
    try:
        every = WindowPool.default()
        pool = every[np.flatnonzero(every.belongs_to(channel))[::7]]
        photo = rng.integers(0, 256, (31, 40, 3), dtype=np.uint8)
        rows, cols = rng.integers(0, 31, 20), rng.integers(0, 40, 20)
        expected = pool.compute(cut_windows(photo, rows, cols))
        assert np.array_equal(features_at(pool, LevelMaps(photo), rows, cols), expected)
    finally:
        unregister(channel)
