"""Selectors on real tables: Dexter, Arcene, microarrays, texts, images (section 3.2 and beyond).

    scripts/experiments/reproduce_selection.py --data DIR --sets dexter,arcene --methods fsa,l1-logistic,abess
    scripts/experiments/reproduce_selection.py --data DIR --sets ranking
    scripts/experiments/reproduce_selection.py --data DIR --sets colon --k 5,10 --repeats 10

DIR holds the folder `selection` (default: the environment variable ANNEALED_DATA). A table with an official
split is trained on its training part and measured on its validation or test part; the others by
stratified five-fold cross-validation, repeated with seeds 0, 1, ... Columns that are constant in the
training part are left out and the others standardised by it. All sizes k of a list are reported: none is
picked by looking at the results. Each measurement goes to OUT/selection.csv at once and is not repeated.

Of the paper's Table 5, the rows of Dexter with 93 variables print validation errors of 1.0, 8.67 and 9.0 %;
which method each belongs to cannot be read in the text at hand.
"""

import argparse
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from common.peers import CLASSIFIERS
from common.results import Results, markdown_table, numbers, seconds, with_error
from common.selector_tasks import mean_ndcg
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from annealed.datasets.tables.selection_sets import load_selection
from annealed.features.threads import set_num_threads
from annealed.models import FSARanker
from annealed.models.boosting import RankBoost
from annealed.models.comparable_pairs import comparable_pairs

KEYS = ("table", "k", "method", "seed", "fold")
VALUES = ("error", "balanced_error", "auc", "n_selected", "seconds", "threads")
N_FOLDS = 5
DENSE_BYTES = 200 * 2**20
"""Methods that need a dense table are skipped where it would be larger."""

SIZES = {
    "dexter": (30, 93, 300),
    "arcene": (10, 30, 100),
    "rcv1": (30, 100, 300),
    "allaml": (5, 10, 30),
    "leukemia": (5, 10, 30),
    "colon": (5, 10, 30),
    "glioma": (10, 30, 100),
    "lung-small": (10, 30, 100),
    "lymphoma": (10, 30, 100),
    "nci9": (10, 30, 100),
    "tox-171": (10, 30, 100),
    "pcmac": (10, 30, 100),
    "basehock": (10, 30, 100),
    "isolet": (30, 100),
    "usps": (20, 60),
    "mnist": (30, 100),
    "coil20": (20, 60),
    "orl": (50, 150),
    "yale": (30, 100),
    "yale-b": (50, 150),
}
RANKING_SIZES = (10, 30)

# Ranking methods: k -> estimator with fit(X, y, qid=...) and predict. RankBoost runs the paper's 100 rounds.
RANKERS = {
    "fsa-rank": lambda k: FSARanker(k),
    "fsa-rank-piecewise": lambda k: FSARanker(k, response="piecewise"),
    "rankboost": lambda k: RankBoost(100),
}


def folds_of(table, codes, repeats):
    """Yield (seed, fold, training rows, test rows)."""
    if table.split is not None:
        yield (0, 0, *table.split)
        return
    for seed in range(repeats):
        splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
        with warnings.catch_warnings():
            # Some classes of the microarrays have fewer rows than there are folds.
            warnings.simplefilter("ignore", UserWarning)
            parts = list(splitter.split(np.zeros(len(codes)), codes))
        for fold, (train, test) in enumerate(parts):
            yield seed, fold, train, test


def standardised(X_train, X_test):
    """Drop columns that are constant in training; centre (dense only) and scale the others by training."""
    if sparse.issparse(X_train):
        square = X_train.multiply(X_train).mean(axis=0)
        deviation = np.sqrt(np.maximum(0, square - np.square(X_train.mean(axis=0))))
        center = np.zeros(X_train.shape[1])
    else:
        center, deviation = X_train.mean(axis=0), X_train.std(axis=0)
    varies = deviation > 1e-9 * np.maximum(1, np.abs(center))
    center, deviation = center[varies], deviation[varies]
    if sparse.issparse(X_train):
        return [sparse.csr_array(X[:, varies].multiply(1 / deviation)) for X in (X_train, X_test)]
    return [(X[:, varies] - center) / deviation for X in (X_train, X_test)]


def skipped_because(method, X, n_classes):
    """Return why a method cannot run on a table, or None."""
    if n_classes > 2 and not method.multiclass:
        return "two classes only"
    if sparse.issparse(X) and not method.takes_sparse and 8 * X.shape[0] * X.shape[1] > DENSE_BYTES:
        return "too large for a dense table"
    return None


def measure(method, X_train, y_train, X_test, y_test, k, seed):
    """Fit once and return the values of a row."""
    if sparse.issparse(X_train) and not method.takes_sparse:
        X_train, X_test = X_train.toarray(), X_test.toarray()
    # A class may be missing from the training part; methods see the classes 0, 1, ... that are there.
    present, y_train = np.unique(y_train, return_inverse=True)
    started = time.perf_counter()
    fitted = method.fit(X_train, y_train, k, seed)
    elapsed = time.perf_counter() - started
    score = np.asarray(fitted.score(X_test))
    predicted = present[score.argmax(axis=1) if score.ndim == 2 else (score > 0).astype(int)]
    with warnings.catch_warnings():
        # A test fold may lack one of the smallest classes.
        warnings.simplefilter("ignore", UserWarning)
        balanced = balanced_accuracy_score(y_test, predicted)
    return {
        "error": f"{100 * np.mean(predicted != y_test):.4f}",
        "balanced_error": f"{100 * (1 - balanced):.4f}",
        "auc": f"{roc_auc_score(y_test, score):.6f}" if score.ndim == 1 else "",
        "n_selected": "" if fitted.support is None else int(fitted.support.sum()),
        "seconds": f"{elapsed:.5f}",
    }


def run_classification(results, name, table, sizes, names, repeats, threads):
    """Measure what is missing of one table."""
    classes, codes = np.unique(table.y, return_inverse=True)
    for seed, fold, train, test in folds_of(table, codes, repeats):
        wanted = [
            (k, method)
            for k in sizes
            for method in names
            if (name, k, method, seed, fold) not in results
            and not skipped_because(CLASSIFIERS[method], table.X[train], len(classes))
        ]
        if not wanted:
            continue
        X_train, X_test = standardised(table.X[train], table.X[test])
        for k, method in wanted:
            print(f"{name}, k={k}, seed {seed}, fold {fold}: {method}", file=sys.stderr)
            row = measure(CLASSIFIERS[method], X_train, codes[train], X_test, codes[test], k, seed)
            results.add(table=name, k=k, method=method, seed=seed, fold=fold, threads=threads, **row)


def run_ranking(results, name, table, sizes, threads):
    """Measure rankers on the official split: wrong pairs (%), and 1 - NDCG at 10 (%) as balanced error."""
    train, test = table.train, table.test
    pairs, r = comparable_pairs(test.y, test.qid, include_ties=False)
    for k in sizes:
        for method, make in RANKERS.items():
            if (name, k, method, 0, 0) in results:
                continue
            print(f"{name}, k={k}: {method}", file=sys.stderr)
            started = time.perf_counter()
            ranker = make(k).fit(train.X.toarray(), train.y, qid=train.qid)
            elapsed = time.perf_counter() - started
            f = ranker.predict(test.X.toarray())
            gap = (f[pairs[:, 0]] - f[pairs[:, 1]]) * (2 * r - 1)
            results.add(
                table=name,
                k=k,
                method=method,
                seed=0,
                fold=0,
                error=f"{100 * np.mean(gap <= 0):.4f}",
                balanced_error=f"{100 * (1 - mean_ndcg(test.y, f, test.qid)):.4f}",
                auc="",
                n_selected=int(ranker.support_.sum()),
                seconds=f"{elapsed:.5f}",
                threads=threads,
            )


def print_summary(results, name, table, sizes):
    """Print a table a size k, with skipped methods named."""
    is_ranking = name == "ranking"
    n_classes = len(np.unique(table.y))
    if table.split is None:
        protocol = f"{N_FOLDS}-fold cross-validation"
    else:
        protocol = f"official split, {len(table.split[0])} rows to train, {len(table.split[1])} to test"
    error = ["wrong pairs %", "1 - NDCG@10 %"] if is_ranking else ["error %", "balanced error %", "AUC"]
    for k in sizes:
        lines = []
        for method in RANKERS if is_ranking else CLASSIFIERS:
            rows = results.select(table=name, k=k, method=method)
            if not rows:
                continue
            cells = [with_error(numbers(rows, "error"), 2), with_error(numbers(rows, "balanced_error"), 2)]
            if not is_ranking:
                cells.append(with_error(numbers(rows, "auc"), 4))
            selected = numbers(rows, "n_selected")
            size = f"{selected.mean():.1f}" if len(selected) else "all"
            lines.append([method, str(len(rows)), size, *cells, seconds(numbers(rows, "seconds").mean())])
        if lines:
            rows, columns = table.X.shape
            levels = "grades" if is_ranking else "classes"
            print(f"\n### {name} ({rows} x {columns}, {n_classes} {levels}; {protocol}), k = {k}\n")
            print(markdown_table(["method", "fits", "variables", *error, "s"], lines))
    if not is_ranking:
        for method, entry in CLASSIFIERS.items():
            reason = skipped_because(entry, table.X, n_classes)
            if reason:
                print(f"\n`{method}` skipped: {reason}.")


def parse_arguments(argv):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("ANNEALED_DATA"), help="folder of the data"
    )
    parser.add_argument(
        "--sets", default="dexter,arcene", help=f"of {', '.join((*SIZES, 'ranking'))}; or all"
    )
    parser.add_argument("--methods", help=f"of {', '.join(CLASSIFIERS)} (default: all but slow ones)")
    parser.add_argument("--k", help="sizes, comma separated (default: a list for each table)")
    parser.add_argument("--repeats", type=int, default=5, help="repeats of the cross-validation (default 5)")
    parser.add_argument("--threads", type=int, default=1, help="threads for every method (default 1)")
    parser.add_argument("--out", type=Path, default=Path("runs/selection"), help="folder for the CSV")
    parser.add_argument("--summary-only", action="store_true", help="print what the CSV holds")
    arguments = parser.parse_args(argv)
    if arguments.data is None:
        parser.error("give --data, or set ANNEALED_DATA to the folder of the data")
    known = (*SIZES, "ranking")
    arguments.sets = list(known) if arguments.sets == "all" else arguments.sets.split(",")
    usual = [name for name, method in CLASSIFIERS.items() if not method.slow]
    arguments.methods = arguments.methods.split(",") if arguments.methods else usual
    arguments.k = [int(k) for k in arguments.k.split(",")] if arguments.k else None
    for option, given, accepted in (
        ("--sets", arguments.sets, known),
        ("--methods", arguments.methods, CLASSIFIERS),
    ):
        for value in set(given) - set(accepted):
            parser.error(f"{option}: {value} is none of {', '.join(accepted)}")
    return arguments


def main(argv=None):
    arguments = parse_arguments(argv)
    names = [name for name in arguments.methods if CLASSIFIERS[name].available]
    for name in set(arguments.methods) - set(names):
        print(f"{name}: {CLASSIFIERS[name].requires} is not installed; skipped", file=sys.stderr)
    # Runs of the bisections stop early on purpose; what counts is the support they find.
    warnings.simplefilter("ignore", ConvergenceWarning)
    results = Results(arguments.out / "selection.csv", KEYS, VALUES)
    set_num_threads(arguments.threads)
    with threadpool_limits(arguments.threads):
        if not arguments.summary_only:
            warm(names)
        for name in arguments.sets:
            table = load_selection(name, arguments.data / "selection")
            sizes = arguments.k or (RANKING_SIZES if name == "ranking" else SIZES[name])
            if not arguments.summary_only and name == "ranking":
                run_ranking(results, name, table, sizes, arguments.threads)
            elif not arguments.summary_only:
                run_classification(results, name, table, sizes, names, arguments.repeats, arguments.threads)
            print_summary(results, name, table, sizes)


def warm(names):
    """Let every method compile and load what it needs, on a few rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 30))
    for name in names:
        CLASSIFIERS[name].fit(X, (X[:, 0] > 0).astype(np.int64), 3, 0)
        if CLASSIFIERS[name].takes_sparse:
            CLASSIFIERS[name].fit(sparse.csr_array(X), (X[:, 0] > 0).astype(np.int64), 3, 0)


if __name__ == "__main__":
    main()
