"""Rows of a Parquet file, or of a folder of them: only the wanted columns are read."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path

import numpy as np

from ...features.errors import DataError
from ..limits import check_table
from .row_source import RowSource, UnchangedFiles, float_dtype
from .stores import import_or_say


class ParquetRows(RowSource):
    """Rows of Parquet files with one schema, one file after another in the order of their names.

    Numeric columns are features. Text, categories, dates and columns with missing values are left out,
    each with a word, as for tables that are read whole.

    Parameters
    ----------
    path : path-like
        A file, or a folder whose ``*.parquet`` are the parts of one table.
    exclude : sequence of str
        Columns that are no features: the targets and the weights.
    """

    def __init__(self, path, exclude: Sequence[str] = ()) -> None:
        self.path = Path(path)
        self.name = str(path)
        self.paths = sorted(self.path.glob("*.parquet")) if self.path.is_dir() else [self.path]
        if not self.paths:
            raise DataError(f"{path}: no .parquet file in this folder")
        self._files = UnchangedFiles(self.paths)
        with self._reported("not a readable Parquet file"):
            files = [self._file(each) for each in self.paths]
            self._check_schemas([file.schema_arrow for file in files], exclude)
            groups = [[file.metadata.row_group(g) for g in range(file.num_row_groups)] for file in files]
            self._group_rows = [[group.num_rows for group in of_file] for of_file in groups]
            statistics = _Statistics(group for of_file in groups for group in of_file)
            self._starts = [0, *accumulate(map(sum, self._group_rows))]
            self.n_rows = self._starts[-1]
            if min(map(min, filter(None, self._group_rows)), default=0) < 0 or self.n_rows == 0:
                raise DataError(f"{path}: no rows")
            self._choose_features(files[0].schema_arrow, exclude, statistics)
        check_table(self.path, self.n_rows, self.n_features, self.dtype.itemsize)

    def _file(self, path: Path):
        parquet = import_or_say("pyarrow.parquet", "parquet", path)
        self._files.check(path)
        return parquet.ParquetFile(path)

    @contextmanager
    def _reported(self, what: str) -> Iterator[None]:
        """Turn whatever Arrow raises on a damaged file into one line."""
        try:
            yield
        except DataError:
            raise
        except Exception as error:
            raise DataError(f"{self.path}: {what} ({error})") from None

    def _check_schemas(self, schemas, exclude: Sequence[str]) -> None:
        """Raise a DataError if a file does not have the columns of the first, in name and type."""
        first = {field.name: str(field.type) for field in schemas[0]}
        if len(first) < len(schemas[0]):
            double = next(name for name in schemas[0].names if schemas[0].names.count(name) > 1)
            raise DataError(f"{self.paths[0]}: two columns are named {double!r}")
        for path, schema in zip(self.paths, schemas, strict=True):
            found = {field.name: str(field.type) for field in schema}
            for name in first.keys() | found.keys():
                if first.get(name) != found.get(name):
                    raise DataError(
                        f"{path}: column {name!r} is {found.get(name, 'missing')}, "
                        f"but {first.get(name, 'missing')} in {self.paths[0].name}"
                    )
        for name in exclude:
            if name not in first:
                shown = ", ".join(list(first)[:10]) + (", ..." if len(first) > 10 else "")
                raise DataError(f"{self.path}: no column {name!r}; it has {shown}")

    def _choose_features(self, schema, exclude: Sequence[str], statistics: "_Statistics") -> None:
        from pyarrow import types

        names, dtypes, left_out = [], [], []
        for field in schema:
            numeric = (
                types.is_integer(field.type) or types.is_floating(field.type) or types.is_boolean(field.type)
            )
            if field.name in exclude:
                continue
            if not numeric:
                left_out.append(f"column {field.name} is left out: it is not numeric ({field.type})")
            elif statistics.nulls.get(field.name):
                left_out.append(f"column {field.name} is left out: it has missing or infinite values")
            else:
                names.append(field.name)
                dtypes.append(np.bool_ if types.is_boolean(field.type) else field.type.to_pandas_dtype())
        if not names:
            besides = ", ".join(map(repr, exclude)) or "those that are left out"
            raise DataError(f"{self.path}: no numeric column besides {besides}")
        self.feature_names = tuple(names)
        self._ranges = statistics.ranges(names)
        self.left_out = tuple(left_out)
        self.n_features = len(names)
        self.dtype = max((float_dtype(dtype, self.name) for dtype in dtypes), key=lambda d: d.itemsize)

    def ranges(self):
        return self._ranges

    def read(self, start, stop, columns=None):
        return np.concatenate([rows for _, rows in self.blocks(start, stop, stop - start, columns)])

    def blocks(self, start, stop, size, columns=None) -> Iterator[tuple[int, np.ndarray]]:
        """Yield blocks that end where files and row groups do, so that each is read once."""
        assert self.feature_names is not None
        wanted = range(self.n_features) if columns is None else columns
        names = [self.feature_names[j] for j in wanted]
        row = start
        for first, batch in self._batches(start, stop, size, names):
            with self._reported(f"rows from {first} on cannot be read"):
                rows = self._matrix(batch, names)
            yield first, rows
            row = first + len(rows)
        if row != stop:
            raise DataError(f"{self.path}: ends before row {stop}")

    def column(self, name):
        parts = [batch.column(0) for _, batch in self._batches(0, self.n_rows, 1 << 16, [name])]
        if any(part.null_count for part in parts):
            raise DataError(f"{self.path}: the target {name!r} has missing values")
        with self._reported(f"the target {name!r} cannot be read"):
            values = np.concatenate([part.to_numpy(zero_copy_only=False) for part in parts])
        return values.astype(str) if values.dtype == object else values

    def _batches(self, start: int, stop: int, size: int, names: list[str]):
        """Yield the first row and the Arrow batch of every piece of the rows [start, stop)."""
        for f, path in enumerate(self.paths):
            if self._starts[f + 1] <= start or stop <= self._starts[f]:
                continue
            with self._reported("cannot be read any more"):
                file = self._file(path)
            first = self._starts[f]
            for g, n in enumerate(self._group_rows[f]):
                if first + n > start and first < stop:
                    with self._reported(f"row group {g} of {path.name} cannot be read"):
                        yield from _cut(file, g, first, (start, stop), size, names)
                first += n

    def _matrix(self, batch, names: list[str]) -> np.ndarray:
        """Turn a batch into a matrix; its columns are contiguous, as Arrow has them."""
        values = np.empty((len(names), batch.num_rows), dtype=self.dtype)
        for out, name in zip(values, names, strict=True):
            out[:] = batch.column(name).to_numpy(zero_copy_only=False)
        return values.T

    def place(self, row):
        f = int(np.searchsorted(self._starts, row, side="right")) - 1
        return f"{self.paths[f]}, row {row - self._starts[f]}"


class _Statistics:
    """What the row groups say of their columns.

    Attributes
    ----------
    nulls : dict
        Missing values of each column, as far as they are counted.
    """

    def __init__(self, groups: Iterable) -> None:
        self.nulls: dict[str, int] = {}
        self._low: dict[str, float] = {}
        self._high: dict[str, float] = {}
        self._unknown: set[str] = set()
        for group in groups:
            for c in range(group.num_columns):
                self._add(group.column(c))

    def _add(self, column) -> None:
        name, statistics = column.path_in_schema, column.statistics
        if statistics is not None and statistics.has_null_count:
            self.nulls[name] = self.nulls.get(name, 0) + statistics.null_count
        if statistics is None or not statistics.has_min_max:
            self._unknown.add(name)
        elif column.physical_type in ("BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE"):
            self._low[name] = min(self._low.get(name, np.inf), statistics.min)
            self._high[name] = max(self._high.get(name, -np.inf), statistics.max)

    def ranges(self, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the smallest and the largest value of columns, if all are known."""
        if any(name in self._unknown or name not in self._low for name in names):
            return None
        low, high = ([float(values[name]) for name in names] for values in (self._low, self._high))
        return np.array(low), np.array(high)


def _cut(file, group: int, first: int, wanted: tuple[int, int], size: int, names: list[str]):
    """Yield the wanted rows of one row group, whose first row is `first`."""
    for batch in file.iter_batches(size, row_groups=[group], columns=names):
        low, high = max(wanted[0] - first, 0), min(wanted[1] - first, batch.num_rows)
        if low < high:
            yield first + low, batch.slice(low, high - low)
        first += batch.num_rows
        if first >= wanted[1]:
            return
