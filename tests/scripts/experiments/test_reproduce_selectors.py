"""Folds, choices and summaries of the comparison of all selectors, on small tables."""

import numpy as np
import pytest
from scipy import sparse

from annealed.datasets.tables.table import Table


def make_table(kind, n=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 8))
    y = {
        "classes": np.where(X[:, 2] > 0, "b", "a"),
        "labels": np.c_[X[:, 2] > 0, X[:, 5] > 0].astype(int),
        "targets": np.c_[X[:, 2], X[:, 5]],
        "grades": np.digitize(X[:, 2], [0, 1]),
    }[kind]
    return Table(X, y, "small", qid=np.repeat(np.arange(n // 6), 6) if kind == "grades" else None)


def run_on(table, tmp_path, methods, sizes, choose=False, patience=60.0):
    from common.results import Results
    from reproduce_selectors import KEYS, VALUES, TableRun

    results = Results(tmp_path / "s.csv", KEYS, VALUES)
    TableRun(table, results, sizes, choose, 3, patience).run(methods)
    return results


@pytest.mark.parametrize("kind", ["classes", "labels", "targets", "grades"])
def test_every_kind_of_table_is_measured(kind, tmp_path):
    results = run_on(make_table(kind), tmp_path, ["fsa", "f", "random", "all"], [2])
    assert len(results.rows) == 12
    assert {row["problem"] for row in results.rows} == {""}
    assert {row["kind"] for row in results.rows} == {kind}
    score = {m: np.mean([float(r["score"]) for r in results.select(method=m)]) for m in ("fsa", "random")}
    assert score["fsa"] > score["random"]
    assert all("2" in row["selected"].split() for row in results.select(method="fsa"))


def test_folds_of_rankings_keep_queries_whole():
    from common.selector_tasks import Task

    table = make_table("grades")
    for train, test in Task(table).folds(np.arange(60), 3):
        assert not set(table.qid[train]) & set(table.qid[test])


def test_selection_never_sees_the_test_rows(tmp_path, monkeypatch):
    from common import selector_tasks

    seen = []
    select = selector_tasks.fit_selection
    monkeypatch.setattr(
        selector_tasks, "fit_selection", lambda X, *rest: seen.append(X[:, 0].copy()) or select(X, *rest)
    )
    table = make_table("classes")
    run_on(table, tmp_path, ["f"], [1, 2], choose=True)
    folds = selector_tasks.Task(table).folds(np.arange(60), 3)
    # a fold has one selection a size, and one a size and inner fold for the choice
    for fold, (_, test) in enumerate(folds):
        for column in seen[fold * 8 : (fold + 1) * 8]:
            assert not np.isin(table.X[test, 0], column).any()


def test_chosen_size_repeats_that_sizes_selection(tmp_path):
    results = run_on(make_table("classes"), tmp_path, ["f"], [1, 3], choose=True)
    for row in results.select(k="auto"):
        (same,) = results.select(k=row["n_selected"], fold=row["fold"])
        assert (same["selected"], same["score"]) == (row["selected"], row["score"])


def test_measurements_are_not_repeated(tmp_path, monkeypatch):
    run_on(make_table("classes"), tmp_path, ["f"], [2])
    from common import selector_tasks

    monkeypatch.setattr(selector_tasks.Task, "select", lambda *_: pytest.fail("measured again"))
    assert len(run_on(make_table("classes"), tmp_path, ["f"], [2]).rows) == 3


def test_problems_and_lost_patience_are_written_down(tmp_path, capsys):
    from common.selector_summary import print_table

    results = run_on(make_table("classes"), tmp_path, ["chi2", "screened-lasso", "f"], [2], patience=0.0)
    problems = {row["method"]: row["problem"] for row in results.rows}
    assert "negative values" in problems["chi2"]
    assert problems["screened-lasso"] == "for regression only"
    assert problems["f"] == "a selection took over 0 s"
    assert results.select(method="f", fold=0)[0]["problem"] == ""
    print_table(results, "small", ["chi2", "f"], ["2"])
    out = capsys.readouterr().out
    assert "### small (60 x 8, classes; 3 folds)" in out
    assert "`f`, 2 measurements left out: a selection took over 0 s." in out


def test_large_sparse_tables_are_not_made_dense(tmp_path, monkeypatch):
    import reproduce_selectors

    monkeypatch.setattr(reproduce_selectors, "DENSE_BYTES", 1000)
    X = sparse.random_array((60, 40), density=0.3, rng=np.random.default_rng(0), format="csr")
    table = Table(X, (X[:, [3]].toarray()[:, 0] > 0).astype(int), "small")
    results = run_on(table, tmp_path, ["fsa", "f"], [2])
    assert {row["problem"] for row in results.select(method="f")} == {
        "the table is too large to be made dense"
    }
    assert {row["problem"] for row in results.select(method="fsa")} == {""}


def test_drawn_rows_are_few_and_queries_whole():
    from reproduce_selectors import rows_within

    assert len(rows_within(make_table("classes"), 20)) == 20
    drawn = rows_within(make_table("grades"), 20)
    assert np.unique(drawn.qid, return_counts=True)[1].tolist() == [6, 6, 6]
    assert len(rows_within(make_table("grades"), None)) == 60


def test_places_share_ties():
    from common.selector_summary import place

    scores = {m: [{"score": s}] for m, s in (("a", "0.9"), ("b", "0.8"), ("c", "0.8"), ("d", "0.1"))}
    assert [place(scores, m) for m in "abcd"] == [1, 2.5, 2.5, 4]


def test_overall_table_counts_complete_tables_only(tmp_path, capsys):
    from common.selector_summary import print_overall

    results = run_on(make_table("classes"), tmp_path, ["fsa", "f", "l1"], [2])
    results.rows = [row for row in results.rows if (row["method"], row["fold"]) != ("l1", "2")]
    print_overall(results, ["small"], ["fsa", "f", "l1"], "2")
    out = capsys.readouterr().out
    assert "| fsa | 1 |" in out
    assert "l1" not in out


@pytest.mark.real_data
def test_script_measures_and_prints(data_folder, tmp_path, capsys):
    from reproduce_selectors import main

    chosen = ["--sets", "jura", "--methods", "fsa,pearson", "--ks", "2,4,auto", "--folds", "3"]
    main(["--data", str(data_folder), *chosen, "--out", str(tmp_path)])
    out = capsys.readouterr().out
    assert "### jura (359 x 15, targets; 3 folds)" in out
    assert "### All tables, k = auto" in out
    main([*chosen, "--out", str(tmp_path), "--summary-only"])
    assert capsys.readouterr().out == out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sets", "iris"], "--sets: iris is none of dexter"),
        (["--methods", "magic"], "--methods: magic is none of fsa"),
        (["--ks", "5,many"], "--ks: 5,many; accepted are whole numbers and auto"),
    ],
)
def test_unknown_names_are_refused(arguments, message, capsys):
    from reproduce_selectors import main

    with pytest.raises(SystemExit, match="2"):
        main(["--data", "x", *arguments])
    assert message in capsys.readouterr().err
