import numpy as np
import pytest
from scipy import sparse
from scipy.io import arff

from annealed.datasets.tables.arff import read_arff, read_label_names
from annealed.features.errors import DataError, ParameterError

HEADER = """% a comment
@RELATION leaves
@attribute length numeric
@Attribute 'kind of leaf' {round, 'long, and thin'}

@attribute "'odd'name"1 REAL
@attribute class {no,yes}
@DATA
"""


def written(tmp_path, text, name="a.arff"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_dense_rows(tmp_path):
    path = written(tmp_path, HEADER + " 3.5, round, -1e2,yes\n% skipped\n\n?,'long, and thin',0,no\n")
    table = read_arff(path)
    np.testing.assert_array_equal(table.X, [[3.5, 0, -100], [np.nan, 1, 0]])
    assert table.y.tolist() == [1, 0]
    assert table.feature_names[:2] == ("length", "kind of leaf")
    assert table.target_names == ("class",)


def test_sparse_rows(tmp_path):
    path = written(tmp_path, HEADER + "{2 1.5,1 'long, and thin' ,3 yes}\n{}\n{0 2, 1 round}\n")
    table = read_arff(path)
    assert sparse.issparse(table.X)
    np.testing.assert_array_equal(table.X.toarray(), [[0, 1, 1.5], [0, 0, 0], [2, 0, 0]])
    assert table.y.tolist() == [1, 0, 0]


def test_targets_by_name_keep_their_order(tmp_path):
    table = read_arff(written(tmp_path, HEADER + "3.5,round,-1,yes\n"), ["class", "length"])
    np.testing.assert_array_equal(table.y, [[1, 3.5]])
    np.testing.assert_array_equal(table.X, [[0, -1]])


def test_numbers_agree_with_scipy(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((30, 5))
    header = "@relation r\n" + "".join(f"@attribute a{j} numeric\n" for j in range(5)) + "@data\n"
    path = written(tmp_path, header + "\n".join(",".join(f"{x:.17g}" for x in row) for row in rows))
    table = read_arff(path, 2)
    loaded = np.array(arff.loadarff(path)[0].tolist())
    np.testing.assert_array_equal(np.hstack([table.X, table.y]), loaded)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@relation x\n@attribute a numeric\n", "no @data line"),
        ("@attribute a\n@data\n1\n", "line 1 is not '@attribute name type'"),
        ("@attribute a date\n@data\n1\n", "line 1 has type date"),
        (HEADER, "no rows after @data"),
        (HEADER + "1,round,2\n", "line 9 has 3 values, expected 4"),
        (HEADER + "x,round,2,no\n", "line 9 has 'x' for the number length"),
        (HEADER + "1,square,2,no\n", "line 9 has 'square', which is none of kind of leaf's values"),
        (HEADER + "{0 1}\n1,round,2,no\n", "line 10 is not in braces"),
        (HEADER + "{9 1}\n", "line 9 has index '9'; accepted are 0 to 3"),
        (HEADER + "{-1 1}\n", "line 9 has index '-1'"),
    ],
)
def test_bad_files(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(DataError, match=message):
        read_arff(path)


@pytest.mark.parametrize("targets", [0, 4])
def test_bad_count_of_targets(tmp_path, targets):
    path = written(tmp_path, HEADER + "1,round,2,no\n")
    with pytest.raises(ParameterError, match=f"targets is {targets}"):
        read_arff(path, targets)


@pytest.mark.parametrize("targets", [["absent"], []])
def test_bad_names_of_targets(tmp_path, targets):
    path = written(tmp_path, HEADER + "1,round,2,no\n")
    with pytest.raises(DataError, match="no column"):
        read_arff(path, targets)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"absent\.arff: No such file"):
        read_arff(tmp_path / "absent.arff")


def test_label_names(tmp_path):
    labels = '<label name="a b"/><label name="c"></label>'
    text = f'<?xml version="1.0"?><labels xmlns="http://x/labels">{labels}</labels>'
    assert read_label_names(written(tmp_path, text)) == ["a b", "c"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<labels>", "not XML"),
        ("<labels></labels>", "no <label name=...> elements"),
        ('<labels xmlns="x"><label/></labels>', "no <label name=...> elements"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><labels/>', "entities are not accepted"),
    ],
)
def test_bad_label_names(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(DataError, match=message):
        read_label_names(path)


def test_missing_label_names(tmp_path):
    with pytest.raises(DataError, match="absent: No such file"):
        read_label_names(tmp_path / "absent")
