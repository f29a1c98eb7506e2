"""NPZ files that cannot be read, each by one error that names them."""

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
        (lambda content: content[:100], "pickled|zip|ZIP"),
        (lambda content: content[:200] + b"\xff" * 60 + content[260:], "decompressing"),
        (lambda content: changed(content, FLAGS, 1), "encrypted"),
        (lambda content: changed(content, METHOD, 99), "compression method is not supported"),
        (lambda content: b"", "No data left in file"),
    ],
    ids=["short", "damaged", "encrypted", "unknown compression", "empty"],
)
def test_what_cannot_be_read_is_named(tmp_path, content, damage, message):
    path = tmp_path / "b.npz"
    path.write_bytes(damage(content))
    with pytest.raises(DataError, match=f"b.npz: not an NPZ file that can be read .*({message})"):
        load_npz(path)


def test_objects_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.array([None]))
    with pytest.raises(DataError, match="allow_pickle"):
        load_npz(tmp_path / "a.npz")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"a\.npz: no such file"):
        load_npz(tmp_path / "a.npz")
