"""Row-sparse selection by l_p,inf: Table 2 and Figures 2 and 3 of its paper, with annealing beside it.

    python scripts/experiments/reproduce_lp_inf.py residual --data DIR --sets allaml,glioma
    python scripts/experiments/reproduce_lp_inf.py accuracy --data DIR --sets glioma,lung-small --ks 10,20,40
    python scripts/experiments/reproduce_lp_inf.py accuracy --data DIR --sets emotions,scene --summary-only

DIR holds the folder `selection` (default: the environment variable ANNEALED_DATA).

`residual` (Table 2) is |Y - X B|_F over all rows with the least-squares B on 20 selected features, for each p
and start. Features are centred and Y, one 0/1 column a class, is not: the paper does not say, but its
residuals for ALLAML lie between the 6.27 that Y's means alone leave then and what 20 features leave above it,
and are larger than the 5.71 of a centred Y without any feature.

`accuracy` (Figures 2 and 3) is over five folds, the selection made on the training rows: accuracy of five
nearest neighbours and of a linear SVM (C = 1) for classes, micro-averaged F1 of both for labels, on features
standardised by the training rows; the means over the tables come last. Methods with one target at a time
select for labels by votes. Of the paper's tables LUNGML, CARML, Trecvid, MSRC and Barcelona are not at hand;
others stand in. Each measurement goes to OUT/residual.csv or OUT/accuracy.csv at once and is not repeated;
seconds are the processor's.
"""

import argparse
import os
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
from common.results import Results, markdown_table, numbers, seconds, with_error
from common.selector_tasks import Task
from sklearn.metrics import f1_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from annealed.datasets.tables.selection_sets import SELECTION_NAMES, load_selection
from annealed.features.threads import set_num_threads
from annealed.models import FSARegressor
from annealed.models.selection import L21Selector, LpInfSelector, lp_inf
from annealed.models.selection.comparison import select
from annealed.models.selection.multi_target import varying_targets
from annealed.models.selection.registry import CLASSIFICATION

RESIDUAL_KEYS = ("table", "method", "k")
RESIDUAL_VALUES = ("residual", "n_selected", "seconds")
ACCURACY_KEYS = ("table", "method", "k", "fold")
ACCURACY_VALUES = ("kind", "neighbours", "svm", "n_selected", "seconds")
N_FOLDS = 5
N_RESIDUAL = 20
POWERS = (0.1, 0.25, 0.5, 0.75)
PAPER = {
    ("allaml", "p=0.1 from p=1"): 6.4217,
    ("allaml", "p=0.25 from p=1"): 6.3647,
    ("allaml", "p=0.5 from p=1"): 6.4314,
    ("allaml", "p=0.75 from p=1"): 6.3892,
    ("allaml", "p=0.1 from ridge"): 6.4141,
    ("allaml", "p=0.25 from ridge"): 6.3841,
    ("allaml", "p=0.5 from ridge"): 6.4054,
    ("allaml", "p=0.75 from ridge"): 6.3672,
    ("allaml", "p=1"): 6.4487,
    ("allaml", "l21"): 6.4257,
    ("glioma", "p=0.1 from p=1"): 4.5208,
    ("glioma", "p=0.25 from p=1"): 4.7877,
    ("glioma", "p=0.5 from p=1"): 4.7935,
    ("glioma", "p=0.75 from p=1"): 4.7832,
    ("glioma", "p=0.1 from ridge"): 4.5145,
    ("glioma", "p=0.25 from ridge"): 4.7182,
    ("glioma", "p=0.5 from ridge"): 4.7877,
    ("glioma", "p=0.75 from ridge"): 4.7968,
    ("glioma", "p=1"): 4.9421,
    ("glioma", "l21"): 4.8324,
}
"""Table 2 for the two tables at hand."""


def one_hot(y: np.ndarray) -> np.ndarray:
    """Return one 0/1 column a class."""
    return (y[:, None] == np.unique(y)).astype(np.float64)


# Selectors for Table 2: (X, Y, k) -> features.


def row_sparse(make):
    def fit(X, Y, k):
        return make(k).fit(X, Y).get_support(indices=True)

    return fit


def named(method: str):
    """A selector of the registry, which takes the classes."""

    def fit(X, Y, k):
        return select(X, Y.argmax(axis=1), CLASSIFICATION, method, k, 0)

    return fit


RESIDUAL_METHODS = {
    f"p={p:g} from {word}": row_sparse(partial(LpInfSelector, p=p, start=start))
    for word, start in (("p=1", "continuation"), ("ridge", "ridge"))
    for p in POWERS
} | {
    "p=1": row_sparse(partial(LpInfSelector, p=1.0)),
    "l21": row_sparse(L21Selector),
    "fsa": row_sparse(lambda k: FSARegressor(k, random_state=0)),
    "f": named("f"),
    "relieff": named("relieff"),
    "mrmr": named("mrmr"),
}


# Selectors for the figures: (X, y, k) -> features; y holds classes, or a 0/1 column a label.


def for_target(make):
    def fit(X, y, k):
        return make(k).fit(X, y if y.ndim == 1 else y.astype(np.float64)).get_support(indices=True)

    return fit


def by_name(method: str):
    def fit(X, y, k):
        return select(X, y, CLASSIFICATION, method, k, 0)

    return fit


ACCURACY_METHODS = {
    "p=0.25": for_target(partial(LpInfSelector, p=0.25)),
    "p=0.5": for_target(partial(LpInfSelector, p=0.5)),
    "p=1": for_target(partial(LpInfSelector, p=1.0)),
    "l21": for_target(L21Selector),
    "f": by_name("f"),
    "relieff": by_name("relieff"),
    "mrmr": by_name("mrmr"),
    "fsa": by_name("fsa"),
}


def residual(X: np.ndarray, Y: np.ndarray) -> float:
    """Return |Y - (X - mean) B|_F for the best B."""
    return lp_inf.residual(X - X.mean(axis=0), Y)


def run_residual(results, table, methods) -> None:
    """Measure what is missing of Table 2."""
    Y = one_hot(table.y)
    for method in methods:
        if (table.name, method, N_RESIDUAL) in results:
            continue
        print(f"{table.name}: {method}", file=sys.stderr, flush=True)
        begin = time.process_time()
        kept = RESIDUAL_METHODS[method](table.X, Y, N_RESIDUAL)
        results.add(
            table=table.name,
            method=method,
            k=N_RESIDUAL,
            seconds=f"{time.process_time() - begin:.4f}",
            residual=f"{residual(table.X[:, kept], Y):.6f}",
            n_selected=len(kept),
        )


def run_accuracy(results, table, methods, ks) -> None:
    """Measure what is missing of the figures."""
    task = Task(table)
    X = table.X if isinstance(table.X, np.ndarray) else table.X.toarray()
    for fold, (train, test) in enumerate(task.folds(np.arange(len(table)), N_FOLDS)):
        for method in methods:
            for k in ks:
                if (table.name, method, k, fold) in results:
                    continue
                print(f"{table.name}, fold {fold}: {method}, k = {k}", file=sys.stderr, flush=True)
                begin = time.process_time()
                kept = ACCURACY_METHODS[method](X[train], table.y[train], k)
                elapsed = time.process_time() - begin
                judged = judge(X[:, kept], table.y, train, test)
                results.add(
                    table=table.name,
                    method=method,
                    k=k,
                    fold=fold,
                    kind=task.kind,
                    n_selected=len(kept),
                    seconds=f"{elapsed:.4f}",
                    **judged,
                )


def judge(X, y, train, test) -> dict[str, str]:
    """Return the measure of nearest neighbours and of a linear SVM, in percent."""
    measured = {}
    for name, classifier in (("neighbours", KNeighborsClassifier(5)), ("svm", SVC(kernel="linear", C=1.0))):
        model = make_pipeline(StandardScaler(), classifier)
        if y.ndim == 2:
            predicted = np.tile(y[train][0], (len(test), 1))
            for j in varying_targets(y[train]):
                predicted[:, j] = model.fit(X[train], y[train, j]).predict(X[test])
            value = f1_score(y[test], predicted, average="micro", zero_division=0.0)
        else:
            value = model.fit(X[train], y[train]).score(X[test], y[test])
        measured[name] = f"{100 * value:.4f}"
    return measured


def print_residual(results, name: str) -> None:
    """Print a table's residuals beside the paper's."""
    lines = []
    for method in RESIDUAL_METHODS:
        for row in results.select(table=name, method=method):
            printed = PAPER.get((name, method))
            spent = seconds(float(row["seconds"]))
            lines.append(
                [method, "" if printed is None else f"{printed:g}", f"{float(row['residual']):.4f}", spent]
            )
    if lines:
        print(f"\n### {name}: residual with {N_RESIDUAL} features\n")
        print(markdown_table(["method", "paper", "residual", "s"], lines))


def print_accuracy(results, name: str, ks) -> None:
    """Print a table's curves: a line a method, a column a size."""
    rows = results.select(table=name)
    if not rows:
        return
    measure = "micro F1 %" if rows[0]["kind"] == "labels" else "accuracy %"
    for model in ("neighbours", "svm"):
        lines = []
        for method in ACCURACY_METHODS:
            cells = [results.select(table=name, method=method, k=k) for k in ks]
            if any(cells):
                lines.append([method, *(with_error(numbers(cell, model), 1) for cell in cells)])
        print(f"\n### {name}: {measure}, {model}\n")
        print(markdown_table(["method", *(f"k = {k}" for k in ks)], lines))


def print_mean_accuracy(results, names, ks) -> None:
    """Print the means over tables, of the methods that were measured on all of them."""
    for model in ("neighbours", "svm"):
        lines = []
        for method in ACCURACY_METHODS:
            scores = [
                [numbers(results.select(table=name, method=method, k=k), model) for name in names] for k in ks
            ]
            if all(len(folds) for tables in scores for folds in tables):
                means = [np.mean([folds.mean() for folds in tables]) for tables in scores]
                lines.append([method, *(f"{mean:.1f}" for mean in means)])
        print(f"\n### Mean of {len(names)} tables, %, {model}\n")
        print(markdown_table(["method", *(f"k = {k}" for k in ks)], lines))


def parse_arguments(argv):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", choices=("residual", "accuracy"))
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("ANNEALED_DATA"), help="folder of the data"
    )
    parser.add_argument("--sets", default="allaml,glioma", help="tables of classes or labels")
    parser.add_argument("--methods", help="names, comma separated (default: all)")
    parser.add_argument("--ks", default="10,20,40,60,80", help="sizes of `accuracy`")
    parser.add_argument("--threads", type=int, default=1, help="threads for every method (default 1)")
    parser.add_argument("--out", type=Path, default=Path("runs/lp_inf"), help="folder for the CSV")
    parser.add_argument("--summary-only", action="store_true", help="print what the CSV holds")
    arguments = parser.parse_args(argv)
    if arguments.data is None and not arguments.summary_only:
        parser.error("give --data, or set ANNEALED_DATA to the folder of the data")
    known = RESIDUAL_METHODS if arguments.experiment == "residual" else ACCURACY_METHODS
    arguments.sets = arguments.sets.split(",")
    arguments.methods = arguments.methods.split(",") if arguments.methods else list(known)
    arguments.ks = [int(k) for k in arguments.ks.split(",")]
    for option, given, accepted in (
        ("--sets", arguments.sets, SELECTION_NAMES),
        ("--methods", arguments.methods, known),
    ):
        for value in sorted(set(given) - set(accepted)):
            parser.error(f"{option}: {value} is none of {', '.join(accepted)}")
    return arguments


def main(argv=None):
    arguments = parse_arguments(argv)
    whole = arguments.experiment == "residual"
    columns = (RESIDUAL_KEYS, RESIDUAL_VALUES) if whole else (ACCURACY_KEYS, ACCURACY_VALUES)
    results = Results(arguments.out / f"{arguments.experiment}.csv", *columns)
    set_num_threads(arguments.threads)
    with threadpool_limits(arguments.threads):
        for name in arguments.sets:
            if not arguments.summary_only:
                table = load_selection(name, arguments.data / "selection")
                if whole:
                    run_residual(results, table, arguments.methods)
                else:
                    run_accuracy(results, table, arguments.methods, arguments.ks)
            if whole:
                print_residual(results, name)
            else:
                print_accuracy(results, name, arguments.ks)
    if not whole and len(arguments.sets) > 1:
        print_mean_accuracy(results, arguments.sets, arguments.ks)


if __name__ == "__main__":
    main()
