"""The estimators' door for tables that are not in memory: paths, rows read block by block, Dask collections.

A model takes rows, never a path: how files become rows is known to `annealed.datasets`, which models do not
import. The root package joins the two. It is asked by name, `open_rows`, only once somebody gives a path.
"""

from collections.abc import Sequence
from importlib import import_module
from os import PathLike, fspath
from typing import Any
from warnings import warn

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_y

from ...features.errors import DataError
from ..cluster.context import current_client
from ..memory import DEFAULT_BUDGET, parse_bytes
from ..row_protocol import RowSource

MOST_SENTENCES = 5


def as_rows(X, memory_budget, exclude: Sequence[str] = ()) -> RowSource | None:
    """Return the table as rows if it is not to be held in memory, otherwise None.

    That is: a path, a Dask collection, rows already; an array or a sparse matrix that is larger than a budget
    that was stated (mapped arrays: than one gigabyte); and any of these where fits run on a cluster.
    """
    if isinstance(X, RowSource):
        return X
    is_path = isinstance(X, str | PathLike)
    if is_path or type(X).__module__.partition(".")[0] in ("dask", "dask_expr"):
        return _open_rows(fspath(X) if is_path else X, exclude)
    if not (isinstance(X, np.ndarray) or sparse.issparse(X)) or X.ndim != 2:
        return None
    if current_client() is not None:
        return _open_rows(X, exclude)
    if memory_budget is None and not isinstance(X, np.memmap):
        return None
    return _open_rows(X, exclude) if _n_bytes(X) > budget_bytes(memory_budget) else None


def budget_bytes(memory_budget) -> int:
    """Return a budget in bytes; None is one gigabyte."""
    return DEFAULT_BUDGET if memory_budget is None else parse_bytes(memory_budget)


def _open_rows(table, exclude: Sequence[str]) -> RowSource:
    root: Any = import_module(__name__.partition(".")[0])
    return root.open_rows(table, exclude)


def _n_bytes(X) -> int:
    return X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes


def names_among(*values) -> list[str]:
    """Return those of the values that are names of columns, not columns."""
    return [value for value in values if isinstance(value, str)]


def read_target(source: RowSource, y, **options) -> np.ndarray:
    """Return the target, which is given as values or as the name of a column; `options` as scikit-learn's."""
    y = source.column(y) if isinstance(y, str) else y
    y = _check_y(
        y,
        multi_output=options.get("multi_output", False),
        y_numeric=options.get("y_numeric", False),
    )
    _check_length(source, y, "y")
    return y


def read_weight(source: RowSource, sample_weight) -> np.ndarray:
    """Return the weights of the rows, shape (n_rows,), float64."""
    if sample_weight is None:
        return np.ones(source.n_rows)
    values = source.column(sample_weight) if isinstance(sample_weight, str) else sample_weight
    weight = np.asarray(values, dtype=np.float64)
    _check_length(source, weight, "sample_weight")
    if weight.ndim != 1 or not np.isfinite(weight).all() or weight.min() < 0:
        raise DataError("sample_weight must be one finite number of at least 0 a row")
    if not weight.any():
        raise DataError("sample_weight is zero for every sample")
    return weight


def _check_length(source: RowSource, values: np.ndarray, name: str) -> None:
    if len(values) != source.n_rows:
        raise DataError(f"{name} has {len(values)} values, {source.name} has {source.n_rows} rows")


def tell_left_out(source: RowSource) -> None:
    """Warn of columns that are not features."""
    if source.left_out:
        more = len(source.left_out) - MOST_SENTENCES
        sentences = [*source.left_out[:MOST_SENTENCES], *([f"and {more} more"] if more > 0 else [])]
        warn(f"{source.name}: {'; '.join(sentences)}", stacklevel=4)


def feature_columns(source: RowSource, names: np.ndarray | None, n_features: int) -> np.ndarray:
    """Return where the features of a fit are among those of the rows, shape (n_features,).

    Parameters
    ----------
    source : RowSource
        May have other columns besides, if they have names.
    names : ndarray of str, or None
        Of the features of the fit.
    n_features : int
        How many they were.
    """
    if names is None or source.feature_names is None:
        if source.n_features != n_features:
            raise DataError(f"{source.name} has {source.n_features} features, the model {n_features}")
        return np.arange(n_features)
    place = {name: j for j, name in enumerate(source.feature_names)}
    missing = [name for name in names if name not in place]
    if missing:
        raise DataError(f"{source.name}: the feature {missing[0]!r} of the model is missing")
    return np.array([place[name] for name in names])
