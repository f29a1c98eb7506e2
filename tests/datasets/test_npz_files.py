"""NPZ files that cannot be read, each by one error that names them."""

import io
import struct
import zipfile

import numpy as np
import pytest

from annealed.datasets.npz_files import load_npz
from annealed.features.errors import DataError

LOCAL, CENTRAL = b"PK\x03\x04", b"PK\x01\x02"
# Where a header of a ZIP archive has its flags and its method of compression, after the signature.
FLAGS = {LOCAL: 6, CENTRAL: 8}
METHOD = {LOCAL: 8, CENTRAL: 10}


@pytest.fixture
def content(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", a=np.random.default_rng(0).random((50, 9)), b=3)
    return bytearray((tmp_path / "a.npz").read_bytes())


def changed(content, places, value):
    for signature, offset in places.items():
        content[content.find(signature) + offset] = value
    return content


def test_arrays_come_back(tmp_path, content):
    arrays = load_npz(tmp_path / "a.npz")
    assert arrays["a"].shape == (50, 9)
    assert arrays["b"] == 3


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:100], "not an NPZ file that can be read .*not a zip file"),
        (lambda content: b"", "not an NPZ file that can be read .*not a zip file"),
        (lambda content: content[:200] + b"\xff" * 60 + content[260:], "a cannot be read .*decompressing"),
        (lambda content: changed(content, FLAGS, 1), "a cannot be read .*encrypted"),
        (lambda content: changed(content, METHOD, 99), "a is not an array as NumPy writes them"),
    ],
    ids=["short", "empty", "damaged", "encrypted", "unknown compression"],
)
def test_what_cannot_be_read_is_named(tmp_path, content, damage, message):
    path = tmp_path / "b.npz"
    path.write_bytes(damage(content))
    with pytest.raises(DataError, match=rf"b\.npz: {message}"):
        dict(load_npz(path))


def test_objects_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.array([None]))
    with pytest.raises(DataError, match="a holds objects"):
        load_npz(tmp_path / "a.npz")["a"]


def member(name, header, data=b""):
    """An NPZ file with one member that says what it likes."""
    stream = io.BytesIO()
    text = str(header).encode() + b"\n"
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data)
    return stream.getvalue()


def test_an_array_is_no_larger_than_its_budget(tmp_path):
    path = tmp_path / "a.npz"
    header = {"descr": "<f8", "fortran_order": False, "shape": (2**20, 2**20)}
    path.write_bytes(member("a.npy", header))
    with pytest.raises(
        DataError, match=r"a, 1048576 x 1048576 of float64, would take 8192.0 GB.*INPUT_MEMORY"
    ):
        load_npz(path)["a"]


def test_members_that_are_not_asked_for_are_not_unpacked(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "a.npz", small=np.arange(3), large=np.zeros(10**6))
    monkeypatch.setenv("ANNEALED_INPUT_MEMORY", "1M")
    arrays = load_npz(tmp_path / "a.npz")
    assert arrays["small"].tolist() == [0, 1, 2]
    assert sorted(arrays) == ["large", "small"]
    with pytest.raises(DataError, match=r"large, 1000000 of float64, would take 7.6 MB"):
        arrays["large"]


@pytest.mark.parametrize(
    ("name", "header", "message"),
    [
        ("a.txt", {}, "a.txt is not an array"),
        ("a.npy", {"descr": "<f8"}, "a cannot be read"),
        ("a.npy", "{" * 5000, "a cannot be read"),
        ("a.npy", {"descr": "<f8", "fortran_order": False, "shape": (-1, 2)}, "a cannot be read"),
        ("a.npy", {"descr": "<f8", "fortran_order": False, "shape": (5,)}, "a cannot be read"),
        ("a.npy", {"descr": "<f8", "fortran_order": False, "shape": (0, 2**70)}, "a cannot be read"),
    ],
)
def test_members_that_are_no_arrays_are_named(tmp_path, name, header, message):
    (tmp_path / "a.npz").write_bytes(member(name, header))
    with pytest.raises(DataError, match=message):
        dict(load_npz(tmp_path / "a.npz"))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"a\.npz: no such file"):
        load_npz(tmp_path / "a.npz")
