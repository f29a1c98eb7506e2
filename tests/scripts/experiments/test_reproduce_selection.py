import numpy as np
import pytest
from scipy import sparse


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_columns_are_scaled_by_the_training_part_alone(kind):
    from reproduce_selection import standardised

    X = np.array([[1.0, 5, 0], [3, 5, 2], [5, 5, 4], [9, 7, 6]])
    train, test = standardised(kind(X[:3]), kind(X[3:]))
    train, test = (part.toarray() if sparse.issparse(part) else part for part in (train, test))
    deviation = np.sqrt(8 / 3)
    center = 0 if kind is sparse.csr_array else np.array([3, 2])
    np.testing.assert_allclose(train, (X[:3][:, [0, 2]] - center) / deviation)
    np.testing.assert_allclose(test, (X[3:][:, [0, 2]] - center) / deviation)


def test_folds_cover_every_row_once_a_repeat():
    from reproduce_selection import folds_of

    from annealed.datasets.tables.table import Table

    codes = np.arange(20) % 2
    parts = list(folds_of(Table(np.ones((20, 1)), codes, "t"), codes, repeats=2))
    assert [(seed, fold) for seed, fold, _, _ in parts] == [(s, f) for s in range(2) for f in range(5)]
    for seed in range(2):
        tested = np.concatenate([test for s, _, _, test in parts if s == seed])
        assert sorted(tested) == list(range(20))
    assert all(not set(train) & set(test) for _, _, train, test in parts)


def test_measured_errors_by_hand():
    from common.peers import Fitted, Method
    from reproduce_selection import measure

    support = np.array([True, False])
    method = Method(lambda X, y, k, seed: Fitted(support, lambda X: X[:, 0]))
    X_test = np.array([[1.0, 0], [-1, 0], [2, 0], [-3, 0]])
    # Labels 4 and 7: positive scores mean 7. One of three 7 and none of one 4 are wrong.
    row = measure(method, np.ones((2, 2)), np.array([4, 7]), X_test, np.array([7, 4, 7, 7]), 1, 0)
    assert float(row["error"]) == 25
    assert float(row["balanced_error"]) == pytest.approx(100 / 6, abs=1e-3)
    assert float(row["auc"]) == pytest.approx(2 / 3, abs=1e-6)
    assert row["n_selected"] == 1


def test_ndcg_by_hand():
    from reproduce_selection import mean_ndcg

    y, qid = np.array([0, 1, 2, 1]), np.array([0, 0, 1, 2])
    assert mean_ndcg(y, np.array([0.0, 1, 0, 0]), qid) == pytest.approx(1)
    assert mean_ndcg(y, np.array([1.0, 0, 0, 0]), qid) == pytest.approx(1 / np.log2(3))


@pytest.mark.real_data
def test_one_table_is_measured_and_summarised(data_folder, tmp_path, capsys):
    from reproduce_selection import main

    arguments = ["--data", str(data_folder), "--sets", "colon,lymphoma", "--methods", "fsa,mcp-logistic"]
    main([*arguments, "--k", "5", "--repeats", "1", "--out", str(tmp_path)])
    out = capsys.readouterr().out
    assert "### colon (62 x 2000, 2 classes; 5-fold cross-validation), k = 5" in out
    assert "| fsa | 5 | 5.0 |" in out
    assert "`mcp-logistic` skipped: two classes only." in out


def test_unknown_table_is_refused(capsys):
    from reproduce_selection import main

    with pytest.raises(SystemExit, match="2"):
        main(["--data", "x", "--sets", "iris"])
    assert "--sets: iris is none of dexter" in capsys.readouterr().err
