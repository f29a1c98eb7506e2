"""Curves and pairs beside explainable boosting, boosted trees and splines: accuracy, features, seconds.

    python scripts/experiments/reproduce_curves.py                  all tables and methods, five seeds
    python scripts/experiments/reproduce_curves.py friedman1 wq --methods curves pairs lightgbm

Each seed holds a quarter of the rows out (of simulations, 5000 new rows). Printed are the mean over the seeds
of R2 or of the area under the ROC curve, of the log loss and the error of calibration for two classes, the
features that a model looks at, processor seconds of a fit, and microseconds a row of a prediction. Every
method has its defaults and one thread. Methods whose package is missing are left out, with a word.
"""

import argparse
import importlib.util
import os
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.model_selection import train_test_split

from annealed.datasets.tables.selection_sets import load_selection
from annealed.models import FSAClassifier, FSARegressor

K, N_PAIRS = 10, 2
N_TEST = 5000
CALIBRATION_BINS = 10


def additive(seed, n, kind):
    """Five curves of twenty columns; with one row at 20 deviations, or every column skewed."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 20))
    y = np.sin(2 * Z[:, 0]) + Z[:, 1] ** 2 / 2 + np.abs(Z[:, 2]) - 0.8 * Z[:, 3] + 0.5 * (Z[:, 4] > 0)
    y += 0.5 * rng.standard_normal(n)
    if kind == "skew":
        return np.exp(2 * Z), y
    if kind == "outlier":
        Z[0, :5] = 20
    return Z, y


def product(seed, n):
    """Labels that are the sign of a product of two of forty columns: each alone says nothing."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 40))
    return X, (X[:, 3] * X[:, 17] + 0.3 * rng.standard_normal(n) > 0).astype(int)


def drawn(make, n_rows, test=None):
    """A simulation: training and test rows of a seed."""

    def split(seed):
        return *make(seed, n_rows), *(test or make)(seed + 1000, N_TEST)

    return split


def packaged(load):
    """A table of scikit-learn: a quarter of its rows is held out."""

    def split(seed):
        return held_out(*load(return_X_y=True), seed)

    return split


def kept(name, target=0):
    """A table of the data folder."""

    def split(seed):
        table = load_selection(name, Path(os.environ.get("ANNEALED_DATA", "../shared/data")) / "selection")
        y = table.y[:, target] if table.y.ndim == 2 else table.y
        known = np.isfinite(y) if y.dtype.kind == "f" else np.ones(len(y), dtype=bool)
        return held_out(np.asarray(table.X, dtype=float)[known], y[known], seed)

    return split


def held_out(X, y, seed):
    labels = y if len(np.unique(y)) == 2 else None
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=labels, random_state=seed)
    return X, y, X_test, y_test


def digits(return_X_y):
    X, y = datasets.load_digits(return_X_y=True)
    return X, (y % 2).astype(int)


def friedman(make):
    return lambda seed, n: make(n, random_state=seed, noise=1.0)


TABLES = {
    "friedman1": drawn(friedman(datasets.make_friedman1), 2000),
    "friedman2": drawn(lambda seed, n: datasets.make_friedman2(n, random_state=seed, noise=100.0), 2000),
    "friedman3": drawn(lambda seed, n: datasets.make_friedman3(n, random_state=seed, noise=0.1), 2000),
    "additive": drawn(lambda seed, n: additive(seed, n, "plain"), 2000),
    "additive, one outlier": drawn(
        lambda seed, n: additive(seed, n, "outlier"), 2000, lambda seed, n: additive(seed, n, "plain")
    ),
    "additive, skewed": drawn(lambda seed, n: additive(seed, n, "skew"), 2000),
    "product": drawn(product, 2000),
    "hypercube": drawn(
        lambda seed, n: _hypercube(seed, n), 2000, lambda seed, n: _hypercube(seed - 1000, n, test=True)
    ),
    "diabetes": packaged(datasets.load_diabetes),
    "breast cancer": packaged(datasets.load_breast_cancer),
    "digits, odd": packaged(digits),
    "wq": kept("wq"),
    "jura": kept("jura"),
    "atp1d": kept("atp1d"),
    "oes97": kept("oes97"),
}


def _hypercube(seed, n, test=False):
    """Madelon's scheme: classes at corners of a cube in five columns, fifteen mixtures, eighty of noise."""
    X, y = datasets.make_classification(
        2000 + N_TEST,
        100,
        n_informative=5,
        n_redundant=15,
        n_clusters_per_class=16,
        flip_y=0.01,
        shuffle=False,
        random_state=seed,
    )
    order = np.random.default_rng(seed).permutation(len(y))
    rows = order[2000:] if test else order[:2000]
    return X[rows], y[rows]


def ours(n_pairs):
    def make(is_labels, seed):
        kind = FSAClassifier if is_labels else FSARegressor
        return kind(K, response="piecewise", n_pairs=n_pairs, random_state=seed)

    return make


def boosting_machine(interactions):
    def make(is_labels, seed):
        from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

        kind = ExplainableBoostingClassifier if is_labels else ExplainableBoostingRegressor
        options = {} if interactions is None else {"interactions": interactions}
        return kind(n_jobs=1, random_state=seed, **options)

    return make


def light_boosting(is_labels, seed):
    import lightgbm

    kind = lightgbm.LGBMClassifier if is_labels else lightgbm.LGBMRegressor
    return kind(n_jobs=1, random_state=seed, verbose=-1)


def histogram_boosting(is_labels, seed):
    kind = HistGradientBoostingClassifier if is_labels else HistGradientBoostingRegressor
    return kind(random_state=seed)


class Splines:
    """pygam, whose predictions of labels are probabilities under another name."""

    def __init__(self, is_labels):
        from pygam import LinearGAM, LogisticGAM

        self.model = (LogisticGAM if is_labels else LinearGAM)()

    def fit(self, X, y):
        self.model.fit(X, y)
        return self

    def predict(self, X):
        return self.model.predict(X)

    def predict_proba(self, X):
        p = self.model.predict_proba(X)
        return np.column_stack([1 - p, p])


METHODS = {
    "curves": (ours(0), "annealed"),
    "pairs": (ours(N_PAIRS), "annealed"),
    "ebm-main": (boosting_machine(0), "interpret"),
    "ebm": (boosting_machine(None), "interpret"),
    "lightgbm": (light_boosting, "lightgbm"),
    "histgb": (histogram_boosting, "sklearn"),
    "pygam": (lambda is_labels, seed: Splines(is_labels), "pygam"),
}
PACKAGES = {"interpret": "interpret-core", "sklearn": "scikit-learn"}


def calibration_error(y, p):
    """Return the mean gap between probability and frequency over bins of equal width, weighted by rows."""
    bins = np.minimum((p * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
    gaps = [abs(p[bins == b].sum() - y[bins == b].sum()) for b in range(CALIBRATION_BINS)]
    return sum(gaps) / len(y)


def measure(model, split):
    """Fit and judge; returns score, log loss, calibration error, features, seconds, microseconds a row."""
    X, y, X_test, y_test = split
    is_labels = len(np.unique(y)) == 2
    started = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - started
    started = time.process_time()
    predicted = model.predict_proba(X_test)[:, 1] if is_labels else model.predict(X_test)
    micros = 1e6 * (time.process_time() - started) / len(X_test)
    n_features = int(model.get_support().sum()) if hasattr(model, "get_support") else X.shape[1]
    if not is_labels:
        return r2_score(y_test, predicted), np.nan, np.nan, n_features, seconds, micros
    positive = (y_test == np.unique(y)[1]).astype(float)
    losses = log_loss(positive, predicted), calibration_error(positive, predicted)
    return roc_auc_score(positive, predicted), *losses, n_features, seconds, micros


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", default=list(TABLES), metavar="TABLE")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args(arguments)
    unknown = [name for name in arguments.tables if name not in TABLES]
    if unknown:
        parser.error(f"no table {unknown[0]!r}; there are {', '.join(TABLES)}")
    methods = []
    for name in arguments.methods:
        package = METHODS[name][1]
        if importlib.util.find_spec(package) is None:
            print(f"{name}: left out, {package} is not installed")
        else:
            methods.append(name)
    packages = sorted({METHODS[name][1] for name in methods} - {"annealed"})
    print(", ".join(f"{p} {version(PACKAGES.get(p, p))}" for p in packages))
    print("| table | method | R2 or AUC | log loss | calibration | features | fit, s | predict, us/row |")
    print("|---|---|---|---|---|---|---|---|")
    for table in arguments.tables:
        for name in methods:
            rows = []
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of peers, and of k above the columns
                for seed in range(arguments.seeds):
                    split = TABLES[table](seed)
                    is_labels = len(np.unique(split[1])) == 2
                    rows.append(measure(METHODS[name][0](is_labels, seed), split))
            _, loss, error, n_features, seconds, micros = np.median(rows, axis=0)
            mean = np.mean([row[0] for row in rows])
            losses = "| |" if np.isnan(loss) else f"| {loss:.3f} | {error:.3f} |"
            cost = f"{n_features:.0f} | {seconds:.3f} | {micros:.2f} |"
            print(f"| {table} | {name} | {mean:.4f} {losses} {cost}", flush=True)


if __name__ == "__main__":
    main()
