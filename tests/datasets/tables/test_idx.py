import gzip
import struct

import numpy as np
import pytest

from annealed.datasets.tables.idx import read_idx, read_idx_images
from annealed.features.errors import DataError


def idx(values, code):
    values = np.asarray(values)
    header = struct.pack(">HBB", 0, code, values.ndim) + struct.pack(f">{values.ndim}I", *values.shape)
    return header + values.tobytes()


IMAGES = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)


def test_images_become_rows(tmp_path):
    (tmp_path / "images").write_bytes(gzip.compress(idx(IMAGES, 8)))
    (tmp_path / "labels").write_bytes(idx(np.array([7, 0, 1], dtype=np.uint8), 8))
    table = read_idx_images(tmp_path / "images", tmp_path / "labels")
    np.testing.assert_array_equal(table.X, IMAGES.reshape(3, 4))
    assert table.y.tolist() == [7, 0, 1]


@pytest.mark.parametrize(("code", "dtype"), [(9, ">i1"), (11, ">i2"), (12, ">i4"), (13, ">f4"), (14, ">f8")])
def test_every_type_comes_in_native_order(tmp_path, code, dtype):
    (tmp_path / "a").write_bytes(idx(np.array([1, -2], dtype=dtype), code))
    values = read_idx(tmp_path / "a")
    assert values.tolist() == [1, -2]
    assert values.dtype.isnative


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not an IDX file"),
        (b"PNG......", "not an IDX file"),
        (idx(IMAGES, 8)[:-1], "11 bytes of data, shape \\(3, 2, 2\\) needs 12"),
        (idx(IMAGES, 8) + b"x", "more bytes of data"),
        (struct.pack(">HBB3I", 0, 8, 3, 2**32 - 1, 2**32 - 1, 2**32 - 1), "would take more than"),
        (idx(IMAGES, 8)[:9], "header of 3 dimensions is cut short"),
        (b"\0\0\x08\0", "header of 0 dimensions"),
        (b"\0\0\x08\xff" + bytes(4 * 255), "header of 255 dimensions"),
        (gzip.compress(struct.pack(">HBB2I", 0, 8, 2, 2**10, 2**20) + bytes(2**24)), "would take"),
        (gzip.compress(idx(IMAGES, 8), mtime=0)[:-9], "damaged gzip file"),
    ],
)
def test_bad_files(tmp_path, content, message):
    (tmp_path / "bad").write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_idx(tmp_path / "bad")


def test_labels_must_be_a_vector(tmp_path):
    (tmp_path / "images").write_bytes(idx(IMAGES, 8))
    with pytest.raises(DataError, match="labels have shape"):
        read_idx_images(tmp_path / "images", tmp_path / "images")


def test_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match="absent: No such file"):
        read_idx(tmp_path / "absent")
