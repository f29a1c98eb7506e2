"""MATLAB files: the same values as SciPy's reader, and one error for every file that is damaged."""

import functools
import struct
import tracemalloc
import warnings
import zlib

import numpy as np
import pytest
from scipy import sparse
from scipy.io import loadmat, savemat

from annealed.datasets.mat_files import load_mat
from annealed.features.errors import DataError

VALUES = {
    "doubles": np.array([[1.5, -2.0, np.nan], [0.0, np.inf, 3.0]]),
    "empty": np.empty((0, 3)),
    "bytes": np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
    "whole": np.array([[-5, 2**62]]),
    "single": np.float32([[1.25]]),
    "flags": np.array([[True, False, True]]),
    "rows": sparse.csc_array(np.array([[0.0, 2.0], [0.0, 0.0], [3.0, 4.0]])),
    "words": "a word",
    "record": {"x": np.arange(3.0), "name": "b", "inner": {"y": 2.0}},
    "cells": np.array([np.arange(2.0), "c"], dtype=object),
}


def element(kind, data):
    """Filled up to eight bytes, unless what it holds is packed."""
    return struct.pack("<II", kind, len(data)) + data + (b"" if kind == 15 else bytes(-len(data) % 8))


def array(kind, shape, *parts, name=b"X", flags=0):
    head = element(6, struct.pack("<II", kind | flags, 0)) + element(5, np.array(shape, "<i4").tobytes())
    return element(14, head + element(1, name) + b"".join(parts))


def mat_file(*elements):
    return b"MATLAB 5.0".ljust(124) + b"\x00\x01IM" + b"".join(elements)


def doubles(n):
    return element(9, np.zeros(n).tobytes())


def numbers(*values):
    return element(5, np.array(values, "<i4").tobytes())


@pytest.mark.parametrize("packed", [False, True])
def test_values_are_those_that_were_written(tmp_path, packed):
    savemat(tmp_path / "a.mat", VALUES, do_compression=packed)
    found = load_mat(tmp_path / "a.mat")
    assert set(found) == set(VALUES)
    for name in ("doubles", "bytes", "whole", "single", "flags"):
        np.testing.assert_array_equal(found[name], VALUES[name])
        assert found[name].dtype == VALUES[name].dtype
    assert found["empty"].shape == (0, 3)
    np.testing.assert_array_equal(found["rows"].toarray(), VALUES["rows"].toarray())
    assert found["words"] == "a word"
    (record,) = found["record"]
    assert record["x"].tolist() == [[0, 1, 2]]
    assert record["name"] == "b"
    assert record["inner"] == [{"y": 2.0}]
    assert found["cells"][0].tolist() == [[0, 1]]
    assert found["cells"][1] == "c"


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "i2", "u2", "u1"])
def test_version_4_is_read(tmp_path, dtype):
    values = np.arange(6).reshape(2, 3).astype(dtype)
    savemat(tmp_path / "a.mat", {"a": values, "b": values.T}, format="4")
    found = load_mat(tmp_path / "a.mat")
    np.testing.assert_array_equal(found["a"], values)
    np.testing.assert_array_equal(found["b"], values.T)


def test_bytes_may_be_in_the_other_order(tmp_path):
    content = b"MATLAB 5.0".ljust(124) + b"\x01\x00MI"
    head = (
        struct.pack(">IIII", 6, 8, 6, 0) + struct.pack(">IIii", 5, 8, 1, 2) + struct.pack(">HH4s", 1, 1, b"X")
    )
    body = head + struct.pack(">IIdd", 9, 16, 1.5, -2.5)
    (tmp_path / "a.mat").write_bytes(content + struct.pack(">II", 14, len(body)) + body)
    assert load_mat(tmp_path / "a.mat")["X"].tolist() == [[1.5, -2.5]]


BAD = {
    "more values than there are": mat_file(array(6, (2, 3), doubles(5))),
    "dimensions beyond all memory": mat_file(array(6, (2**31 - 1,) * 9, doubles(5))),
    "a negative dimension": mat_file(array(6, (-2, 3), doubles(6))),
    "no dimensions": mat_file(array(6, (), doubles(6))),
    "many dimensions": mat_file(array(6, (1,) * 100, doubles(1))),
    "values of no type": mat_file(array(6, (1, 1), element(99, bytes(8)))),
    "values of half a number": mat_file(array(6, (1, 1), element(9, bytes(7)))),
    "nothing after the name": mat_file(array(6, (1, 1))),
    "complex": mat_file(array(6, (1, 1), doubles(1), doubles(1), flags=0x800)),
    "an element that goes on beyond the end": mat_file(struct.pack("<II", 14, 2**31)),
    "a short element that is long": mat_file(struct.pack("<HHI", 14, 900, 0)),
    "no array": mat_file(element(9, bytes(8))),
    "packed rubbish": mat_file(element(15, b"rubbish.")),
    "packed and cut short": mat_file(element(15, zlib.compress(array(6, (9, 9), doubles(81)))[:-30])),
    "packed twice": mat_file(element(15, zlib.compress(element(15, zlib.compress(doubles(1)))))),
    "a column before the first": mat_file(array(5, (2, 2), numbers(0, 1), numbers(-4, 1, 2), doubles(2))),
    "columns that go back": mat_file(array(5, (2, 2), numbers(0, 1), numbers(0, 2, 1), doubles(2))),
    "a row beyond the last": mat_file(array(5, (2, 2), numbers(0, 9), numbers(0, 1, 2), doubles(2))),
    "a row before the first": mat_file(array(5, (2, 2), numbers(0, -9), numbers(0, 1, 2), doubles(2))),
    "fewer values than columns say": mat_file(array(5, (2, 2), numbers(0, 1), numbers(0, 1, 9), doubles(2))),
    "too few columns": mat_file(array(5, (2, 9), numbers(0, 1), numbers(0, 1, 2), doubles(2))),
    "a sparse array of three dimensions": mat_file(
        array(5, (2, 2, 2), numbers(0), numbers(0, 1, 1), doubles(1))
    ),
    "names of fields of no length": mat_file(array(2, (1, 1), numbers(0), element(1, b"abcd"))),
    "names of fields of a negative length": mat_file(array(2, (1, 1), numbers(-8), element(1, b"abcd"))),
    "fewer fields than elements": mat_file(array(2, (9, 9), numbers(4), element(1, b"abcd"))),
    "more cells than elements": mat_file(array(1, (1, 1), array(6, (0, 0), doubles(0)), array(6, (0, 0)))),
    "cells within cells": mat_file(
        functools.reduce(lambda inner, _: array(1, (1, 1), inner), range(500), array(6, (0, 0), doubles(0)))
    ),
    "version 3": b"MATLAB 5.0".ljust(124) + b"\x00\x03IM",
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_damage_is_one_error(tmp_path, content):
    (tmp_path / "a.mat").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.mat: not a MATLAB file that can be read"):
        dict(load_mat(tmp_path / "a.mat"))


def test_version_7_3_says_what_to_do(tmp_path):
    (tmp_path / "a.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(400))
    with pytest.raises(DataError, match="HDF5; save it with the option -v7"):
        load_mat(tmp_path / "a.mat")


def test_what_is_packed_is_unpacked_as_far_as_it_may_be(tmp_path, monkeypatch):
    zeros = array(6, (1000, 1000), doubles(10**6))
    small = array(6, (1, 1), doubles(1), name=b"small")
    content = mat_file(element(15, zlib.compress(zeros)), element(15, zlib.compress(small)))
    (tmp_path / "a.mat").write_bytes(content)
    monkeypatch.setenv("ANNEALED_INPUT_MEMORY", "1M")
    tracemalloc.start()
    found = load_mat(tmp_path / "a.mat")
    assert found["small"].shape == (1, 1)
    with pytest.raises(DataError, match=r"X: an unpacked array would take 7\.6 MB"):
        found["X"]
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


def test_a_sparse_array_of_countless_rows_is_refused(tmp_path):
    content = mat_file(array(5, (2**31 - 1, 1), numbers(0), numbers(0, 1), doubles(1)))
    (tmp_path / "a.mat").write_bytes(content)
    with pytest.raises(DataError, match="a sparse array, 2147483647 x 1, would take"):
        load_mat(tmp_path / "a.mat")["X"]


@pytest.mark.parametrize("packed", [False, True])
def test_any_changed_byte_gives_the_values_of_scipy_or_an_error(tmp_path, packed):
    # SciPy's reader itself may die of such a file, so it reads only what ours has read.
    savemat(tmp_path / "a.mat", {"X": np.arange(6.0).reshape(2, 3), "s": {"y": 1.0}}, do_compression=packed)
    whole = (tmp_path / "a.mat").read_bytes()
    rng = np.random.default_rng(7)
    n_read = 0
    for _ in range(400):
        content = bytearray(whole)
        content[int(rng.integers(128, len(whole)))] = int(rng.integers(256))
        (tmp_path / "b.mat").write_bytes(content)
        try:
            found = dict(load_mat(tmp_path / "b.mat"))
        except DataError:
            continue
        n_read += 1
        if isinstance(found.get("X"), np.ndarray):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    expected = loadmat(tmp_path / "b.mat", variable_names=["X"]).get("X")
                except (TypeError, ValueError):  # names of another type are read here, and not there
                    continue
            np.testing.assert_array_equal(found["X"], expected)
    assert 0 < n_read < 400
