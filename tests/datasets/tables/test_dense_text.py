import numpy as np
import pytest

from annealed.datasets.tables.dense_text import read_dense_text, read_numbers
from annealed.features.errors import DataError


def test_rows_and_labels(tmp_path):
    (tmp_path / "rows").write_text("0 71 5 \n1 2.5 -3\n\n")
    (tmp_path / "labels").write_text("1\n-1\n")
    table = read_dense_text(tmp_path / "rows", tmp_path / "labels")
    np.testing.assert_array_equal(table.X, [[0, 71, 5], [1, 2.5, -3]])
    assert table.y.tolist() == [1, -1]


def test_commas_separate_too(tmp_path):
    (tmp_path / "rows").write_text("1,2\n3, 4\n")
    np.testing.assert_array_equal(read_numbers(tmp_path / "rows"), [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1 2\n3\n", "row 2 has 1 numbers, the first row has 2"),
        (b"1 x\n", "could not convert"),
        (b"1 nan\n", "not finite"),
        (b"\n", "no rows"),
        (b"\xff\xfe", "not a text file"),
    ],
)
def test_bad_numbers(tmp_path, content, message):
    (tmp_path / "bad").write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_numbers(tmp_path / "bad")


def test_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match="absent: No such file"):
        read_numbers(tmp_path / "absent")
