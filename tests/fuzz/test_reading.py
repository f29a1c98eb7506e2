"""Every reader, and `load_model`, on files that were tampered with: read or refused, within limits.

HYPOTHESIS_PROFILE=ci takes as many cases as fit into a minute; `scripts/fuzz` goes on for an hour.
"""

import importlib.util
import os
from pathlib import Path

import pytest

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402


def _beside(name):
    """A module of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


cases, child = _beside("cases"), _beside("child")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits of memory are POSIX's")

_COMMON = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("default", max_examples=12, derandomize=True, **_COMMON)
settings.register_profile("ci", max_examples=60, derandomize=True, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

OPERATIONS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 2**20), st.integers(0, 2**12)), min_size=1, max_size=4
)
KINDS = [
    *(f"photo-{ending}" for ending in ("jpg", "png", "gif", "bmp", "tiff", "webp", "ppm")),
    *(f"table-table.{ending}" for ending in ("csv", "arff", "svmlight", "npz", "mat")),
    *("table-sparse.arff", "table-sparse.mat", "table-table4.mat", "table-images.idx"),
    *("tracks-a_truth.mat", "tracks-multi.mat", "tracks-tracks.npz", "tracks-tracks.csv"),
    *("annotation-people.json", "annotation-keypoints.csv", "annotation-faces.xml", "annotation-cvat.xml"),
    *("annotation-CollectedData_me.csv", "annotation-aflw.sqlite", "video-mp4", "video-avi"),
    *("model-linear", "model-piecewise", "model-keypoints", "model-object"),
]

# What once failed: kind, operations.
CORPUS: list[tuple[str, list[tuple[int, int, int]]]] = [
    ("tracks-tracks.csv", [(4, 25, 15)]),
    ("annotation-people.json", [(4, 12, 18)]),
    ("annotation-people.json", [(6, 11, 28)]),
    ("table-table.svmlight", [(4, 2, 16)]),
    ("table-sparse.arff", [(4, 118, 20)]),
    ("video-mp4", [(1, 400375, 1270)]),
    ("video-avi", [(4, 24268, 2821), (3, 764089, 1841)]),
]


@pytest.fixture(scope="module")
def reader():
    process = child.Child()
    yield process
    process.close()


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound")
    return cases.write_kinds(folder)


def check(reader, path, kind, operations):
    content = path.read_bytes()
    try:
        path.write_bytes(cases.mutated(content, operations))
        result = reader.ask(kind, path)
    finally:
        path.write_bytes(content)
    assert result["result"] in ("read", "refused"), (kind, operations, result)
    assert "Traceback" not in result.get("text", "")


def test_the_kinds_are_all_there_and_sound(reader, sound):
    assert sorted(sound) == sorted(KINDS)
    for kind, path in sound.items():
        assert reader.ask(kind, path)["result"] == "read", kind


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_read_or_refused(reader, sound, kind):
    @settings()
    @hypothesis.given(OPERATIONS)
    def run(operations):
        check(reader, sound[kind], kind, operations)

    run()


@pytest.mark.parametrize(("kind", "operations"), CORPUS)
def test_what_once_failed(reader, sound, kind, operations):
    check(reader, sound[kind], kind, operations)


def test_a_bomb_is_refused(reader, sound):
    path = sound["table-table.npz"].with_name("bomb.npz")
    path.write_bytes(cases.bomb_npz((2**15, 2**15)))
    assert path.stat().st_size < 2**21
    result = reader.ask("table-bomb.npz", path)
    assert result["result"] == "refused"
