import pytest


def test_one_row_is_measured_once_and_summarised(tmp_path, capsys):
    from reproduce_simulations import main

    arguments = ["--table", "2,4", "--rows", "300x10,300x30", "--methods", "fsa,logitboost"]
    arguments += ["--runs", "1", "--out", str(tmp_path)]
    main(arguments)
    first = capsys.readouterr()
    assert "### Table 2: N = 300, M = 1000, k = 10" in first.out
    assert "### Table 4: N = 300, M = 1000, k = 30" in first.out
    assert "| logitboost | 1 | 0 |" in first.out
    assert first.err.count("seed 0: ") == 3
    main(arguments)
    again = capsys.readouterr()
    assert again.out == first.out
    assert again.err == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to do"),
        (["--table", "5"], "--table: 5 is none of 2, 3, 4"),
        (["--table", "2", "--rows", "7x7"], "--rows"),
        (["--table", "2", "--methods", "magic"], "--methods: magic is none of fsa"),
        (["--figures", "4"], "--figures: 4 is none of 1, 2, 3, 6"),
    ],
)
def test_bad_arguments(arguments, message, capsys):
    from reproduce_simulations import main

    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert message in capsys.readouterr().err


def test_paper_tables_have_every_row_and_known_columns():
    from common.paper_tables import (
        COLUMNS,
        REGRESSION_COLUMNS,
        REGRESSION_ROWS,
        ROWS,
        TABLE_2,
        TABLE_3,
        TABLE_4,
    )
    from common.peers import CLASSIFIERS, REGRESSORS

    for table, rows, columns in (
        (TABLE_2, ROWS, COLUMNS),
        (TABLE_3, ROWS, COLUMNS),
        (TABLE_4, REGRESSION_ROWS, REGRESSION_COLUMNS),
    ):
        for values in table.values():
            assert set(values) == set(rows)
            assert all(set(row) <= set(columns) for row in values.values())
    assert {method.paper for method in CLASSIFIERS.values()} <= {*COLUMNS, None}
    assert {method.paper for method in REGRESSORS.values()} <= {*REGRESSION_COLUMNS, None}


@pytest.mark.parametrize("number", [2, 3])
def test_quick_figures_are_drawn(number, tmp_path):
    from common.simulation_figures import draw

    assert draw(number, tmp_path).stat().st_size > 10_000
