"""Selection of features of a table that stays on disk, on this machine or on a cluster.

The table is not compared method by method, as one in memory is: a pass over it takes its time. The selection
is judged by its own model, on rows that were held out.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..datasets.rows import RowSource, open_rows
from ..features.errors import DataError, ParameterError
from ..models.annealing import Progress
from ..models.estimators.base import BaseFSA
from ..models.row_preparation import told_of_parts
from ..models.row_subset import RowSubset
from ..models.selection.comparison import ordered_support
from ..models.selection.judging import TASKS, measure
from ..models.selection.registry import METHODS, make_selector
from ..models.target_kinds import kind_of

ENDINGS = (".npy", ".h5", ".hdf5", ".zarr")
"""Of tables that are always read block by block."""

Report = Callable[[str, int, int], None]
"""Told (phase, done, total)."""

MOMENT_ROWS = 1 << 14


@dataclass(frozen=True)
class RowTable:
    """A table on disk and its targets.

    Attributes
    ----------
    rows : RowSource
    y : ndarray of shape (n_rows,) or (n_rows, n_targets)
    kind : str
        See `kind_of`.
    """

    rows: RowSource
    y: np.ndarray
    kind: str


@dataclass(frozen=True)
class RowSelection:
    """What was selected.

    Attributes
    ----------
    model : BaseFSA
        Fitted on all rows.
    features : ndarray of int64
        Best first.
    score, baseline : float or None
        Of the model fitted without the rows held out, and of no feature at all, on these.
    n_held_out : int
    """

    model: BaseFSA
    features: np.ndarray
    score: float | None = None
    baseline: float | None = None
    n_held_out: int = 0


def stays_on_disk(path: Path) -> bool:
    """Return whether a table is of a kind that is always read block by block."""
    return path.is_dir() or path.suffix.lower() in ENDINGS


def open_table(path: Path, targets: Sequence[str]) -> RowTable:
    """Open a table; each target is one of its columns, or a `.npy` file of values."""
    files = [target for target in targets if target.endswith(".npy")]
    rows = open_rows(path, [target for target in targets if target not in files])
    columns = [_values_of(Path(target)) if target in files else rows.column(target) for target in targets]
    for target, column in zip(targets, columns, strict=True):
        if column.shape != (rows.n_rows,):
            raise DataError(f"{target}: shape {column.shape}; {path} has {rows.n_rows} rows")
        if len(columns) > 1 and column.dtype.kind not in "buif":
            raise DataError(f"{target}: several targets must be numbers, got {column.dtype}")
    y = columns[0] if len(columns) == 1 else np.stack(columns, axis=1)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise DataError(f"{path}: the target has values that are missing or infinite")
    return RowTable(rows, y, kind_of(y))


def _values_of(path: Path) -> np.ndarray:
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path}: no readable .npy file of targets ({error})") from None


def make_row_selector(table: RowTable, method: str, k: int, seed: int, memory_budget: str | None) -> BaseFSA:
    """Return an unfitted selector that reads rows block by block."""
    if not 1 <= k <= table.rows.n_features:
        n = table.rows.n_features
        raise ParameterError(f"-k is {k}; {table.rows.name} has {n} features, so 1 to {n} are accepted")
    task = TASKS[table.kind] if table.y.ndim == 1 else "regression"
    selector = make_selector(method, k, task=task, random_state=seed)
    if not isinstance(selector, BaseFSA):
        able = ", ".join(name for name in METHODS if name.startswith("fsa"))
        raise ParameterError(
            f"method {method!r} looks at a whole table at once; one that stays on disk takes {able}"
        )
    return selector.set_params(memory_budget=memory_budget)


def select_from_rows(
    table: RowTable, selector: BaseFSA, folds: int, seed: int, report: Report
) -> RowSelection:
    """Select, and judge the selection on one part in `folds` of the rows (0: do not judge it)."""
    if folds == 1 or folds < 0:
        raise ParameterError(f"--folds is {folds}; accepted are 0 (no score) and 2 or more")
    judged: dict = {}
    if folds:
        drawn = np.random.default_rng([seed, 0]).permutation(table.rows.n_rows)
        held_out, rest = np.sort(drawn[: len(drawn) // folds]), np.sort(drawn[len(drawn) // folds :])
        if not len(held_out):
            raise DataError(f"{folds} folds of {len(drawn)} rows; at least as many rows are needed")
        with _reported(selector, report, " without a part"):
            selector.fit(RowSubset(table.rows, rest), table.y[rest])
        truth = table.y[held_out]
        judged = {
            "score": measure(table.kind, truth, selector.predict(RowSubset(table.rows, held_out))),
            "baseline": measure(table.kind, truth, _without_features(table.kind, table.y[rest], len(truth))),
            "n_held_out": len(held_out),
        }
    with _reported(selector, report, ""):
        selector.fit(table.rows, table.y)
    found = RowSelection(selector, ordered_support(selector, _deviations(selector, table.rows)))
    return replace(found, **judged)


@contextmanager
def _reported(selector: BaseFSA, report: Report, what: str) -> Iterator[None]:
    def tell(progress: Progress) -> None:
        report(f"annealing{what}", progress.iteration, progress.n_iter)

    selector.callback = tell
    with told_of_parts(lambda done, total: report(f"reading{what}", done, total)):
        yield


def _without_features(kind: str, y: np.ndarray, n: int) -> np.ndarray:
    """Predict the most frequent class, or the mean, n times."""
    if kind == "classes":
        classes, counts = np.unique(y, return_counts=True)
        return np.repeat(classes[np.argmax(counts)], n)
    return np.broadcast_to(y.mean(axis=0), (n, *y.shape[1:]))


def _deviations(selector: BaseFSA, rows: RowSource) -> np.ndarray:
    """Return the standard deviations of the selected features, zero for the others."""
    columns = selector.get_support(indices=True)
    first, second = np.zeros(len(columns)), np.zeros(len(columns))
    for _, block in rows.blocks(0, rows.n_rows, MOMENT_ROWS, columns):
        dense = (block.toarray() if rows.is_sparse else block).astype(np.float64)
        first += dense.sum(axis=0)
        second += (dense**2).sum(axis=0)
    out = np.zeros(rows.n_features)
    out[columns] = np.sqrt(np.maximum(second / rows.n_rows - (first / rows.n_rows) ** 2, 0))
    return out
