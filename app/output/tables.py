"""Tables on standard output: drawn for a person, or as Markdown, CSV or JSON."""

import csv
import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer


class TableFormat(StrEnum):
    """How a table is printed."""

    table = "table"
    markdown = "markdown"
    csv = "csv"
    json = "json"


FormatOption = Annotated[
    TableFormat, typer.Option("--format", help="How the table is printed.", rich_help_panel="Output")
]


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str | float]],
    table_format: TableFormat = TableFormat.table,
    formats: Sequence[str] = (),
) -> None:
    """Print a table.

    Parameters
    ----------
    columns : sequence of str
    rows : sequence of sequence of str or number
    table_format : TableFormat
    formats : sequence of str
        How the numbers of each column are written for a person, such as ``.3f``. CSV and JSON have all
        digits.
    """
    if table_format == TableFormat.json:
        print(json.dumps([dict(zip(columns, row, strict=True)) for row in rows], indent=1))
        return
    if table_format == TableFormat.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows([columns, *rows])
        return
    formats = formats or [""] * len(columns)
    texts = [
        [cell if isinstance(cell, str) else format(cell, how) for cell, how in zip(row, formats, strict=True)]
        for row in rows
    ]
    if table_format == TableFormat.markdown:
        print("| " + " | ".join(columns) + " |")
        print("|" + "|".join("---" if i == 0 else "--:" for i in range(len(columns))) + "|")
        for line in texts:
            print("| " + " | ".join(line) + " |")
        return
    _draw(columns, texts)


def _draw(columns: Sequence[str], texts: Sequence[Sequence[str]]) -> None:
    """Draw a table as wide as it is where the output is a file, or to fit a terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for i, name in enumerate(columns):
        table.add_column(name, justify="left" if i == 0 else "right", no_wrap=True)
    for line in texts:
        table.add_row(*line)
    console = Console(file=sys.stdout, markup=False, highlight=False)
    if not console.is_terminal:
        console = Console(file=sys.stdout, markup=False, highlight=False, width=10_000)
    console.print(table)
