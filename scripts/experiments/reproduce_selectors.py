"""Every selector on every real table: score by nested cross-validation, stability of the selection, seconds.

    scripts/experiments/reproduce_selectors.py --data DIR --sets colon,allaml --methods fsa,fsa-piecewise,mrmr
    scripts/experiments/reproduce_selectors.py --data DIR --sets all --ks 20,auto --max-rows 600 --patience 3
    scripts/experiments/reproduce_selectors.py --sets all --summary-only

DIR holds the folder `selection` (default: the environment variable ANNEALED_DATA). In each outer fold a
method selects on the training rows; a ridge model on the selected features, its strength chosen by leaving
one out, is measured on the test rows. With "auto" among the sizes, k is chosen, too, among the other sizes,
by cross-validation within the training rows; its seconds are those of the whole choice. Nothing is chosen
on test rows. Official splits are not used: the folds cut all rows (or --max-rows of them, drawn at random).

    classes   accuracy                              labels    micro-averaged F1 (ridge above 0.5)
    targets   R2, averaged over the targets         grades    NDCG at 10, queries whole within a fold

"own model" is the same measure for the model that the method itself fits, where it has one. Stability is the
index of Nogueira, Sechidis and Brown (2018): 0 as by chance, 1 always the same. A method of which one
selection takes longer than --patience seconds is left out of the rest of that table, with a word. Each
measurement goes to OUT/selectors.csv at once and is not repeated; seconds are the processor's.
"""

import argparse
import os
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from common.results import Results
from common.selector_summary import print_overall, print_table
from common.selector_tasks import RANKERS, SEED, Task
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from annealed.datasets.tables.selection_sets import SELECTION_NAMES, load_selection
from annealed.datasets.tables.table import Table
from annealed.features.errors import AnnealedError
from annealed.features.threads import set_num_threads
from annealed.models.columns import varying_columns
from annealed.models.selection.registry import METHODS

KEYS = ("table", "method", "k", "fold")
VALUES = ("kind", "n_rows", "n_columns", "score", "own", "n_selected", "selected", "seconds", "problem")
ALL, RANDOM, AUTO = "all", "random", "auto"
N_INNER = 3
DENSE_BYTES = 200 * 2**20
"""Methods that need a dense table are skipped where it would be larger."""


def rows_within(table: Table, most: int | None) -> Table:
    """Return at most so many rows, drawn with seed 0; rankings keep whole queries."""
    if most is None or len(table) <= most:
        return table
    rng = np.random.default_rng(SEED)
    if table.qid is None:
        return table[np.sort(rng.permutation(len(table))[:most])]
    queries, count = np.unique(table.qid, return_counts=True)
    drawn = rng.permutation(len(queries))
    return table[np.isin(table.qid, queries[drawn[np.cumsum(count[drawn]) <= most]])]


class TableRun:
    """The measurements of one table.

    Parameters
    ----------
    table : Table
    results : Results
    sizes : list of int
    choose : bool
        Whether k is also chosen by inner folds.
    n_folds : int
    patience : float
        Seconds of a selection after which its method is left out of the rest.
    """

    def __init__(self, table, results, sizes, choose, n_folds, patience):
        self.table = table
        self.results = results
        self.task = Task(table)
        self.sizes = [k for k in sizes if k < table.X.shape[1]]
        self.choose = choose and len(self.sizes) > 1
        self.patience = patience
        self.folds = self.task.folds(np.arange(len(table)), n_folds)
        self.given_up: dict[str, str] = {}

    def run(self, methods) -> None:
        """Measure what is missing."""
        for fold, (train, test) in enumerate(self.folds):
            for method in methods:
                if method == ALL:
                    self._once(ALL, ALL, fold, partial(self._measure, ALL, 0, train, test))
                    continue
                for k in self.sizes:
                    self._once(method, k, fold, partial(self._measure, method, k, train, test))
                if self.choose:
                    self._once(method, AUTO, fold, partial(self._choose, method, train, fold))

    def _once(self, method, k, fold, measure) -> None:
        """Add a row, of measurements or of the reason why there are none."""
        name = self.table.name
        if (name, method, k, fold) in self.results:
            return
        row = dict.fromkeys(VALUES, "")
        print(f"{name}, fold {fold}: {method}, k = {k}", file=sys.stderr, flush=True)
        try:
            self._check(method)
            row |= measure()
        except (AnnealedError, ValueError) as error:
            row["problem"] = str(error).splitlines()[0]
        n_rows, n_columns = self.table.X.shape
        row |= {"kind": self.task.kind, "n_rows": n_rows, "n_columns": n_columns}
        self.results.add(table=name, method=method, k=k, fold=fold, **row)

    def _check(self, method) -> None:
        """Raise AnnealedError where a method is not to run on this table."""
        if method in self.given_up:
            raise AnnealedError(self.given_up[method])
        takes_sparse = method in ("fsa", "fgm", ALL, RANDOM)
        if (
            sparse.issparse(self.table.X)
            and not takes_sparse
            and 8 * np.prod(self.table.X.shape) > DENSE_BYTES
        ):
            raise AnnealedError("the table is too large to be made dense")
        ranks = self.task.kind == "grades" and method in RANKERS
        if method in METHODS and not ranks and self.task.target_task not in METHODS[method].tasks:
            raise AnnealedError(f"for {METHODS[method].tasks[0]} only")

    def _measure(self, method, k, train, test) -> dict:
        columns = varying_columns(self.table.X[train])
        X = self.table.X[:, columns]
        seed = SEED + int(train.sum())  # another one in each fold, the same in each run
        begin = time.process_time()
        features, model = self.task.select(X, train, method, min(k, len(columns)), seed)
        elapsed = time.process_time() - begin
        if elapsed > self.patience:
            self.given_up[method] = f"a selection took over {self.patience:g} s"
        own = ""
        if model is not None:
            takes_sparse = get_tags(model).input_tags.sparse
            X_test = X[test] if takes_sparse or not sparse.issparse(X) else X[test].toarray()
            own = f"{self.task.score(model.predict(X_test), test):.6f}"
        return {
            "score": f"{self.task.judge(X[:, features], train, test):.6f}",
            "own": own,
            "n_selected": len(features),
            "selected": "" if method == ALL else " ".join(map(str, np.sort(columns[features]))),
            "seconds": f"{elapsed:.5f}",
        }

    def _choose(self, method, train, fold) -> dict:
        """Choose k on the training rows; this fold's selection of that size is then the result."""
        begin = time.process_time()
        means = {}
        for k in self.sizes:
            parts = []
            for inner_train, inner_test in self.task.folds(train, N_INNER):
                self._check(method)
                parts.append(float(self._measure(method, k, inner_train, inner_test)["score"]))
            means[k] = np.mean(parts)
        best = max(self.sizes, key=lambda k: (means[k], -k))
        row = self.results.select(table=self.table.name, method=method, k=best, fold=fold)[0]
        if row["problem"]:
            raise AnnealedError(row["problem"])
        seconds = time.process_time() - begin + float(row["seconds"])
        return {column: row[column] for column in VALUES} | {"seconds": f"{seconds:.5f}"}


def parse_arguments(argv):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("ANNEALED_DATA"), help="folder of the data"
    )
    parser.add_argument("--sets", default="all", help=f"of {', '.join(SELECTION_NAMES)}; or all")
    parser.add_argument("--methods", help="names, comma separated (default: all but the slow ones)")
    parser.add_argument("--ks", default="5,20,50,auto", help="sizes, and 'auto' (default 5,20,50,auto)")
    parser.add_argument("--folds", type=int, default=5, help="outer folds (default 5)")
    parser.add_argument("--max-rows", type=int, help="rows of a table at most (default: all)")
    parser.add_argument("--patience", type=float, default=60, help="seconds a selection (default 60)")
    parser.add_argument("--threads", type=int, default=1, help="threads for every method (default 1)")
    parser.add_argument("--out", type=Path, default=Path("runs/selectors"), help="folder for the CSV")
    parser.add_argument("--summary-only", action="store_true", help="print what the CSV holds")
    arguments = parser.parse_args(argv)
    if arguments.data is None and not arguments.summary_only:
        parser.error("give --data, or set ANNEALED_DATA to the folder of the data")
    known = (*METHODS, RANDOM, ALL)
    special = {name for name, method in METHODS.items() if method.slow or method.variant}
    usual = [name for name in known if name not in special]
    arguments.sets = list(SELECTION_NAMES) if arguments.sets == "all" else arguments.sets.split(",")
    arguments.methods = arguments.methods.split(",") if arguments.methods else usual
    for option, given, accepted in (
        ("--sets", arguments.sets, SELECTION_NAMES),
        ("--methods", arguments.methods, known),
    ):
        for value in sorted(set(given) - set(accepted)):
            parser.error(f"{option}: {value} is none of {', '.join(accepted)}")
    arguments.ks = arguments.ks.split(",")
    if not all(k == AUTO or (k.isdigit() and int(k) > 0) for k in arguments.ks):
        parser.error(f"--ks: {','.join(arguments.ks)}; accepted are whole numbers and auto")
    return arguments


def main(argv=None):
    arguments = parse_arguments(argv)
    # the paths of some penalties end early on purpose; what counts is the order they give
    warnings.simplefilter("ignore", ConvergenceWarning)
    results = Results(arguments.out / "selectors.csv", KEYS, VALUES)
    sizes = sorted({int(k) for k in arguments.ks if k != AUTO})
    set_num_threads(arguments.threads)
    with threadpool_limits(arguments.threads):
        for name in arguments.sets:
            if not arguments.summary_only:
                table = rows_within(load_selection(name, arguments.data / "selection"), arguments.max_rows)
                run = TableRun(
                    table, results, sizes, AUTO in arguments.ks, arguments.folds, arguments.patience
                )
                run.run(arguments.methods)
            print_table(results, name, arguments.methods, arguments.ks)
    for k in arguments.ks:
        print_overall(results, arguments.sets, arguments.methods, k)


if __name__ == "__main__":
    main()
