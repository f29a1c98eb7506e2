import numpy as np
import pytest
from scipy import sparse

from annealed.datasets.tables.table import Table, join
from annealed.features.errors import DataError


def table(n=4, **options):
    return Table(np.arange(2.0 * n).reshape(n, 2), np.arange(n), "toy", **options)


def test_rows_of_a_table_keep_labels_and_queries_together():
    whole = table(qid=np.array([0, 0, 1, 1]), feature_names=("a", "b"))
    part = whole[[2, 0]]
    np.testing.assert_array_equal(part.X, [[4, 5], [0, 1]])
    assert part.y.tolist() == [2, 0]
    assert part.qid.tolist() == [1, 0]
    assert part.feature_names == ("a", "b")
    assert len(part) == 2


def test_split_gives_the_official_parts():
    whole = table(split=(np.array([0, 3]), np.array([1])))
    assert whole.train.y.tolist() == [0, 3]
    assert whole.test.y.tolist() == [1]
    assert whole.train.split is None


def test_table_without_split_says_so():
    with pytest.raises(DataError, match="toy has no official split"):
        _ = table().train


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_join_puts_the_second_part_behind_the_first(kind):
    first = Table(kind(np.eye(2)), np.array([1, 2]), "first", qid=np.array([0, 1]))
    second = Table(kind(np.ones((1, 2))), np.array([3]), "second", qid=np.array([0]))
    whole = join(first, second)
    assert sparse.issparse(whole.X) == sparse.issparse(first.X)
    assert whole.X.sum(axis=1).tolist() == [1, 1, 2]
    assert whole.qid.tolist() == [0, 1, 2]
    assert whole.train.y.tolist() == [1, 2]
    assert whole.test.y.tolist() == [3]


def test_parts_must_have_the_same_columns():
    other = Table(np.ones((1, 3)), np.ones(1), "other")
    with pytest.raises(DataError, match="toy has 2 columns and other has 3"):
        join(table(), other)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": np.ones((0, 2)), "y": np.ones(0)}, r"bad: X has shape \(0, 2\)"),
        ({"X": np.ones(3), "y": np.ones(3)}, "bad: X has shape"),
        ({"X": np.ones((3, 2)), "y": np.ones(2)}, "bad: 2 labels, expected 3"),
        ({"X": np.ones((3, 2)), "y": np.ones(3), "feature_names": ("a",)}, "1 feature names, expected 2"),
        ({"X": np.ones((3, 2)), "y": np.ones(3), "qid": np.ones(4)}, "4 query numbers, expected 3"),
    ],
)
def test_bad_tables(arguments, message):
    with pytest.raises(DataError, match=message):
        Table(name="bad", **arguments)
