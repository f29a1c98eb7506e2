"""Every reader, and `load_model`, on files that were tampered with: read or refused, within limits.

HYPOTHESIS_PROFILE=ci takes as many cases as fit into a minute; `scripts/fuzz` goes on for an hour.
"""

import importlib.util
import json
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
    st.tuples(st.integers(0, 7), st.integers(0, 2**20), st.integers(0, 2**12)), min_size=1, max_size=4
)
KINDS = [
    *(f"photo-{ending}" for ending in ("jpg", "png", "gif", "bmp", "tiff", "webp", "ppm")),
    *(f"table-table.{ending}" for ending in ("csv", "arff", "svmlight", "npz", "mat")),
    *("table-sparse.arff", "table-sparse.mat", "table-table4.mat", "table-images.idx"),
    *("rows-rows.npy", "rows-columns.npy", "rows-stored.npz", "rows-deflated.npz", "rows-rows.h5"),
    *("rows-rows.parquet", "rows-zarr.json", "rows-zarr-group", "rows-zarr-chunk"),
    *("tracks-a_truth.mat", "tracks-multi.mat", "tracks-tracks.npz", "tracks-tracks.csv"),
    *("tracks-cotracker.npz", "tracks-tapir.npz", "tracks-points.npy"),
    *("annotation-people.json", "annotation-keypoints.csv", "annotation-faces.xml", "annotation-cvat.xml"),
    *("annotation-CollectedData_me.csv", "annotation-aflw.sqlite", "video-mp4", "video-avi"),
    *("annotation-tasks.json", "annotation-labelme.json", "annotation-boxes.txt", "annotation-data.yaml"),
    *(
        "annotation-yolo-labels",
        "annotation-dlc-config",
        "annotation-dlc-fixed.h5",
        "annotation-dlc-table.h5",
    ),
    *("model-linear", "model-piecewise", "model-keypoints", "model-object", "model-ranker"),
    "model-hopkins155",
]

# What once failed: kind, operations.
CORPUS: list[tuple[str, list[tuple[int, int, int]]]] = [
    ("tracks-tracks.csv", [(4, 25, 15)]),
    ("annotation-people.json", [(4, 12, 18)]),
    ("annotation-people.json", [(6, 11, 28)]),
    ("table-table.svmlight", [(4, 2, 16)]),
    ("table-sparse.arff", [(4, 118, 20)]),
    ("rows-rows.npy", [(0, 26924, 3887), (2, 671949, 3362), (3, 1033995, 1836), (0, 154410, 1834)]),
    ("rows-rows.h5", [(0, 319735, 1567), (1, 731867, 2479), (5, 184675, 818), (5, 879705, 3179)]),
    ("rows-zarr.json", [(0, 898306, 1571)]),
    ("rows-zarr.json", [(4, 125439, 1683), (4, 589545, 3057)]),
    ("rows-deflated.npz", [(4, 927133, 2404), (0, 804072, 2817), (1, 841427, 1823)]),
    ("tracks-points.npy", [(0, 273011, 2690), (2, 801156, 1180), (5, 102462, 3319), (5, 565559, 2665)]),
    ("annotation-boxes.txt", [(6, 95341, 3554), (5, 601674, 250)]),
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


def _store_of_one_claim(folder, shape, chunks):
    """A Zarr store without a value that claims an array."""
    (folder / "X").mkdir(parents=True)
    array = {"shape": shape, "chunks": chunks, "dtype": "<f8", "fill_value": 0, "order": "C", "filters": None}
    (folder / ".zgroup").write_text('{"zarr_format": 2}')
    (folder / "X" / ".zarray").write_text(json.dumps({"zarr_format": 2, "compressor": None, **array}))
    return folder / "X" / ".zarray"


@pytest.mark.parametrize(
    ("shape", "chunks"),
    [
        ([10**12, 3], [1000, 3]),
        ([3, 10**12], [1, 10]),
        ([10**6, 10**6], [1, 100]),
        ([9, 10**5], [9 * 10**4, 10**5]),
    ],
)
def test_a_claim_is_refused(reader, tmp_path, shape, chunks):
    path = _store_of_one_claim(tmp_path / "claim.zarr", shape, chunks)
    result = reader.ask("rows-claim", path)
    assert result["result"] == "refused"
    assert "ANNEALED_INPUT_MEMORY" in result["text"]


def test_a_bomb_is_refused(reader, sound):
    path = sound["table-table.npz"].with_name("bomb.npz")
    path.write_bytes(cases.bomb_npz((2**15, 2**15)))
    assert path.stat().st_size < 2**21
    result = reader.ask("table-bomb.npz", path)
    assert result["result"] == "refused"
