"""Every table format through one reader, and clear words about what is left out."""

import numpy as np
import pandas
import pytest
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from annealed.datasets.tables.named_table import read_table
from annealed.features.errors import DataError

X = np.array([[1.5, -2.0], [0.0, 4.0], [3.0, 1.0]])
Y = np.array([0, 1, 1])
NAMED = ("csv", "tsv", "arff", "parquet")


def write(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def test_formats_give_the_same_table(tmp_path):
    paths = {}
    paths["csv"] = write(tmp_path, "a.csv", "u,y,v\n1.5,0,-2\n0,1,4\n3,1,1\n")
    paths["tsv"] = write(tmp_path, "a.tsv", "u\ty\tv\n1.5\t0\t-2\n0\t1\t4\n3\t1\t1\n")
    header = "@relation a\n@attribute u numeric\n@attribute v numeric\n@attribute y numeric\n@data\n"
    paths["arff"] = write(tmp_path, "a.arff", header + "1.5,-2,0\n0,4,1\n3,1,1\n")
    for name in ("svmlight", "mat", "npz"):
        paths[name] = tmp_path / f"a.{name}"
    dump_svmlight_file(X, Y, str(paths["svmlight"]), zero_based=False)
    savemat(paths["mat"], {"X": X, "y": Y[:, None]})
    np.savez(paths["npz"], X=X, y=Y)
    paths["parquet"] = tmp_path / "a.parquet"
    pandas.DataFrame({"u": X[:, 0], "y": Y, "v": X[:, 1]}).to_parquet(paths["parquet"])
    for name, path in paths.items():
        named = read_table(path, ["y"])
        values = named.table.X if isinstance(named.table.X, np.ndarray) else named.table.X.toarray()
        np.testing.assert_array_equal(values, X, err_msg=name)
        np.testing.assert_array_equal(named.table.y, Y, err_msg=name)
        assert named.table.feature_names == (("u", "v") if name in NAMED else ("x0", "x1"))
        assert named.left_out == ()


def test_formats_give_the_same_targets(tmp_path):
    Z = np.array([[0, 2.5], [1, 1.0], [1, -3.0]])
    paths = {}
    paths["csv"] = write(tmp_path, "a.csv", "u,y,z,v\n1.5,0,2.5,-2\n0,1,1,4\n3,1,-3,1\n")
    header = "@relation a\n" + "".join(f"@attribute {name} numeric\n" for name in "uzvy")
    paths["arff"] = write(tmp_path, "a.arff", header + "@data\n1.5,2.5,-2,0\n0,1,4,1\n3,-3,1,1\n")
    for name in ("mat", "npz"):
        paths[name] = tmp_path / f"a.{name}"
    savemat(paths["mat"], {"X": X, "y": Z[:, :1], "z": Z[:, 1:], "both": Z})
    np.savez(paths["npz"], X=X, y=Z[:, 0], z=Z[:, 1], both=Z)
    for name, path in paths.items():
        wanted = [["y", "z"], ["both"]] if name in ("mat", "npz") else [["y", "z"]]
        for targets in wanted:
            table = read_table(path, targets).table
            np.testing.assert_array_equal(table.X, X, err_msg=name)
            np.testing.assert_array_equal(table.y, Z, err_msg=name)
        np.testing.assert_array_equal(read_table(path, ["z"]).table.y, Z[:, 1], err_msg=name)


@pytest.mark.parametrize(
    ("name", "targets", "message"),
    [
        ("a.csv", ["u", "u"], "a target is named twice in u, u"),
        ("a.csv", ["u", "word"], "several targets must be numbers; 'word' holds 'a'"),
        ("a.csv", ["u", "gone"], "no column 'gone'; it has u, word, v"),
        ("a.csv", ["u", "v"], "no numeric column besides 'u', 'v'"),
        ("a.svmlight", ["u", "v"], "svmlight files hold one target, not u, v"),
        ("a.npz", ["y"], r"y has shape \(2,\) of int64; X has 3 rows"),
        ("a.npz", ["words"], "several targets must be numbers; 'words' holds 'a'"),
        ("a.npz", ["hole"], "the target 'hole' has missing values"),
        ("a.mat", ["hole"], "the target 'hole' has missing values"),
    ],
)
def test_bad_targets_are_named(tmp_path, name, targets, message):
    write(tmp_path, "a.csv", "u,word,v\n1,a,2\n3,b,4\n")
    write(tmp_path, "a.svmlight", "1 1:2\n0 1:3\n")
    np.savez(tmp_path / "a.npz", X=X, y=Y[:2], hole=[1, np.nan, 0], words=np.full((3, 2), "a"))
    savemat(tmp_path / "a.mat", {"X": X, "hole": [1, np.nan, 0]})
    with pytest.raises(DataError, match=message):
        read_table(tmp_path / name, targets)


def test_text_and_missing_values_are_left_out_with_words(tmp_path):
    path = write(tmp_path, "a.csv", "u,town,hole,y\n1,Ulm,1,yes\n2,Aue,,no\n")
    named = read_table(path, ["y"])
    assert named.table.feature_names == ("u",)
    assert named.table.y.tolist() == ["yes", "no"]
    assert named.left_out == (
        "column town is left out: it is not numeric (such as 'Ulm')",
        "column hole is left out: it has missing or infinite values",
    )


def test_infinite_values_in_a_sparse_table_are_left_out(tmp_path):
    path = write(tmp_path, "a.svmlight", "1 1:2 2:inf\n0 1:3\n")
    try:
        named = read_table(path, ["y"])
    except DataError:
        return  # refused by the parser: as clear
    assert named.table.feature_names == ("x0",)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "u,v\n1,2\n", "no column 'y'; it has u, v"),
        ("a.csv", "u,y\n", "a line of names and at least one row are needed, found 1 lines"),
        ("a.csv", "", "found 0 lines"),
        ("a.csv", "u,y\n1,2\n1\n", "row 3 has 1 values, expected 2"),
        ("a.csv", "u,u,y\n1,2,3\n", "two columns are named 'u'"),
        ("a.csv", "u,y\nUlm,1\n", "no numeric column besides 'y'"),
        ("a.csv", "u,y\n1,\n", "the target 'y' has missing values"),
        ("a.csv", "u,y\nnan,1\n", "every numeric column has missing or infinite values"),
        ("a.xls", "", "ending '.xls'; accepted are .csv"),
        ("a.npz", "PK", "not an NPZ file that can be read"),
        ("a.mat", "M", "not a MATLAB file that can be read"),
        ("a.parquet", "P", "Parquet"),
    ],
)
def test_bad_files_are_named(tmp_path, name, text, message):
    with pytest.raises(DataError, match=message) as caught:
        read_table(write(tmp_path, name, text), ["y"])
    assert name in str(caught.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_table(tmp_path / "none.csv", ["y"])


def test_npz_of_the_wrong_shape(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.zeros(3), y=Y)
    with pytest.raises(DataError, match="X must be a matrix of numbers"):
        read_table(tmp_path / "a.npz", ["y"])
