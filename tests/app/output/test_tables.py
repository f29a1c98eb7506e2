import csv
import io
import json

import pytest

from annealed.app.output.tables import TableFormat, print_table

COLUMNS = ["method", "k", "accuracy"]
ROWS = [["fsa", 10, 0.91234567], ["random [x]", 5, 0.5]]
FORMATS = ["", "d", ".3f"]


def printed(capsys, table_format):
    print_table(COLUMNS, ROWS, table_format, FORMATS)
    return capsys.readouterr().out


def test_a_drawn_table_is_for_the_eye(capsys):
    lines = [line.rstrip() for line in printed(capsys, TableFormat.table).splitlines() if line.strip()]
    assert lines[0].split() == COLUMNS
    assert lines[2].split() == ["fsa", "10", "0.912"]
    assert lines[3].split() == ["random", "[x]", "5", "0.500"]


def test_a_drawn_table_in_a_file_is_never_cut(capsys):
    print_table(["name"], [["x" * 300]])
    assert "x" * 300 in capsys.readouterr().out


def test_markdown(capsys):
    assert printed(capsys, TableFormat.markdown).splitlines()[1:3] == [
        "|---|--:|--:|",
        "| fsa | 10 | 0.912 |",
    ]


@pytest.mark.parametrize("table_format", [TableFormat.csv, TableFormat.json])
def test_programs_get_all_digits(capsys, table_format):
    text = printed(capsys, table_format)
    rows = json.loads(text) if table_format == "json" else list(csv.DictReader(io.StringIO(text)))
    assert [row["method"] for row in rows] == ["fsa", "random [x]"]
    assert float(rows[0]["accuracy"]) == 0.91234567
