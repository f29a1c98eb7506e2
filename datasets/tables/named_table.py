"""Any table file by its ending, with the target or the targets named by the user."""

import csv
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...features.errors import DataError
from ..limits import check_memory
from ..npz_files import NpzFile, load_npz
from .arff import read_arff
from .matlab_table import read_mat
from .sparse_text import read_svmlight
from .table import Table, whole_or_real

_TEXT_BYTES = 60  # of a number that is a Python string for a while
MISSING = {"", "na", "nan", "null", "none", "?"}


@dataclass(frozen=True)
class NamedTable:
    """A table with all of its features named, and what was left out of it.

    Attributes
    ----------
    table : Table
        With finite features only.
    left_out : tuple of str
        One sentence a column that is not a feature.
    """

    table: Table
    left_out: tuple[str, ...] = ()


def read_table(path, targets: Sequence[str]) -> NamedTable:
    """Read a table and choose its targets; the other columns are features.

    Parameters
    ----------
    path : path-like
        ``.csv``, ``.tsv``, ``.parquet`` (needs pandas and pyarrow), ``.arff``, ``.svmlight``, ``.libsvm``,
        ``.svm``, ``.mat`` or ``.npz``. MATLAB and NPZ files hold the features as the matrix X; svmlight
        files hold the one target before the features, whatever it is called.
    targets : sequence of str
        Columns (CSV, Parquet, ARFF) or variables (MATLAB, NPZ: a vector, or a matrix with a column a target)
        to predict. One target gives y of shape (n_samples,), several give (n_samples, n_targets).

    Raises
    ------
    DataError
        The file cannot be read, has no such target, no numeric column, or a value of a target is missing;
        several targets are not all numeric.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in READERS:
        raise DataError(f"{path}: ending {ending!r}; accepted are {', '.join(READERS)}")
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    targets = list(targets)
    if len(set(targets)) < len(targets):
        raise DataError(f"{path}: a target is named twice in {', '.join(targets)}")
    return _without_missing(READERS[ending](path, targets))


def _read_csv(path: Path, targets: list[str]) -> NamedTable:
    try:
        with open(path, newline="", encoding="utf-8-sig") as stream:
            rows = list(csv.reader(stream, delimiter="\t" if path.suffix.lower() == ".tsv" else ","))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: not a readable text table ({error})") from None
    rows = [row for row in rows if row]
    if len(rows) < 2:
        raise DataError(f"{path}: a line of names and at least one row are needed, found {len(rows)} lines")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise DataError(f"{path}: row {number} has {len(row)} values, expected {len(rows[0])}")
    names = [name.strip() for name in rows[0]]
    return _from_columns(path, dict(zip(names, zip(*rows[1:], strict=True), strict=True)), names, targets)


def _read_parquet(path: Path, targets: list[str]) -> NamedTable:
    try:
        import pandas
        from pyarrow.parquet import ParquetFile

        with ParquetFile(path) as file:  # what is packed may be far larger than the file
            found = file.metadata.num_rows, file.metadata.num_columns
        check_memory(path, _TEXT_BYTES * found[0] * found[1], f"a table of {found[0]} x {found[1]}")
        frame = pandas.read_parquet(path)
    except DataError:
        raise
    except ImportError:
        raise DataError(f"{path}: Parquet files need the packages pandas and pyarrow") from None
    # What it raises on a damaged file depends on the engine.
    except Exception as error:
        raise DataError(f"{path}: not a readable Parquet file ({error})") from None
    names = [str(name) for name in frame.columns]
    columns = {
        name: ["" if value is None else str(value) for value in frame.iloc[:, j].tolist()]
        for j, name in enumerate(names)
    }
    return _from_columns(path, columns, names, targets)


def _from_columns(path: Path, columns: dict, names: list[str], targets: list[str]) -> NamedTable:
    """Make a table of columns of text."""
    double = next((name for name, n in Counter(names).items() if n > 1), None)
    if double is not None:
        raise DataError(f"{path}: two columns are named {double!r}")
    _check_names(path, targets, names)
    features, left_out = {}, []
    for name in names:
        if name in targets:
            continue
        values = _numbers(columns[name])
        if values is None:
            left_out.append(f"column {name} is left out: it is not numeric (such as {columns[name][0]!r})")
        else:
            features[name] = values
    if not features:
        raise DataError(f"{path}: no numeric column besides {', '.join(map(repr, targets))}")
    y = _stack(path, {name: _target(path, name, columns[name]) for name in targets})
    table = Table(np.column_stack(list(features.values())), y, path.name, feature_names=tuple(features))
    return NamedTable(table, tuple(left_out))


def _target(path: Path, name: str, texts) -> np.ndarray:
    """Return a target's values: whole numbers, numbers or texts."""
    labels = [str(text).strip() for text in texts]
    if any(label.lower() in MISSING for label in labels):
        raise DataError(f"{path}: the target {name!r} has missing values")
    numbers = _numbers(labels)
    return np.array(labels) if numbers is None else whole_or_real(numbers)


def _stack(path: Path, values: dict[str, np.ndarray]) -> np.ndarray:
    """Return a single target as it is, and several, which must be numbers, as columns of one matrix."""
    for name, target in values.items():
        if target.dtype.kind == "f" and not np.isfinite(target).all():
            raise DataError(f"{path}: the target {name!r} has missing values")
        if target.dtype.kind not in "buif" and (len(values) > 1 or target.ndim == 2):
            found = str(target.flat[0])
            raise DataError(f"{path}: several targets must be numbers; {name!r} holds {found!r}")
    if any(0 in target.shape for target in values.values()):
        raise DataError(f"{path}: the target {next(iter(values))!r} has no values")
    y = np.column_stack(list(values.values())) if len(values) > 1 else next(iter(values.values()))
    return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y


def _numbers(texts) -> np.ndarray | None:
    """Return texts as numbers, NaN where one is missing, or None if another is not a number."""
    try:
        return np.array([np.nan if t.strip().lower() in MISSING else float(t) for t in texts])
    except ValueError:
        return None


def _read_arff(path: Path, targets: list[str]) -> NamedTable:
    table = read_arff(path, targets)
    columns = table.y.reshape(len(table), -1).T
    y = _stack(path, {name: whole_or_real(column) for name, column in zip(targets, columns, strict=True)})
    return NamedTable(replace(table, y=y))


def _read_svmlight(path: Path, targets: list[str]) -> NamedTable:
    if len(targets) > 1:
        raise DataError(f"{path}: svmlight files hold one target, not {', '.join(targets)}")
    table = read_svmlight(path)
    return NamedTable(replace(table, y=_stack(path, {targets[0]: whole_or_real(table.y)})))


def _read_mat(path: Path, targets: list[str]) -> NamedTable:
    tables = {name: read_mat(path, y=name) for name in targets}
    y = _stack(path, {name: table.y for name, table in tables.items()})
    return NamedTable(replace(tables[targets[0]], y=y))


def _read_npz(path: Path, targets: list[str]) -> NamedTable:
    arrays = load_npz(path)
    _check_names(path, [*targets, "X"], list(arrays))
    X = arrays["X"]
    if X.ndim != 2 or X.dtype.kind not in "buif":
        raise DataError(f"{path}: X must be a matrix of numbers, found shape {X.shape} of {X.dtype}")
    check_memory(path, 8 * X.size, f"a table of {X.shape[0]} x {X.shape[1]}")
    values = {name: _texts(path, name, arrays[name]) for name in targets}
    for name, target in values.items():
        if target.ndim not in (1, 2) or len(target) != len(X) or target.dtype.kind not in "buifU":
            raise DataError(
                f"{path}: {name} has shape {target.shape} of {target.dtype}; X has {len(X)} rows, and a "
                "target holds numbers or texts"
            )
    y = _stack(path, values)
    return NamedTable(Table(X.astype(np.float64), y, path.name, feature_names=_feature_names(path, arrays)))


def _feature_names(path: Path, arrays: NpzFile) -> tuple[str, ...] | None:
    if "feature_names" not in arrays:
        return None
    names = _texts(path, "feature_names", arrays["feature_names"])
    if names.ndim != 1:
        raise DataError(f"{path}: feature_names has shape {names.shape}; accepted is a list of names")
    return tuple(str(name) for name in names.tolist())


def _texts(path: Path, name: str, array: np.ndarray) -> np.ndarray:
    """Return bytes as texts, and other arrays as they are."""
    if array.dtype.kind != "S":
        return array
    try:
        return np.char.decode(array, "utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: {name} holds bytes that are not UTF-8 ({error})") from None


def _check_names(path: Path, wanted: list[str], names: list[str]) -> None:
    for name in wanted:
        if name not in names:
            shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
            raise DataError(f"{path}: no column {name!r}; it has {shown}")


def _without_missing(named: NamedTable) -> NamedTable:
    """Leave out the columns with missing or infinite values, and name the features that have no name."""
    table, left_out = named.table, list(named.left_out)
    names = np.array(table.feature_names or [f"x{j}" for j in range(table.X.shape[1])])
    X = table.X
    if isinstance(X, np.ndarray):
        finite = np.isfinite(X).all(axis=0)
    else:
        finite = np.ones(X.shape[1], dtype=bool)
        finite[X.indices[~np.isfinite(X.data)]] = False
    left_out += [f"column {name} is left out: it has missing or infinite values" for name in names[~finite]]
    if not finite.any():
        raise DataError(f"{table.name}: every numeric column has missing or infinite values")
    X = X[:, np.flatnonzero(finite)]
    return NamedTable(replace(table, X=X, feature_names=tuple(names[finite].tolist())), tuple(left_out))


READERS: dict[str, Callable[[Path, list[str]], NamedTable]] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".parquet": _read_parquet,
    ".arff": _read_arff,
    ".svmlight": _read_svmlight,
    ".libsvm": _read_svmlight,
    ".svm": _read_svmlight,
    ".mat": _read_mat,
    ".npz": _read_npz,
}
