"""Measurements in a CSV file that grows line by line, and their summary as Markdown.

A run that is interrupted loses nothing: what the file holds already is not measured again.
"""

import csv
from pathlib import Path

import numpy as np


class Results:
    """Rows of a CSV file, each identified by its key columns.

    Parameters
    ----------
    path : Path
        Made, with its folder, when the first row is added.
    keys, values : sequence of str
        Columns; a row is the only one with its keys.
    """

    def __init__(self, path, keys, values):
        self.path = Path(path)
        self.columns = (*keys, *values)
        self._n_keys = len(keys)
        self.rows = self._read()
        self._known = {self._key(row) for row in self.rows}

    def __contains__(self, key):
        return tuple(map(str, key)) in self._known

    def add(self, **row):
        """Append a row and flush it to the disk."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = not self.path.exists() or self.path.stat().st_size == 0
        row = {column: str(row[column]) for column in self.columns}
        with self.path.open("a", newline="") as file:
            writer = csv.DictWriter(file, self.columns)
            if new:
                writer.writeheader()
            writer.writerow(row)
        self.rows.append(row)
        self._known.add(self._key(row))

    def select(self, **wanted):
        """Return the rows whose columns have the wanted values."""
        wanted = {column: str(value) for column, value in wanted.items()}
        return [row for row in self.rows if all(row[c] == v for c, v in wanted.items())]

    def _key(self, row):
        return tuple(row[column] for column in self.columns[: self._n_keys])

    def _read(self):
        if not self.path.exists() or self.path.stat().st_size == 0:
            return []
        content = self.path.read_bytes()
        # A line cut short by an interruption has no end: it goes, and is measured again.
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            self.path.write_bytes(whole)
        with self.path.open(newline="") as file:
            reader = csv.DictReader(file)
            if tuple(reader.fieldnames or ()) != self.columns:
                raise SystemExit(
                    f"{self.path} has other columns than {', '.join(self.columns)}; move it away"
                )
            return list(reader)


def numbers(rows, column):
    """Return a column's values as floats, without the empty ones."""
    return np.array([float(row[column]) for row in rows if row[column] != ""])


def mean_and_error(values):
    """Return mean and standard error (NaN for fewer than two values)."""
    if len(values) == 0:
        return np.nan, np.nan
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return values.mean(), error


def share_error(hits):
    """Return the standard error of a share of hits (0 or 1), above zero even if all or none are hits."""
    share = (hits.sum() + 1) / (len(hits) + 2)
    return np.sqrt(share * (1 - share) / (len(hits) + 2))


def with_error(values, digits):
    """Write mean +- standard error, or a dash where nothing was measured."""
    mean, error = mean_and_error(values)
    if np.isnan(mean):
        return "-"
    return f"{mean:.{digits}f}" + ("" if np.isnan(error) else f" ± {error:.{digits}f}")


def seconds(value):
    """Write a time with three significant digits."""
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def markdown_table(header, rows):
    """Return a Markdown table; every cell is a string."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
