"""Tables as people have them: categories and missing values become numbers, or are refused in one line."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ...features.errors import DataError, ParameterError
from ..knots import MOST_KNOTS

MOST_NAMES = 5  # of columns in a message


def find_categories(X, wanted: str | Sequence) -> dict[int, list]:
    """Return the labels of each column of categories, by its number.

    Parameters
    ----------
    X : DataFrame, array or anything else
        Only frames and arrays can have categories.
    wanted : {"auto", "text"} or sequence of names or numbers
        "auto": a frame's columns of pandas' type `category`; "text": those of text, too; else these columns.
    """
    if _is_frame(X):
        kinds = [str(dtype) for dtype in X.dtypes]
        chosen = [j for j, kind in enumerate(kinds) if kind == "category"]
        texts = [j for j, kind in enumerate(kinds) if kind != "category" and _holds_text(X.iloc[:, j])]
        if wanted == "text":
            chosen = sorted(chosen + texts)
        elif not isinstance(wanted, str):
            chosen = sorted({*chosen, *_numbers_of(X, wanted)})
        left = [str(X.columns[j]) for j in texts if j not in chosen]
        if left:
            raise DataError(f'{_listed(left)} of X: text; categories="text" makes categories of such columns')
    elif isinstance(wanted, str) or sparse.issparse(X):
        return {}
    else:
        X = np.asarray(X)
        chosen = sorted(_numbers_of(X, wanted))
    return {j: _labels(_column(X, j)) for j in chosen}


def code_categories(X, labels: Mapping[int, list], unseen: str):
    """Return a table whose categories are their numbers in the lists of labels, NaN where there is none.

    Parameters
    ----------
    X : DataFrame or array
    labels : mapping of int to list
    unseen : {"missing", "error"}
        What becomes of a category that has no number.
    """
    if not labels:
        return X
    columns = {j: _codes(_column(X, j), labels[j], unseen, _name(X, j)) for j in labels}
    if _is_frame(X):
        X = X.copy(deep=False)
        for j, codes in columns.items():
            X.isetitem(j, codes)
        return X
    X = np.asarray(X)
    out = np.empty(X.shape, dtype=np.float64)
    for j in range(X.shape[1]):
        out[:, j] = columns[j] if j in columns else X[:, j]
    return out


def check_missing(X: np.ndarray, names: Sequence[str]) -> None:
    """Raise a DataError that names the columns with missing values, if there are any."""
    if np.isnan(X.min()):
        columns = np.flatnonzero(np.isnan(X).any(axis=0)).tolist()
        raise DataError(
            f'X contains NaN: {_listed([names[j] for j in columns])}; missing="mean" fills in means, '
            'response="piecewise" has a place for missing values'
        )


def column_means(X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Return the mean of each column's values; a DataError names the columns that have none."""
    missing = np.isnan(X)
    counts = len(X) - missing.sum(axis=0)
    if not counts.all():
        raise DataError(
            f"{_listed([names[j] for j in np.flatnonzero(counts == 0).tolist()])} of X: no value at all"
        )
    return np.where(missing, 0.0, X).sum(axis=0) / counts


def columns_without_values(X: np.ndarray) -> np.ndarray:
    """Return the numbers of columns in which every value is missing."""
    return np.flatnonzero(np.isnan(X).all(axis=0))


def resolve_monotone(
    monotone: Mapping | None, names: Sequence[str] | None, n_features: int, categories: Mapping[int, Any]
) -> dict[int, int]:
    """Return the sign of each column that must be monotone, by its number.

    Parameters
    ----------
    monotone : mapping of names or numbers to +1 or -1, or None
    names : sequence of str, or None
    n_features : int
    categories : mapping whose keys are the columns of categories
    """
    signs = {}
    for key, sign in (monotone or {}).items():
        column = _number_of(key, names, n_features)
        if isinstance(sign, bool) or sign not in (1, -1):
            raise ParameterError(f"monotone must be +1 (rising) or -1 (falling), got {sign!r} for {key!r}")
        if column in categories:
            raise ParameterError(f"monotone: {key!r} is a category, whose values have no order")
        signs[column] = int(sign)
    return signs


def _number_of(key, names: Sequence[str] | None, n_features: int) -> int:
    if isinstance(key, str):
        if names is None or key not in list(names):
            raise ParameterError(f"there is no column {key!r} in X")
        return list(names).index(key)
    if isinstance(key, bool) or not isinstance(key, int | np.integer) or not 0 <= key < n_features:
        raise ParameterError(f"{key!r} is no column of X, which has the numbers 0 to {n_features - 1}")
    return int(key)


def _numbers_of(X, wanted: Sequence) -> list[int]:
    names = [str(name) for name in X.columns] if _is_frame(X) else None
    return [_number_of(key, names, X.shape[1]) for key in wanted]


def _is_frame(X) -> bool:
    return hasattr(X, "iloc") and hasattr(X, "dtypes") and hasattr(X, "isetitem")


def _name(X, j: int) -> str:
    return str(X.columns[j]) if _is_frame(X) else f"column {j}"


def _column(X, j: int) -> np.ndarray:
    """Return a column as objects, None where a value is missing."""
    if _is_frame(X):
        series = X.iloc[:, j]
        values = series.astype(object).to_numpy(copy=True)
        values[series.isna().to_numpy()] = None
        return values
    values = np.asarray(X)[:, j].astype(object)
    values[[value is None or value != value for value in values]] = None
    return values


def _holds_text(series) -> bool:
    """Whether a column of a frame has text that is no number."""
    if series.dtype.kind in "buifc" or str(series.dtype) in ("boolean", "Int64", "Float64"):
        return False
    if not (series.dtype == object or str(series.dtype).startswith(("str", "string"))):
        return False
    return any(isinstance(value, str) and not _is_number(value) for value in series.dropna())


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _labels(values: np.ndarray) -> list:
    """Return the different values; of too many the most frequent, the others count as missing."""
    counts: dict[Any, int] = {}
    for value in values:
        if value is not None:
            plain = value.item() if isinstance(value, np.generic) else value
            counts[plain] = counts.get(plain, 0) + 1
    frequent = sorted(counts, key=lambda label: (-counts[label], str(label)))[:MOST_KNOTS]
    return sorted(frequent, key=_rank)


def _rank(label) -> tuple:
    """Numbers before texts, each in their order."""
    return (1, 0, str(label)) if isinstance(label, str) else (0, label, "")


def _codes(values: np.ndarray, labels: list, unseen: str, name: str) -> np.ndarray:
    number = {label: float(i) for i, label in enumerate(labels)}
    codes = np.array([np.nan if value is None else number.get(value, np.nan) for value in values])
    if unseen == "error":
        strange = [value for value in values if value is not None and value not in number]
        if strange:
            raise DataError(
                f'{name} has the category {strange[0]!r}, which no training row had; unseen="missing" takes '
                "it for a missing value"
            )
    return codes


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"column{'s' * (len(names) > 1)} {', '.join(map(str, names[:MOST_NAMES]))}{more}"
