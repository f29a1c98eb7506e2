import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from annealed.datasets.tables.sparse_text import read_challenge_sparse, read_svmlight, read_vw
from annealed.features.errors import DataError


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_svmlight_by_hand(tmp_path):
    table = read_svmlight(written(tmp_path, "a", "1 2:0.5 # one\n\n-1 1:2 3:-4\n"), n_features=4)
    np.testing.assert_array_equal(table.X.toarray(), [[0, 0.5, 0, 0], [2, 0, -4, 0]])
    assert table.y.tolist() == [1, -1]


def test_svmlight_round_trip(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 7)) * (rng.random((20, 7)) < 0.4)
    dump_svmlight_file(X, np.arange(20), str(tmp_path / "a"), zero_based=False)
    np.testing.assert_allclose(read_svmlight(tmp_path / "a", n_features=7).X.toarray(), X)


def test_query_sizes_become_query_numbers(tmp_path):
    rows = written(tmp_path, "rank", "0 1:1\n2 1:2\n1 2:1\n")
    table = read_svmlight(rows, query_path=written(tmp_path, "rank.query", "2\n0\n1\n"))
    assert table.qid.tolist() == [0, 0, 2]


def test_challenge_rows_have_their_labels_apart(tmp_path):
    rows = written(tmp_path, "rows", "2:7 \n1:1 2:3\n")
    table = read_challenge_sparse(rows, written(tmp_path, "labels", "-1\n1\n"), n_features=3)
    np.testing.assert_array_equal(table.X.toarray(), [[0, 7, 0], [1, 3, 0]])
    assert table.y.tolist() == [-1, 1]


def test_vw_namespaces_are_left_out(tmp_path):
    table = read_vw(written(tmp_path, "vw", "-1 |f 9:0.25 14:2e-1\n1 | 1:3\n"))
    assert table.X.shape == (2, 14)
    assert table.X[0, 8] == 0.25
    assert table.X[1, 0] == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2:0.5\n1 nonsense\n", "line 2 is not 'index:value ...' from 1 on"),
        ("1 0:0.5\n", "line 1 is not"),
        ("1 5:1\n", "line 1 is not"),
        ("1 2:nan\n", "not finite"),
        ("1 3:1 2:1\n", "line 1 is not"),
        (" \n", "no rows"),
    ],
)
def test_bad_svmlight(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read_svmlight(written(tmp_path, "bad", text), n_features=4)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match="absent: No such file"):
        read_svmlight(tmp_path / "absent")


@pytest.mark.parametrize("sizes", ["1\n", "-1\n3\n", "0.5\n1.5\n"])
def test_query_sizes_must_add_up(tmp_path, sizes):
    rows = written(tmp_path, "rank", "0 1:1\n2 1:2\n")
    query = written(tmp_path, "rank.query", sizes)
    with pytest.raises(DataError, match="rank has 2 rows"):
        read_svmlight(rows, query_path=query)


def test_labels_must_match_the_rows(tmp_path):
    rows, labels = written(tmp_path, "rows", "1:1\n"), written(tmp_path, "labels", "1\n1\n")
    with pytest.raises(DataError, match="2 labels, expected 1"):
        read_challenge_sparse(rows, labels)


def test_vw_line_without_bar(tmp_path):
    with pytest.raises(DataError, match=r"line 2 has no '\|'"):
        read_vw(written(tmp_path, "vw", "1 |f 1:1\n1 1:1\n"))
