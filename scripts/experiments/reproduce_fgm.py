"""The Feature Generating Machine on synthetic data: Figures 2 to 7 of its paper, with annealing beside it.

    python scripts/experiments/reproduce_fgm.py small --types 1,2,3
    python scripts/experiments/reproduce_fgm.py large
    python scripts/experiments/reproduce_fgm.py density --densities 0.005,0.01,0.05
    python scripts/experiments/reproduce_fgm.py small --rows 1024 --columns 1024 --best --summary-only

`small` is 4,096 x 4,096 with weights of Types I, II and III (Figures 2 to 5: accuracy, recovered features,
debiasing and seconds over the number of selected features), `large` 4,096 x 65,536 with Type I (Figure 6),
`density` 8,192 x 100,000 sparse (Figure 7). With `--best` each method is shown at the parameter that is
best on 2,048 other rows, as Figure 7 does. Entries are normal; 400 features have weights from U(0, 1), to
the power of 1, 0.3 and 3; y = sign(X w), where rows of a sparse table without any of them count as -1;
4,096 test rows.

    fgm, fgm-logistic   C = 10, at most 15 cutting planes, over B       (PROX-FGM, PROX-SLR)
    l1-svm, l1-logistic liblinear, over C in the paper's ranges         (l1-SVM, l1-LR)
    fsa                 annealing with its default settings, over k
    fsa-printed         Algorithm 1 as printed (no momentum, all rows in a batch), logistic loss
    l2-svm, l2-logistic liblinear on all features                       (CD-SVM, CD-LR)

"debiased" is a linear SVM with C = 20 on the selected features (Figure 4). Every point of a method is a row
of OUT/fgm.csv at once and is not measured again; seconds are the processor's.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common.results import Results, markdown_table, seconds
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from annealed.features.threads import set_num_threads
from annealed.models import FSAClassifier
from annealed.models.selection import FeatureGeneratingMachine

KEYS = ("experiment", "rows", "columns", "density", "type", "seed", "method", "parameter")
VALUES = ("n_selected", "recovered", "accuracy", "valid_accuracy", "debiased", "seconds", "threads")
POWERS = {1: 1.0, 2: 0.3, 3: 3.0}
N_TRUE = 400
N_TEST, N_VALID = 4096, 2048
TRAIN, VALID, TEST, WEIGHTS = range(4)
"""Which random numbers: each column of each part has its own, so that a part need not be made whole."""


@dataclass(frozen=True)
class Experiment:
    """Sizes, densities and types, and the parameters at which each method is measured."""

    rows: int
    columns: int
    densities: tuple[float, ...]
    types: tuple[int, ...]
    parameters: dict[str, tuple]


BUDGETS = (2, 6, 10, 16, 24, 32, 40)
SIZES = (30, 90, 150, 250, 350, 450, 600)
EXPERIMENTS = {
    "small": Experiment(
        4096,
        4096,
        (1.0,),
        (1, 2, 3),
        {
            "fgm": BUDGETS,
            "fgm-logistic": BUDGETS,
            "l1-svm": tuple(np.geomspace(0.001, 0.007, 7).round(5)),
            "l1-logistic": tuple(np.geomspace(0.005, 0.04, 7).round(5)),
            "fsa": SIZES,
            "fsa-printed": SIZES,
            "l2-svm": (1.0,),
            "l2-logistic": (1.0,),
        },
    ),
    "large": Experiment(
        4096,
        65536,
        (1.0,),
        (1,),
        {
            "fgm": BUDGETS,
            "fgm-logistic": BUDGETS,
            "l1-svm": (0.001, 0.002, 0.003, 0.004),
            "l1-logistic": (0.005, 0.008, 0.011, 0.015),
            "fsa": SIZES,
            "fsa-printed": SIZES,
        },
    ),
    "density": Experiment(
        8192,
        100_000,
        (0.005, 0.01, 0.05, 0.1),
        (1,),
        {
            "fgm": BUDGETS,
            "l1-svm": (0.008, 0.03, 0.1, 0.4, 1.5, 5.0),
            "fsa": SIZES,
            "fsa-printed": SIZES,
        },
    ),
}


class Data:
    """A synthetic table whose columns are made when they are asked for.

    Parameters
    ----------
    rows, columns : int
    density : float
        Share of the entries that are not zero; below 1, tables are sparse.
    kind : {1, 2, 3}
        Of the weights.
    seed : int
    """

    def __init__(self, rows: int, columns: int, density: float, kind: int, seed: int):
        self.rows, self.columns, self.density, self.seed = rows, columns, density, seed
        rng = np.random.default_rng([seed, WEIGHTS])
        self.truth = np.sort(rng.permutation(columns)[: min(N_TRUE, columns // 4)])
        self.weights = rng.random(len(self.truth)) ** POWERS[kind]

    def part(self, part: int, n: int, which: np.ndarray):
        """Return some columns of a part, shape (n, len(which)), float32: dense in Fortran order, or csc."""
        if len(which) == 0:
            return np.empty((n, 0), dtype=np.float32)
        made = [self._column(part, n, int(j)) for j in which]
        if self.density == 1:
            X = np.empty((n, len(which)), dtype=np.float32, order="F")
            for target, values in zip(X.T, made, strict=True):
                target[:] = values[1]
            return X
        # liblinear takes indices of 32 bits only
        offsets = np.cumsum([0, *(len(rows) for rows, _ in made)]).astype(np.int32)
        rows = np.concatenate([rows for rows, _ in made]).astype(np.int32)
        return sparse.csc_array((np.concatenate([v for _, v in made]), rows, offsets), shape=(n, len(which)))

    def _column(self, part: int, n: int, j: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng([self.seed, part, j])
        rows = np.arange(n) if self.density == 1 else np.flatnonzero(rng.random(n) < self.density)
        return rows, rng.standard_normal(len(rows), dtype=np.float32)

    def labels(self, part: int, n: int) -> np.ndarray:
        """Return the labels of a part, -1 or 1."""
        return signs(self.part(part, n, self.truth) @ self.weights)

    def accuracy(self, part: int, n: int, kept: np.ndarray, weights: np.ndarray) -> float:
        """Return the percentage of a part's labels that a model on some columns predicts."""
        return float(100 * np.mean(signs(self.part(part, n, kept) @ weights) == self.labels(part, n)))


def signs(response: np.ndarray) -> np.ndarray:
    """Return -1 or 1; a response of zero, of sparse rows without any of the features, counts as -1."""
    return np.where(response > 0, 1, -1)


# Methods: fit(X, y, parameter) -> coefficients (n_features,).


def fgm(loss: str) -> Callable:
    def fit(X, y, budget):
        model = FeatureGeneratingMachine(
            None, budget=int(budget), max_cuts=15, C=10.0, loss=loss, scale=False, fit_intercept=False
        )
        return model.fit(X, y).coef_[0]

    return fit


def svm(penalty: str) -> Callable:
    def fit(X, y, C):
        model = LinearSVC(penalty=penalty, dual=penalty == "l2", C=C, fit_intercept=False, random_state=0)
        return model.fit(X, y).coef_[0]

    return fit


def logistic(l1_ratio: float) -> Callable:
    def fit(X, y, C):
        model = LogisticRegression(l1_ratio=l1_ratio, solver="liblinear", C=C, fit_intercept=False)
        return model.fit(X, y).coef_[0]

    return fit


def fsa(**options) -> Callable:
    def fit(X, y, k):
        return FSAClassifier(int(k), random_state=0, **options).fit(X, y).coef_[0]

    return fit


METHODS: dict[str, Callable] = {
    "fgm": fgm("squared_hinge"),
    "fgm-logistic": fgm("logistic"),
    "l1-svm": svm("l1"),
    "l1-logistic": logistic(1.0),
    "fsa": fsa(),
    "fsa-printed": fsa(loss="logistic", momentum=0.0, batch_size=None),
    "l2-svm": svm("l2"),
    "l2-logistic": logistic(0.0),
}


def measure(data: Data, X, y, method: str, parameter) -> dict:
    """Fit once and return the values of a row."""
    begin = time.process_time()
    coef = METHODS[method](X, y, parameter)
    elapsed = time.process_time() - begin
    kept = np.flatnonzero(coef)
    debiased = ""
    if len(kept) and not method.startswith("l2"):
        debiased = f"{data.accuracy(TEST, N_TEST, kept, svm('l2')(X[:, kept], y, 20.0)):.3f}"
    return {
        "n_selected": len(kept),
        "recovered": len(np.intersect1d(kept, data.truth)),
        "accuracy": f"{data.accuracy(TEST, N_TEST, kept, coef[kept]):.3f}",
        "valid_accuracy": f"{data.accuracy(VALID, N_VALID, kept, coef[kept]):.3f}",
        "debiased": debiased,
        "seconds": f"{elapsed:.4f}",
    }


def run(results, name: str, setting: Experiment, methods, seed: int, threads: int) -> None:
    """Measure what is missing of an experiment."""
    for density in setting.densities:
        for kind in setting.types:
            key = (name, setting.rows, setting.columns, density, kind, seed)
            wanted = [
                (method, parameter)
                for method in methods
                for parameter in setting.parameters.get(method, ())
                if (*key, method, parameter) not in results
                and not (method.startswith("fsa") and parameter > setting.columns)
            ]
            if not wanted:
                continue
            data = Data(setting.rows, setting.columns, density, kind, seed)
            X, y = data.part(TRAIN, data.rows, np.arange(data.columns)), data.labels(TRAIN, data.rows)
            for method, parameter in wanted:
                print(f"{name}, density {density}, type {kind}: {method} {parameter}", file=sys.stderr)
                row = dict(zip(KEYS, (*key, method, parameter), strict=True))
                results.add(**row, **measure(data, X, y, method, parameter), threads=threads)


def print_summary(results, name: str, setting: Experiment, methods, seed: int, best: bool) -> None:
    """Print a table a density and type: every point, or each method's best one, chosen on other rows."""
    for density in setting.densities:
        for kind in setting.types:
            rows = results.select(
                experiment=name,
                rows=setting.rows,
                columns=setting.columns,
                density=density,
                type=kind,
                seed=seed,
            )
            chosen = [row for method in methods for row in _points(rows, method, best)]
            if chosen:
                size = f"{setting.rows} x {setting.columns}, density {density:g}, Type {'I' * kind}"
                print(f"\n### {size}\n\n{_table(chosen)}")


def _points(rows, method: str, best: bool) -> list[dict]:
    found = [row for row in rows if row["method"] == method]
    found.sort(key=lambda row: float(row["n_selected"]))
    return [max(found, key=lambda row: float(row["valid_accuracy"]))] if best and found else found


def _table(rows) -> str:
    header = ["method", "parameter", "features", "true ones", "accuracy %", "debiased %", "s"]
    lines = [
        [
            row["method"],
            row["parameter"],
            row["n_selected"],
            row["recovered"],
            f"{float(row['accuracy']):.2f}",
            f"{float(row['debiased']):.2f}" if row["debiased"] else "-",
            seconds(float(row["seconds"])),
        ]
        for row in rows
    ]
    return markdown_table(header, lines)


def parse_arguments(argv):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("--methods", default=",".join(METHODS), help="names, comma separated (default: all)")
    parser.add_argument("--types", help="of the weights: 1, 2, 3 (default: the experiment's)")
    parser.add_argument("--densities", help="comma separated (default: the experiment's)")
    parser.add_argument("--rows", type=int, help="training rows (default: the experiment's)")
    parser.add_argument("--columns", type=int, help="features (default: the experiment's)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1, help="threads for every method (default 1)")
    parser.add_argument("--out", type=Path, default=Path("runs/fgm"), help="folder for the CSV")
    parser.add_argument("--best", action="store_true", help="print each method's best point only")
    parser.add_argument("--summary-only", action="store_true", help="print what the CSV holds")
    arguments = parser.parse_args(argv)
    arguments.methods = arguments.methods.split(",")
    for value in sorted(set(arguments.methods) - set(METHODS)):
        parser.error(f"--methods: {value} is none of {', '.join(METHODS)}")
    usual = EXPERIMENTS[arguments.experiment]
    types = tuple(map(int, arguments.types.split(","))) if arguments.types else usual.types
    if not set(types) <= set(POWERS):
        parser.error(f"--types: {arguments.types}; accepted are 1, 2 and 3")
    densities = tuple(map(float, arguments.densities.split(","))) if arguments.densities else usual.densities
    if not all(0 < density <= 1 for density in densities):
        parser.error(f"--densities: {arguments.densities}; accepted are numbers above 0 up to 1")
    arguments.setting = Experiment(
        arguments.rows or usual.rows, arguments.columns or usual.columns, densities, types, usual.parameters
    )
    return arguments


def main(argv=None):
    arguments = parse_arguments(argv)
    # liblinear's own limit on iterations is what its users have
    warnings.simplefilter("ignore", ConvergenceWarning)
    results = Results(arguments.out / "fgm.csv", KEYS, VALUES)
    set_num_threads(arguments.threads)
    name, setting = arguments.experiment, arguments.setting
    with threadpool_limits(arguments.threads):
        if not arguments.summary_only:
            warm(arguments.methods)
            run(results, name, setting, arguments.methods, arguments.seed, arguments.threads)
        print_summary(results, name, setting, arguments.methods, arguments.seed, arguments.best)


def warm(methods):
    """Let every method compile and load what it needs, on a few rows, dense and sparse."""
    data = Data(60, 30, 1.0, 1, 0)
    X, y = data.part(TRAIN, 60, np.arange(30)), data.labels(TRAIN, 60)
    for method in methods:
        for table in (X, sparse.csc_array(X)):
            METHODS[method](table, y, 3)


if __name__ == "__main__":
    main()
