import contextlib
import json
import pickle
import struct

import numpy as np
import pytest
from safetensors.numpy import save as save_tensors
from safetensors.numpy import save_file

from annealed.features.errors import DataError
from annealed.models import model_files as store
from annealed.models.model_files import (
    FORMAT_VERSION,
    ModelFile,
    load_model,
    read_model_file,
    resolve_model_path,
    write_model_file,
)

ARRAYS = {
    "features": np.arange(3, dtype=np.int64),
    "coef": np.array([[0.5, -1.0, 2.0]]),
    "codes": np.zeros((2, 0), dtype=np.uint8),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def write_raw(path, document, arrays=ARRAYS):
    """A safetensors file with any metadata document, unchecked."""
    text = document if isinstance(document, str) else json.dumps(document)
    save_file(arrays, path, {"annealed": text})


def document(**changes):
    return {"format_version": FORMAT_VERSION, "kind": "estimator", **changes}


def test_round_trip_keeps_arrays_and_metadata(path):
    write_model_file(path, "estimator", ARRAYS, {"seed": 3, "scores": [0.5, None]})
    file = read_model_file(path, "estimator")
    assert file.kind == "estimator"
    assert file.metadata == {"seed": 3, "scores": [0.5, None]}
    assert set(file.arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert file.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(file.arrays[name], array)


def test_arrays_of_any_order_come_back_in_place(path):
    array = np.arange(12.0).reshape(3, 4).T[::2]
    write_model_file(path, "estimator", {"a": array}, {})
    np.testing.assert_array_equal(read_model_file(path).arrays["a"], array)


def test_equal_models_give_equal_bytes(tmp_path):
    for name, metadata in (("a", {"x": 1, "y": 2}), ("b", {"y": 2, "x": 1})):
        write_model_file(tmp_path / name, "estimator", ARRAYS, metadata)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_writing_an_unknown_kind_is_refused(path):
    with pytest.raises(ValueError, match=r"kind must be one of .*estimator.*, got 'sandwich'"):
        write_model_file(path, "sandwich", ARRAYS, {})


def test_missing_file_is_one_line(path):
    with pytest.raises(DataError, match=r"model\.safetensors: no such model file"):
        read_model_file(path)


def test_another_kind_is_named(path):
    write_model_file(path, "estimator", ARRAYS, {})
    with pytest.raises(DataError, match="holds a estimator, expected a keypoint-detector"):
        read_model_file(path, "keypoint-detector")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00",
        b"just some text, long enough to look like a header of something",
        pickle.dumps({"model": [1, 2, 3]}),
        struct.pack("<Q", 2**63) + b"{}",  # a header of absurd length
        struct.pack("<Q", 50_000_000) + b"{}",  # longer than the file
        struct.pack("<Q", 2) + b"{",
        struct.pack("<Q", 4) + b"null",
        struct.pack("<Q", 9) + b'{"a": [1}',
        b"\xff" * 300,
    ],
)
def test_junk_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"model\.safetensors: not a safetensors model file"):
        read_model_file(path)


def test_every_truncation_is_refused(path):
    write_model_file(path, "estimator", ARRAYS, {"seed": 1})
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(DataError, match="not a safetensors model file"):
            read_model_file(path)


def test_flipped_bytes_never_escape_as_another_error(path, rng):
    """Whatever one byte is changed to: it reads, or it is a DataError."""
    whole = bytearray(save_tensors(ARRAYS, {"annealed": json.dumps(document())}))
    for _ in range(300):
        changed = whole.copy()
        changed[rng.integers(len(whole))] = rng.integers(256)
        path.write_bytes(changed)
        with contextlib.suppress(DataError):
            read_model_file(path)


def test_absurd_size_is_refused_unread(path):
    with path.open("wb") as file:
        file.truncate(store.MAX_FILE_BYTES + 1)  # sparse: takes no space
    with pytest.raises(DataError, match="larger than 1073741824 bytes, not a model of this program"):
        read_model_file(path)


def test_foreign_safetensors_are_refused(path):
    save_file(ARRAYS, path)
    with pytest.raises(DataError, match="a safetensors file, but not written by annealed"):
        read_model_file(path)


@pytest.mark.parametrize("dtype", ["BF16", "F8_E4M3"])
def test_dtypes_that_numpy_lacks_are_refused(path, dtype):
    size = {"BF16": 2, "F8_E4M3": 1}[dtype]
    header = {
        "__metadata__": {"annealed": json.dumps(document())},
        "a": {"dtype": dtype, "shape": [1], "data_offsets": [0, size]},
    }
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(size))
    with pytest.raises(DataError, match="not a safetensors model file"):
        read_model_file(path)


@pytest.mark.parametrize("text", ["", "{", "nonsense", "[" * 100_000])
def test_broken_metadata_is_refused(path, text):
    write_raw(path, text)
    with pytest.raises(DataError, match="broken metadata"):
        read_model_file(path)


@pytest.mark.parametrize(
    "content",
    ["null", "[]", '"estimator"', "{}", document(kind="sandwich"), document(kind=None)]
    + [document(kind=kind) for kind in ([], {}, ["estimator"], 1)],
)
def test_unknown_kinds_are_refused(path, content):
    write_raw(path, content)
    with pytest.raises(DataError, match=r"unknown kind of model; this version reads .*estimator"):
        read_model_file(path)


@pytest.mark.parametrize("version", [None, 0, FORMAT_VERSION + 1, "1", 1.5, [1]])
def test_other_format_versions_are_refused(path, version):
    write_raw(path, document(format_version=version))
    with pytest.raises(DataError, match="another format version; this version reads 1"):
        read_model_file(path)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("b", {"dtype": float, "shape": (2,)}, r"array 'b' is missing \(found \['a', 'n'\]\)"),
        ("a", {"dtype": np.float32, "shape": (2, 2)}, "array 'a' is float64, expected float32"),
        ("a", {"dtype": float, "shape": (2,)}, r"array 'a' has shape \(2, 2\), expected \(2,\)"),
        ("a", {"dtype": float, "shape": (None, 3)}, r"array 'a' has shape \(2, 2\), expected \(None, 3\)"),
        ("a", {"dtype": float, "shape": (2, 2)}, "array 'a' has values that are not finite"),
    ],
)
def test_arrays_are_checked(name, options, message):
    file = ModelFile("estimator", {"a": np.array([[1.0, np.nan], [0, 0]]), "n": np.arange(2)}, {})
    with pytest.raises(DataError, match=message):
        file.array(name, **options)


def test_arrays_that_fit_are_returned():
    file = ModelFile("estimator", {"a": np.array([[1.0, np.inf]]), "n": np.arange(2)}, {})
    assert file.array("a", dtype=float, shape=(1, None), finite=False) is file.arrays["a"]
    assert file.array("n", dtype=np.int64, shape=(2,)) is file.arrays["n"]


def test_shipped_names_and_paths_resolve(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "SHIPPED", tmp_path)
    write_model_file(tmp_path / "face.safetensors", "estimator", ARRAYS, {})
    assert resolve_model_path("face") == tmp_path / "face.safetensors"
    assert resolve_model_path(tmp_path / "face.safetensors") == tmp_path / "face.safetensors"
    with pytest.raises(DataError, match="hand: no such model file; models that ship: face"):
        resolve_model_path("hand")


def test_a_path_never_falls_back_on_a_shipped_model(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "SHIPPED", tmp_path)
    write_model_file(tmp_path / "face.safetensors", "estimator", ARRAYS, {})
    with pytest.raises(DataError, match="elsewhere/face: no such model file"):
        resolve_model_path("elsewhere/face")


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(DataError, match="no such model file"):
        load_model(tmp_path)
