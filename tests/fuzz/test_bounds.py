"""Kernels that index by what a file says, compiled with checks of bounds: no read or write past an end.

Each number of each array of a model, a sparse matrix or tracks becomes, one after the other, what may lead
beyond an end. The file is refused, or used within the bounds; an IndexError is a finding.
"""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="limits of memory are POSIX's"),
    pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="there are no kernels to check"),
]


def _beside(name):
    """A module of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


cases, child = _beside("cases"), _beside("child")


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    process = child.Child(NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path_factory.mktemp("kernels")))
    yield process
    process.close()


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    return cases.write_kinds(tmp_path_factory.mktemp("sound"))


def altered(arrays):
    """Yield copies of the arrays in which one number of one array is extreme, with what it is."""
    for name, array in arrays.items():
        if array.dtype.kind == "f":
            values = [1e30, -1e30, 0.0]
        elif array.dtype.kind in "iu":
            limits = np.iinfo(array.dtype)
            values = sorted({limits.min, limits.max, 0, min(array.size, limits.max), min(255, limits.max)})
        else:
            continue
        for place in sorted({0, array.size // 2, array.size - 1}) if array.size else []:
            for value in values:
                changed = array.copy()
                changed.flat[place] = value
                yield f"{name}[{place}] = {value}", {**arrays, name: changed}


def test_a_read_past_the_end_is_seen(reader, tmp_path):
    assert reader.ask("probe", tmp_path)["text"].startswith("IndexError")


@pytest.mark.parametrize("name", ["linear", "piecewise", "keypoints", "object", "ranker", "hopkins155"])
def test_models(reader, sound, tmp_path, name):
    path = sound[f"model-{name}"]
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
        arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
    counts = {"read": 0, "refused": 0}
    for what, changed in altered(arrays):
        (tmp_path / "m.safetensors").write_bytes(save(changed, metadata))
        result = reader.ask("model", tmp_path / "m.safetensors")
        assert result["result"] in counts, (what, result)
        counts[result["result"]] += 1
    assert min(counts.values()) > 0, counts


@pytest.mark.parametrize("name", ["stored.npz", "deflated.npz"])
def test_sparse_rows(reader, sound, tmp_path, name):
    arrays = dict(np.load(sound[f"rows-{name}"]))
    for what, changed in altered(arrays):
        np.savez(tmp_path / "X.npz", **changed)
        result = reader.ask("rows", tmp_path / "X.npz")
        assert result["result"] in ("read", "refused"), (what, result)


@pytest.mark.parametrize("name", ["tracks.npz", "cotracker.npz", "tapir.npz"])
def test_tracks(reader, sound, tmp_path, name):
    arrays = {
        key: array for key, array in np.load(sound[f"tracks-{name}"]).items() if array.dtype.kind != "U"
    }
    for what, changed in altered(arrays):
        np.savez(tmp_path / "tracks.npz", **changed)
        result = reader.ask("tracks-segmented", tmp_path / "tracks.npz")
        assert result["result"] in ("read", "refused"), (what, result)


@pytest.mark.parametrize("name", ["table.svmlight", "table.npz", "sparse.mat"])
def test_tables_are_fitted(reader, sound, name):
    assert reader.ask(f"table-{name}", sound[f"table-{name}"])["result"] == "read"
